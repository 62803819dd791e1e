/**
 * The processes that answer requests, as the primary sees them: started together, replaced when one dies, and exchanged
 * one after the other on SIGHUP. The primary has the port and deals connections out; it answers none.
 */
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Failure } from '../cli/failure.ts';
import type { Config } from '../config.ts';
import type { Deps } from '../deps.ts';
import type { Snapshot } from '../platform/metrics.ts';
import { asReport, type Order, type Report, type Start } from './line.ts';
import { watchTransit } from './transit.ts';

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));
/** Milliseconds that a process may take beyond those it allows itself. */
const GRACE_MS = 1000;
/** Milliseconds without trouble after which the next process that dies is replaced at once. */
const CALM_MS = 60_000;
const LONGEST_PAUSE_MS = 30_000;
/** Milliseconds that a process has to say what it counted; else what it said last counts. */
const COUNT_MS = 1000;

/** Those who answer requests. */
export interface Crew {
  /** Has them start; settles when all listen. @throws Failure of the first that cannot */
  begin(start: Start): Promise<void>;
  /** Exchanges them for new ones, each only when its successor listens; nobody is refused meanwhile. */
  restart(): Promise<void>;
  /** What each of them counted. */
  counts(): Promise<Snapshot[]>;
  /** Lets them finish what is under way; who has not begun ends at once. False when one of them did not finish. */
  close(): Promise<boolean>;
}

interface Member {
  worker: Worker;
  state: 'born' | 'here' | 'starting' | 'listening' | 'leaving';
  listening: PromiseWithResolvers<void>;
  ended: PromiseWithResolvers<{ well: boolean }>;
  counted: Snapshot;
  /** Told when it has counted. */
  onCounted: () => void;
  /** Closes what was dealt to it and did not arrive. */
  closeTransit: () => void;
}

