/** /metrics: what it counts, what it reads, what it never says, and that it answers whatever happens. */
import { request as send } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { listenForScrapes, watch } from '../../src/http/metrics.ts';
import type { Metrics, Snapshot } from '../../src/platform/metrics.ts';
import { createMetrics } from '../../src/platform/prometheus.ts';
import { openDb } from '../../src/store/postgres/open.ts';
import { startWorkers } from '../../src/workers/index.ts';
import { testApp, testClock, type TestApp } from '../support/app.ts';
import {
  aClient,
  aService,
  aUser,
  credentials,
  postForm,
  refresh,
  someTokens,
  type AClient,
} from '../support/fixtures.ts';
import { sample } from '../support/scrape.ts';

let at: TestApp;
let service: AClient;
beforeAll(async () => {
  // At noon: an hour later it is the same day, and nothing has become overdue.
  const clock = testClock(new Date(new Date().setUTCHours(12, 0, 0, 0)));
  at = await testApp({ clock, config: { TOKEN_RATE_LIMIT: 12 } });
  watch(at.deps);
  service = await aService(at);
});
afterAll(() => at.close());

const scrape = async (app: TestApp = at): Promise<string> => (await app.deps.metrics.text()).body;
const serve = (fields: Record<string, string> = {}) =>
  postForm(at, '/token', { grant_type: 'client_credentials', ...credentials(service), ...fields });

test('requests are counted by method, route and status, and timed; tokens by grant, refusals by error and check', async () => {
  const before = sample(await scrape());
  await serve();
  await serve({ client_secret: 'wrong' });
  const { client, tokens } = await someTokens(at);
  await refresh(at, client, tokens.refresh_token);
  await at.app.inject('/nothing/here');
  await at.app.inject('/livez');
  const now = sample(await scrape());
  const grown = (name: string, labels: Record<string, string> = {}) => now(name, labels)! - (before(name, labels) ?? 0);

  expect(grown('postern_http_requests_total', { method: 'POST', route: '/token', status: '200' })).toBe(3);
  expect(grown('postern_http_requests_total', { method: 'POST', route: '/token', status: '401' })).toBe(1);
  expect(grown('postern_http_requests_total', { method: 'GET', route: '/livez', status: '200' })).toBe(1);
  expect(grown('postern_http_requests_total', { method: 'GET', route: 'unknown', status: '404' })).toBe(1);
  expect(grown('postern_http_request_duration_seconds_count', { method: 'POST', route: '/token' })).toBe(4);
  expect(grown('postern_http_request_duration_seconds_bucket', { le: '+Inf', method: 'POST', route: '/token' })).toBe(
    4,
  );
  const seconds = grown('postern_http_request_duration_seconds_sum', { method: 'POST', route: '/token' });
  expect(seconds).toBeGreaterThan(0.001);
  expect(seconds).toBeLessThan(10);
  const grants = ['client_credentials', 'authorization_code', 'refresh_token'];
  expect(grants.map((grant_type) => grown('postern_tokens_issued_total', { grant_type }))).toEqual([1, 1, 1]);
  expect(grown('postern_refusals_total', { error: 'invalid_client' })).toBe(1);
  expect(grown('postern_refusals_total', { error: 'not_found' })).toBe(1);
  for (const check of ['client_secret', 'address']) expect(grown('postern_checks_failed_total', { check })).toBe(1);
});

test('POST /login is a grant here, a wrong password a refusal, and both have waited for their turn', async () => {
  const { username } = await aUser(at);
  const before = sample(await scrape());
  const login = (password: string) => at.app.inject({ method: 'POST', url: '/login', payload: { username, password } });
  expect((await login('correct horse battery staple')).statusCode).toBe(200);
  expect((await login('wrong')).statusCode).toBe(401);
  const now = sample(await scrape());
  expect(now('postern_tokens_issued_total', { grant_type: 'login' })).toBe(1);
  expect(now('postern_refusals_total', { error: 'invalid_credentials' })).toBe(1);
  expect(now('postern_password_wait_seconds_count')! - before('postern_password_wait_seconds_count')!).toBe(2);

  let finish = (): void => {};
  const held = Array.from({ length: 5 }, () =>
    at.deps.passwords.turn(() => new Promise<void>((resolve) => void (finish = chain(finish, resolve)))),
  );
  // A turn begins a moment after it was asked for.
  await vi.waitFor(async () => {
    const busy = sample(await scrape());
    expect([busy('postern_passwords_hashing'), busy('postern_passwords_waiting')]).toEqual([2, 3]);
  });
  while (at.deps.passwords.load.hashing > 0) {
    finish();
    await new Promise(setImmediate);
  }
  await Promise.all(held);
  const after = sample(await scrape());
  expect([after('postern_passwords_hashing'), after('postern_passwords_waiting')]).toEqual([0, 0]);
});

