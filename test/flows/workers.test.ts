/** Several processes on one port: who answers, what is counted, and that nobody notices when they come and go. */
import { connect } from 'node:net';
import { fetch, Pool, type Dispatcher } from 'undici';
import { beforeAll, expect, test } from 'vitest';
import { deploy, stopServersAfterwards, type Deployment } from '../support/deployment.ts';
import { aService, type AClient } from '../support/fixtures.ts';
import { until } from '../support/postgres-process.ts';
import { descendants, isRunning } from '../support/processes.ts';
import { sample } from '../support/scrape.ts';
import { freePort, pause, runServer, type Server } from '../support/server.ts';

let deployment: Deployment;
let server: Server;
let service: AClient;
let metricsPort: number;
stopServersAfterwards();
beforeAll(async () => {
  metricsPort = await freePort();
  deployment = await deploy({
    env: { WORKERS: '2', METRICS_PORT: String(metricsPort) },
    async prepare(test) {
      service = await aService(test);
      await test.deps.db.deleteFrom('signing_keys').execute();
    },
  });
  server = deployment.servers[0]!;
});

interface Line {
  pid: number;
  msg: string;
  [member: string]: unknown;
}

const lines = ({ output }: Server): Line[] =>
  output()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));
/** The processes that answered from a line of the log on. */
const answering = (from = 0): Set<number> =>
  new Set(
    lines(server)
      .slice(from)
      .filter(({ msg }) => msg === 'request')
      .map(({ pid }) => pid),
  );

const tokenRequest = (): Dispatcher.RequestOptions => {
  const { client_id, client_secret } = service;
  return {
    method: 'POST',
    path: '/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }).toString(),
  };
};

/** Asks, each time on a new connection, until `enough` of the processes have answered. */
async function askUntil(enough: (by: Set<number>) => boolean): Promise<void> {
  const from = lines(server).length;
  for (let asked = 0; !enough(answering(from)); asked += 1) {
    if (asked > 200) throw new Error('not answered by as many');
    await (await fetch(`${server.issuer}/jwks`, { headers: { connection: 'close' } })).text();
  }
}

async function scrape(): Promise<ReturnType<typeof sample>> {
  return sample(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());
}
const TOKENS = { method: 'POST', route: '/token', status: '200' };

test('WORKERS processes answer on one port, the primary none; the first keys are made once', async () => {
  await askUntil((by) => by.size === 2);
  expect(answering()).not.toContain(server.pid);
  expect(answering()).toEqual(new Set(descendants(server.pid)));
  const keys = await deployment.test.deps.db.selectFrom('signing_keys').select('alg').execute();
  expect(new Set(keys.map(({ alg }) => alg)).size).toBe(keys.length);
});

test(
  'a restart by SIGHUP under load answers every request on connections that are kept, and counters go on',
  { timeout: 60_000 },
  async () => {
    const before = new Set(descendants(server.pid));
    const pool = new Pool(server.issuer, { connections: 4 });
    const answers: number[] = [];
    const failures: string[] = [];
    const enough = new AbortController();
    const load = Array.from({ length: 4 }, async () => {
      while (!enough.signal.aborted) {
        await pool.request(tokenRequest()).then(
          async ({ statusCode, body }) => {
            await body.dump();
            answers.push(statusCode);
          },
          (error: unknown) => failures.push(String(error)),
        );
        // The processes that start want a processor, too.
        await pause(5);
      }
    });
    // A probe of a load balancer: the server is ready all the time.
    const ready: number[] = [];
    const probes = (async () => {
      while (!enough.signal.aborted) {
        const answer = await fetch(`${server.issuer}/readyz`, { headers: { connection: 'close' } });
        await answer.text();
        ready.push(answer.status);
        await pause(20);
      }
    })();
    await until('the load runs', () => answers.length > 50);
    const first = await scrape();
    process.kill(server.pid, 'SIGHUP');
    const restarted = (): boolean => server.output().includes('the processes were restarted');
    await until('they are restarted', restarted, 50_000).finally(() => enough.abort());
    await Promise.all([...load, probes]);
    await pool.destroy();
    expect(failures).toEqual([]);
    expect(new Set(answers)).toEqual(new Set([200]));
    expect(new Set(ready)).toEqual(new Set([200]));
    const after = descendants(server.pid);
    expect([after.length, after.filter((pid) => before.has(pid))]).toEqual([2, []]);
    await askUntil((by) => after.every((pid) => by.has(pid)));

    expect(first('postern_http_requests_total', TOKENS)).toBeGreaterThan(0);
    const now = await scrape();
    expect(now('postern_http_requests_total', TOKENS)).toBe(answers.length);
    expect(now('postern_http_request_duration_seconds_count', { method: 'POST', route: '/token' })).toBe(
      answers.length,
    );
    // What all of them speak of is said once, what is theirs is added up.
    expect(now('postern_database_up')).toBe(1);
    const [key] = await deployment.test.deps.db.selectFrom('signing_keys').select('activates_at').execute();
    const age = (deployment.test.deps.clock().getTime() - key!.activates_at.getTime()) / 1000;
    expect(now('postern_key_age_seconds', { alg: 'RS256', use: 'sig' })).toBeLessThan(age + 60);
    expect(now('postern_worker_last_success_timestamp_seconds', { worker: 'keep-refusals' })).toBeLessThan(4e9);
    expect(now('postern_worker_runs_total', { worker: 'backchannel-logout', outcome: 'success' })).toBeGreaterThan(0);
  },
);

/** A connection of its own with a request on it; settles when it is closed, however. */
const aConnection = (): Promise<void> => {
  const socket = connect(Number(new URL(server.issuer).port), '127.0.0.1');
  socket.resume().write('GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  return new Promise((resolve) => void socket.on('error', () => {}).once('close', () => resolve()));
};

test('a process that dies is replaced at once, said in the log, and what was on its way to it is closed', async () => {
  const [victim, other] = descendants(server.pid);
  // It takes nothing any more: one connection stays on its way to it, and the other process answers the rest.
  process.kill(victim!, 'SIGSTOP');
  let closed = 0;
  const all = Array.from({ length: 8 }, () => aConnection().then(() => (closed += 1)));
  await until('all but one are answered', () => closed === 7);
  await aConnection();
  expect(closed).toBe(7);
  process.kill(victim!, 'SIGKILL');
  await Promise.all(all);
  await until(
    'there are two again',
    () => {
      const now = descendants(server.pid);
      return now.length === 2 && !now.includes(victim!);
    },
    20_000,
  );
  const fresh = descendants(server.pid).find((pid) => pid !== other)!;
  await askUntil((by) => by.has(fresh));
  expect(lines(server)).toContainEqual(
    expect.objectContaining({ level: 50, pid: server.pid, ended: victim, how: 'SIGKILL' }),
  );
});

test('a port in use is one line and exit code 1, not a loop', async () => {
  const env = { ...deployment.env, METRICS_PORT: '0' };
  const { code, output } = await runServer({ port: Number(new URL(server.issuer).port), env });
  expect([code, output]).toEqual([1, expect.stringMatching(/^error: port \d+ is in use: .*\n$/)]);
});

test('SIGTERM to the primary ends all of them, with 0', async () => {
  const all = descendants(server.pid);
  expect(all).toHaveLength(2);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  expect(all.filter(isRunning)).toEqual([]);
  expect(lines(server).filter(({ level }) => Number(level) > 30)).toHaveLength(1);
});