/** Starts the processes; they load what they need and wait for `begin`. `drain_ms` is what each allows itself to end. */
export function createCrew(
  { mode, WORKERS }: Pick<Config, 'mode' | 'WORKERS'>,
  { log, metrics }: Pick<Deps, 'log' | 'metrics'>,
  drain_ms: number,
): Crew {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: CHILD, args: [mode] });
  const members = new Set<Member>();
  let start: Start | undefined;
  let closes = false;
  const closing = (): boolean => closes;
  let trouble = { at: 0, count: 0 };
  let restarting = false;
  /** Asked for while another was under way, which may have read what is old by now. */
  let again = false;

  const tell = ({ worker }: Member, order: Order): void => {
    // Whoever does not hear it any more is about to exit, and that is heard.
    if (worker.isConnected()) worker.send(order, () => {});
  };
  const kill = ({ worker }: Member): void => void worker.process.kill('SIGKILL');
  const begin = (member: Member): void => {
    if (member.state !== 'here' || !start) return;
    member.state = 'starting';
    tell(member, { postern: 'start', start });
  };

  const hear: { [Said in Report['postern']]: (member: Member, report: Extract<Report, { postern: Said }>) => void } = {
    here(member) {
      if (member.state !== 'born') return;
      member.state = 'here';
      begin(member);
    },
    listening(member) {
      if (member.state === 'starting') member.state = 'listening';
      member.listening.resolve();
    },
    failed: (member, { error, problems }) => member.listening.reject(new Failure(error, ...problems)),
    counted(member, { snapshot }) {
      member.counted = snapshot;
      counted(member);
    },
    done(member, { snapshot }) {
      member.counted = snapshot;
      tell(member, { postern: 'leave' });
    },
  };

  function counted(member: Member): void {
    const { onCounted } = member;
    member.onCounted = () => {};
    onCounted();
  }

  function hire(): Member {
    // What was compiled is kept where main.ts keeps it.
    const cache = getCompileCacheDir();
    const worker = cluster.fork(cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) });
    const [listening, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<{ well: boolean }>()];
    const own = { onCounted: () => {}, closeTransit: watchTransit(worker) };
    const member: Member = { worker, state: 'born', listening, ended, counted: [], ...own };
    // It may fail before anybody waits for it.
    listening.promise.catch(() => {});
    members.add(member);
    worker.on('message', (message: unknown) => {
      const report = asReport(message);
      if (report) (hear[report.postern] as (member: Member, report: Report) => void)(member, report);
    });
    worker.once('error', (error) => gone(member, error.message, false));
    worker.once('exit', (code: number | null, signal: string | null) =>
      gone(member, signal ?? `exit code ${code}`, code === 0),
    );
    return member;
  }

  function gone(member: Member, how: string, well: boolean): void {
    if (!members.delete(member)) return;
    member.closeTransit();
    metrics.inherit(member.counted);
    counted(member);
    member.listening.reject(new Failure('failed', `a process ended while it started (${how})`));
    member.ended.resolve({ well });
    if (member.state !== 'listening' || closing()) return;
    log.error({ ended: member.worker.process.pid, how }, 'a process ended unexpectedly; another takes its place');
    void replace();
  }

  /** Milliseconds to wait before the next try: none in calm times, then 1000, 2000, 4000 … */
  function pauseFor(): number {
    const at = performance.now();
    const count = at - trouble.at > CALM_MS ? 0 : trouble.count;
    trouble = { at, count: count + 1 };
    return count === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, 1000 * 2 ** (count - 1));
  }

  /** Goes on trying: what keeps a process from starting now, such as a database that is away, did not before. */
  async function replace(): Promise<void> {
    while (!closing()) {
      await sleep(pauseFor(), undefined, { ref: false });
      if (closing()) return;
      try {
        return await hire().listening.promise;
      } catch (error) {
        if (!closing()) log.error({ err: error }, 'a process could not start; it is tried again');
      }
    }
  }

  async function dismiss(member: Member, postern: 'retire' | 'stop'): Promise<boolean> {
    const idle = member.state !== 'listening' && member.state !== 'leaving';
    if (idle) kill(member);
    else tell(member, { postern });
    member.state = 'leaving';
    const late = setTimeout(() => kill(member), drain_ms + GRACE_MS);
    const { well } = await member.ended.promise;
    clearTimeout(late);
    return idle || well;
  }

  async function exchange(): Promise<void> {
    for (const old of [...members].filter(({ state }) => state === 'listening')) {
      if (closing()) return;
      // It died, and has been replaced by what is on the disk now.
      if (!members.has(old)) continue;
      try {
        await hire().listening.promise;
      } catch (error) {
        if (!closing())
          log.error({ err: error }, 'the restart has ended early: a new process could not start, those there go on');
        return;
      }
      if (!(await dismiss(old, 'retire'))) log.warn('a process did not finish in time what was under way');
    }
    log.info({ processes: members.size }, 'the processes were restarted');
  }

  async function count(member: Member): Promise<Snapshot> {
    const answer = Promise.withResolvers<void>();
    const { onCounted } = member;
    // Two may ask at once, and the first answer is good for both.
    member.onCounted = () => {
      onCounted();
      answer.resolve();
    };
    tell(member, { postern: 'count' });
    await Promise.race([answer.promise, sleep(COUNT_MS, undefined, { ref: false })]);
    return member.counted;
  }

  for (let hired = 0; hired < WORKERS; hired += 1) hire();
  return {
    async begin(given) {
      start = given;
      const all = [...members];
      for (const member of all) begin(member);
      // One that is gone already is in none of these.
      if (all.length < WORKERS) throw new Failure('failed', 'a process ended while it started');
      await Promise.all(all.map((member) => member.listening.promise));
    },
    async restart() {
      again = true;
      if (restarting) return;
      restarting = true;
      while (again && !closing()) {
        again = false;
        log.info('restarting the processes, one after the other');
        await exchange();
      }
      restarting = false;
    },
    counts: () =>
      Promise.all([...members].filter(({ state }) => state === 'listening' || state === 'leaving').map(count)),
    async close() {
      closes = true;
      const ends = await Promise.all([...members].map((member) => dismiss(member, 'stop')));
      return ends.every(Boolean);
    },
  };
}