const chain =
  (...calls: Array<() => void>) =>
  (): void => {
    for (const call of calls) call();
  };

test('a volume limit that refuses is counted by route', async () => {
  const limited = { route: '/token' };
  expect(sample(await scrape())('postern_rate_limited_total', limited)).toBeUndefined();
  let refused = 0;
  while (refused < 3) if ((await serve()).statusCode === 429) refused += 1;
  const now = sample(await scrape());
  expect(now('postern_rate_limited_total', limited)).toBe(3);
  expect(now('postern_refusals_total', { error: 'too_many_requests' })).toBe(3);
});

test('the age of the active keys, the outbox and the lag of the sweeper are read, at most every ten seconds', async () => {
  at.clock.advance(3600);
  const before = sample(await scrape());
  for (const alg of ['RS256', 'ES256']) {
    expect(before('postern_key_age_seconds', { alg, use: 'sig' })).toBeGreaterThanOrEqual(3600);
  }
  expect(before('postern_logout_notices', { state: 'waiting' })).toBe(0);
  expect(before('postern_sweep_lag_seconds')).toBe(0);

  const client = await aClient(at);
  const [now, day] = [at.clock.now(), 86_400_000];
  const notice = (created_at: Date, dead_at: Date | null) => ({
    client_id: client.client_id,
    sub: 'somebody',
    sid: 'somewhere',
    attempts: 0,
    next_at: now,
    created_at,
    dead_at,
  });
  const [minute, hour] = [new Date(now.getTime() - 60_000), new Date(now.getTime() - 3_600_000)];
  const rows = [notice(minute, null), notice(now, null), notice(hour, now)];
  await at.deps.db.insertInto('logout_notices').values(rows).execute();
  const bucket = Math.floor(now.getTime() / day) - 3;
  await sql`insert into replays (expires_bucket, hash, expires_at) values (${bucket}, '\\x00', ${now})`.execute(
    at.deps.db,
  );
  expect((await scrape()).replaceAll(/^(?!postern_(logout|sweep)).*\n/gm, '')).toContain('{state="waiting"} 0');

  at.clock.advance(10);
  const after = sample(await scrape());
  expect(after('postern_logout_notices', { state: 'waiting' })).toBe(2);
  expect(after('postern_logout_notices', { state: 'dead' })).toBe(1);
  expect(after('postern_logout_notices_oldest_seconds')).toBe(70);
  const overdue = (at.clock.now().getTime() - (bucket + 1) * day) / 1000;
  expect(after('postern_sweep_lag_seconds')).toBe(Math.floor(overdue));
  expect(after('postern_database_up')).toBe(1);
  expect(after('postern_db_pool_connections', { state: 'idle' })).toBeGreaterThan(0);
});

