/** Rounds: who is measured against whom, in turns, so that what the machine does meanwhile befalls all of them alike. */
import { join } from 'node:path';
import { fetch } from 'undici';
import { errorsOf, type Fire, type Fired } from './load/index.ts';
import { filled, type Amount, type Load, type Scenario, type Shot } from './scenario.ts';
import type { Server } from './servers/process.ts';
import { median } from './statistics.ts';

/** Somebody who is measured: a server, and what to send it. */
export interface Contestant {
  name: string;
  server: Server;
  load(amount: Amount): Promise<Load>;
}

/** One round of one contestant. */
interface Round extends Fired {
  rate: number;
  /** Microseconds of CPU that the server took for a request, all threads. */
  cpu: number;
  statements: number;
  rss: number;
}

/** The medians of a contestant's rounds; errors are summed. */
export interface Result {
  name: string;
  rate: number;
  p50: number;
  p95: number;
  p99: number;
  errors: number;
  cpu: number;
  statements: number;
  /** Bytes: the highest of the process so far. */
  max_rss: number;
  rounds: Round[];
}

/** How the rounds are held. */
export interface Plan {
  rounds: number;
  seconds: number;
  connections: number;
  fire: Fire;
  /** Folder for CPU profiles; none are made without. */
  profiles?: string | undefined;
}

const WARM_UP_S = 1;
/** For the warm-up, before any rate is known. */
const FIRST_GUESS = 6000;
/** Values made for a round: so many times what was used before, and enough for this many a second. */
const MARGIN = 2;
const LEAST = 4000;

const valuesFor = (rate: number, seconds: number): number => Math.ceil(Math.max(rate * MARGIN, LEAST) * seconds);

/** Measures all contestants of a scenario. @throws when a sample request is not answered as it should be */
export async function hold(name: string, scenario: Scenario, contestants: Contestant[], plan: Plan): Promise<Result[]> {
  const { connections, seconds, fire } = plan;
  const measured = contestants.map((contestant) => ({ contestant, best: FIRST_GUESS, rounds: [] as Round[] }));
  for (const one of measured) {
    const warmUp = { connections, seconds: WARM_UP_S, values: FIRST_GUESS * WARM_UP_S };
    const load = await one.contestant.load(warmUp);
    await trySample(scenario, one.contestant, load);
    one.best = (await fire(one.contestant.server.origin, load, warmUp)).requests / WARM_UP_S;
  }
  for (let round = 0; round < plan.rounds; round += 1) {
    // Each goes first now and then.
    for (let turn = 0; turn < measured.length; turn += 1) {
      const one = measured[(round + turn) % measured.length]!;
      const amount = { connections, seconds, values: valuesFor(one.best, seconds) };
      const load = await one.contestant.load(amount);
      const made = await measure(one.contestant, load, amount, fire);
      one.rounds.push(made);
      one.best = Math.max(one.best, made.rate);
    }
  }
  if (plan.profiles !== undefined) {
    const { contestant, best } = measured[0]!;
    const amount = { connections, seconds, values: valuesFor(best, seconds) };
    const load = await contestant.load(amount);
    const file = join(plan.profiles, `${name}.cpuprofile`);
    await contestant.server.profile(file, () => fire(contestant.server.origin, load, amount));
  }
  return Promise.all(measured.map(({ contestant, rounds }) => resultOf(contestant, rounds)));
}

async function measure({ server }: Contestant, load: Load, amount: Amount, fire: Fire): Promise<Round> {
  const before = await server.usage();
  const fired = await fire(server.origin, load, amount);
  const after = await server.usage();
  const each = (total: number): number => total / Math.max(1, fired.requests);
  return {
    ...fired,
    rate: fired.requests / fired.seconds,
    cpu: each(after.cpu - before.cpu),
    statements: each(after.statements - before.statements),
    rss: after.rss,
  };
}

async function resultOf({ name, server }: Contestant, rounds: Round[]): Promise<Result> {
  const middle = (of: (round: Round) => number): number => median(rounds.map(of));
  return {
    name,
    rate: middle((round) => round.rate),
    p50: middle((round) => round.p50),
    p95: middle((round) => round.p95),
    p99: middle((round) => round.p99),
    errors: rounds.reduce((sum, round) => sum + errorsOf(round), 0),
    cpu: middle((round) => round.cpu),
    statements: middle((round) => round.statements),
    max_rss: (await server.usage()).max_rss,
    rounds,
  };
}

/** Sends the first request, and the ones that follow from it, and looks at the last answer. It uses one value up. */
async function trySample({ check }: Scenario, { name, server }: Contestant, load: Load): Promise<void> {
  if (name === 'ceiling') return;
  let shot: Shot = filled(load.shot, load.values?.at(-1) ?? '');
  if (Array.isArray(load.values)) load.values.pop();
  for (let hop = 0; hop < 2; hop += 1) {
    const { method, path, headers, body } = shot;
    const answer = await fetch(server.origin + path, {
      method,
      headers: { ...headers },
      redirect: 'manual',
      ...(body !== undefined && { body }),
    });
    const text = await answer.text();
    const location = answer.headers.get('location');
    if (answer.status === 200) return check?.(text);
    const step = load.follow?.find((follow) => follow.in === 'location' && location?.includes(follow.after));
    if (location === null || !step)
      throw new Error(`${name} answered ${answer.status}: ${location ?? text.slice(0, 400)}`);
    const begin = location.indexOf(step.after) + step.after.length;
    const end = location.indexOf(step.until, begin);
    shot = filled(step.next, location.slice(begin, end < 0 ? undefined : end));
  }
  throw new Error(`${name} sends us from one place to the next`);
}
