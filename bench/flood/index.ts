/**
 * `npm run bench -- --flood`: does a flood of wrong passwords hold up tokens? client_credentials at half the rate that it
 * reaches alone, with and without 500 wrong logins a second beside it, in turns.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { transact } from '../../src/store/postgres/db.ts';
import { insertAccount } from '../../src/users/accounts.ts';
import { startCluster, type Database } from '../database.ts';
import { loadTool } from '../load/index.ts';
import type { Options } from '../options.ts';
import { aboutRun } from '../report/about.ts';
import { FORM, form, type Shot } from '../scenario.ts';
import { isSignedBy } from '../scenarios/checks.ts';
import { startPostern } from '../servers/postern.ts';
import type { Server } from '../servers/process.ts';
import { BY, depsFor, machineRequest, people, send, type Client } from '../world.ts';
import { asMarkdown, type FloodReport, type FloodRound } from './report.ts';
import type { Stream, Streamed } from './sender-main.ts';

const LOGINS = 500;
/** Accounts that are guessed at: enough that the throttle of one account does not stop the flood early. */
const ACCOUNTS = 500;
const WARM_UP_S = 5;
/** Milliseconds, from issue to answer. */
const MOST_P95 = 150;

/** Half at names that nobody has, half at people's accounts; each from a network of its own. */
const wrongLogins = (count: number): Shot[] =>
  Array.from({ length: count }, (_, n) => ({
    method: 'POST',
    path: '/login',
    headers: {
      ...FORM,
      accept: 'application/json',
      'x-forwarded-for': `10.${(n >> 8) & 255}.${n & 255}.1`,
    },
    body: form({ username: n % 2 === 0 ? `nobody${n}` : `person${n % (2 * ACCOUNTS)}`, password: `wrong ${n}` }),
  }));

async function sender(stream: Stream): Promise<Streamed> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'sender-main.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(stream));
  return JSON.parse(await text(child.stdout)) as Streamed;
}

async function peopleWithAccounts(database: Database): Promise<Client> {
  const { machine, phc } = await people(database);
  const deps = depsFor(database.db);
  for (let n = 1; n < 2 * ACCOUNTS; n += 2) {
    await transact(deps.db, (trx) => insertAccount(trx, deps, { username: `person${n}` }, phc, BY, new Date()));
  }
  return machine;
}

async function hold(server: Server, shot: Shot, options: Options, say: (line: string) => void) {
  const { connections, seconds, rounds } = options;
  const { origin } = server;
  isSignedBy(JSON.stringify(await send(origin, shot)), 'access_token', 'ES256');
  const { name: tool, fire } = loadTool(options.tool);
  const amount = { connections, seconds, values: 0 };
  await fire(origin, { shot }, { ...amount, seconds: WARM_UP_S });
  const alone = await fire(origin, { shot }, amount);
  const most = alone.requests / alone.seconds;
  say(`client_credentials alone: ${most.toFixed(0)}/s`);
  const each = LOGINS * (WARM_UP_S + seconds);
  const logins = wrongLogins(each * rounds);
  const made: FloodRound[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const flooded of round % 2 === 0 ? [false, true] : [true, false]) {
      const common = { origin, seconds, warm_up: WARM_UP_S };
      const tokens = sender({ ...common, shots: [shot], rate: most / 2, connections });
      const flood = flooded
        ? sender({
            ...common,
            shots: logins.slice(round * each, (round + 1) * each),
            rate: LOGINS,
            connections: LOGINS,
          })
        : undefined;
      const result = { flooded, tokens: await tokens, logins: await flood, rss: (await server.usage()).rss };
      say(`  ${flooded ? 'flooded' : 'calm'}: p95 ${result.tokens.p95.toFixed(1)} ms`);
      made.push(result);
    }
  }
  return { tool, most, rounds: made, max_rss: (await server.usage()).max_rss };
}

/** Runs it, writes the table and the figures, and ends with status 1 when tokens had to wait or were refused. */
export async function benchFlood(options: Options, say: (line: string) => void): Promise<void> {
  const cluster = await startCluster();
  let server: Server | undefined;
  try {
    const database = await cluster.create('flood');
    const machine = await peopleWithAccounts(database);
    const load = loadavg()[0]!;
    // As in production: volume limits are on, and a proxy says who asks.
    const settings = { TRUST_PROXY: '127.0.0.1,::1', LOGIN_RATE_LIMIT: '60' };
    server = await startPostern(database, 'warn', { ...settings, ...options.set });
    const held = await hold(server, machineRequest(machine, 'es256'), options, say);
    const report: FloodReport = {
      about: {
        ...aboutRun(),
        load: [load, loadavg()[0]!],
        postgres: cluster.version,
        tool: held.tool,
        seconds: options.seconds,
        warm_up: WARM_UP_S,
        logins: LOGINS,
        most_p95: MOST_P95,
        max_rss: held.max_rss,
      },
      most: held.most,
      rounds: held.rounds,
    };
    mkdirSync(options.output, { recursive: true });
    const { table, kept } = asMarkdown(report);
    writeFileSync(join(options.output, 'flood.md'), table);
    writeFileSync(join(options.output, 'flood.json'), `${JSON.stringify(report, null, 2)}\n`);
    process.stdout.write(`\n${table}`);
    if (!kept) process.exitCode = 1;
  } finally {
    await server?.stop();
    await cluster.stop();
  }
}