test('of several processes what was counted is added up, what they all speak of is said once, and who ends is not forgotten', async () => {
  const [primary, one, other] = [createMetrics(), createMetrics({ process: true }), createMetrics()];
  const pool = () => ({ total: 2, idle: 1, waiting: 0 });
  const passwords = () => ({ hashing: 1, waiting: 0 });
  const keys = (seconds: number) => () => [{ alg: 'RS256', use: 'sig', seconds }];
  const backlog = async () => ({
    logout_waiting: 3,
    logout_oldest: 40,
    logout_dead: 0,
    sweep_lag: 5,
    mail_waiting: 0,
    mail_oldest: 0,
    mail_dead: 0,
  });
  primary.watch({ pool, passwords, keys: keys(100), backlog });
  for (const child of [one, other]) child.watch({ pool, passwords, keys: keys(99) });
  const children = new Set([one, other]);
  // As it comes through the line between processes.
  const sent = async ({ snapshot }: Metrics) => JSON.parse(JSON.stringify(await snapshot())) as Snapshot;
  primary.join(() => Promise.all([...children].map(sent)));

  for (const child of [one, one, other]) child.answered('POST', '/token', 200, 0.02);
  primary.worked('sweep-expired', new Date(5000));
  one.worked('keep-refusals', new Date(7000));
  other.worked('keep-refusals', new Date(6000));
  const token = { method: 'POST', route: '/token' };
  const now = sample(await textOf(primary));
  expect(now('postern_http_requests_total', { ...token, status: '200' })).toBe(3);
  expect(now('postern_http_request_duration_seconds_bucket', { ...token, le: '0.025' })).toBe(3);
  expect(now('postern_http_request_duration_seconds_sum', token)).toBeCloseTo(0.06);
  expect([now('postern_db_pool_connections', { state: 'idle' }), now('postern_passwords_hashing')]).toEqual([3, 3]);
  expect(now('postern_key_age_seconds', { alg: 'RS256', use: 'sig' })).toBe(100);
  expect([now('postern_database_up'), now('postern_sweep_lag_seconds')]).toEqual([1, 5]);
  expect(now('postern_logout_notices', { state: 'waiting' })).toBe(3);
  const last = 'postern_worker_last_success_timestamp_seconds';
  expect([now(last, { worker: 'sweep-expired' }), now(last, { worker: 'keep-refusals' })]).toEqual([5, 7]);
  const text = await textOf(primary);
  expect(text).not.toMatch(/ (?:null|NaN|undefined)$/m);

  for (const child of [one, other]) {
    primary.inherit(await sent(child));
    children.delete(child);
  }
  const later = sample(await textOf(primary));
  expect(later('postern_http_requests_total', { ...token, status: '200' })).toBe(3);
  expect(later('postern_http_request_duration_seconds_count', token)).toBe(3);
  expect([later('postern_passwords_hashing'), later('postern_database_up')]).toEqual([1, 1]);
});

const textOf = async (metrics: Metrics): Promise<string> => (await metrics.text()).body;

test('turns of the workers are counted, and when one last succeeded is said', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let turns = 0;
  const run = async (): Promise<void> => {
    if ((turns += 1) === 2) throw new Error('a bad day');
  };
  const { stop } = startWorkers(at.deps, { brave: { where: 'each', every: 1, run } });
  await vi.advanceTimersByTimeAsync(1000);
  const succeeded_at = at.clock.now().getTime() / 1000;
  at.clock.advance(30);
  await vi.advanceTimersByTimeAsync(1000);
  vi.useRealTimers();
  await stop();
  const now = sample(await scrape());
  expect(now('postern_worker_runs_total', { worker: 'brave', outcome: 'success' })).toBe(1);
  expect(now('postern_worker_runs_total', { worker: 'brave', outcome: 'failure' })).toBe(1);
  expect(now('postern_worker_last_success_timestamp_seconds', { worker: 'brave' })).toBe(succeeded_at);
});

test('ASVS 16.2.5: nothing that was sent becomes a label: no id, name, address, secret, or method of anybody’s', async () => {
  const marker = 'marker7f3a';
  const headers = { 'x-request-id': `${marker}-id`, 'user-agent': marker, authorization: `Bearer ${marker}` };
  for (const method of ['GET', 'POST', 'PUT', 'OPTIONS'] as const) {
    for (const path of [
      `/${marker}`,
      `/authorize?code=${marker}`,
      `/token?${marker}`,
      `/interaction/${marker}/login`,
      `/admin/v1/clients/${marker}`,
    ]) {
      await at.app.inject({ method, url: path, headers, remoteAddress: '203.0.113.77' });
    }
  }
  const body = { username: marker, password: marker, client_id: marker, client_secret: marker, grant_type: marker };
  await postForm(at, '/token', body);
  await postForm(at, '/introspect', { ...body, token: marker });
  await at.app.inject({ method: 'POST', url: '/login', payload: body });
  const text = await scrape();
  for (const sent of [marker, service.client_id, service.client_secret, '203.0.113.77'])
    expect(text).not.toContain(sent);
  // RFC 9457 problems are refusals, too.
  expect(sample(text)('postern_refusals_total', { error: 'unauthorized' })).toBeGreaterThan(0);
  const routes = [...text.matchAll(/^postern_http_requests_total\{.*route="([^"]*)"/gm)].map(([, route]) => route);
  expect(new Set(routes)).toContain('/interaction/:id/login');
});

test('/metrics is on its own listener only, GET and HEAD, and nothing else is there', async () => {
  for (const method of ['GET', 'HEAD', 'POST'] as const) {
    expect((await at.app.inject({ method, url: '/metrics' })).statusCode).toBe(404);
  }
  const listener = await listenForScrapes(at.deps, { host: '127.0.0.1', port: 0 });
  const ask = (method: string, path: string) =>
    new Promise<{ status: number | undefined; type: string | undefined; body: string }>((resolve, reject) => {
      const asking = send({ host: '127.0.0.1', port: listener.port, method, path, agent: false }, (answer) => {
        let body = '';
        answer.setEncoding('utf8').on('data', (text: string) => (body += text));
        answer.on('end', () => resolve({ status: answer.statusCode, type: answer.headers['content-type'], body }));
      });
      asking.on('error', reject).end();
    });
  const scraped = await ask('GET', '/metrics?anything');
  expect(scraped).toMatchObject({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8' });
  expect(scraped.body).toMatch(/^# TYPE postern_http_requests_total counter$/m);
  expect(await ask('HEAD', '/metrics')).toMatchObject({ status: 200, body: '' });
  expect((await ask('POST', '/metrics')).status).toBe(405);
  for (const path of ['/', '/token', '/metrics/', '//metrics', '/livez']) {
    expect((await ask('GET', path)).status, path).toBe(404);
  }

  await expect(listenForScrapes(at.deps, { host: '127.0.0.1', port: listener.port })).rejects.toThrow(
    /^the address for metrics, 127\.0\.0\.1:\d+, is in use: set METRICS_HOST and METRICS_PORT, or METRICS_PORT=0$/,
  );
  await expect(listenForScrapes(at.deps, { host: '192.0.2.1', port: 0 })).rejects.toThrow(/EADDRNOTAVAIL/);
  await listener.close();
  await expect(ask('GET', '/metrics')).rejects.toThrow(/ECONNREFUSED/);
});

test('with a database that hangs, /metrics answers after a second, and however many scrape, one statement waits', async () => {
  const sockets: Socket[] = [];
  const hanging = createServer((socket) => void sockets.push(socket.on('error', () => {})));
  await new Promise<void>((resolve) => void hanging.listen(0, '127.0.0.1', resolve));
  const { port } = hanging.address() as AddressInfo;
  const db = openDb({ connectionString: `postgres://nobody@127.0.0.1:${port}/nothing` }, { max: 5 });
  const away = await testApp({ clock: at.clock, database: { ...at.database, db: at.deps.db } });
  watch({ ...away.deps, db });
  const begun = performance.now();
  const texts = await Promise.all(Array.from({ length: 20 }, () => scrape(away)));
  expect(performance.now() - begun).toBeLessThan(2500);
  expect(sockets.length).toBe(1);
  for (const text of texts) {
    const now = sample(text);
    expect([now('postern_database_up'), now('postern_sweep_lag_seconds')]).toEqual([0, undefined]);
    expect(now('postern_logout_notices', { state: 'waiting' })).toBeUndefined();
    expect(now('postern_key_age_seconds', { alg: 'RS256', use: 'sig' })).toBeGreaterThanOrEqual(0);
  }
  for (const socket of sockets) socket.destroy();
  hanging.close();
  await db.destroy();
  await away.close();
});

test('without its database /metrics says so, and forgets what it read before', async () => {
  const closing = await testApp();
  watch(closing.deps);
  expect(sample(await scrape(closing))('postern_sweep_lag_seconds')).toBe(0);
  await closing.deps.db.destroy();
  closing.clock.advance(10);
  const now = sample(await scrape(closing));
  expect([now('postern_database_up'), now('postern_sweep_lag_seconds')]).toEqual([0, undefined]);
  expect(now('postern_logout_notices_oldest_seconds')).toBeUndefined();
  await closing.close();
});
