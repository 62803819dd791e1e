/** The sweeper: only what is past its retention goes, in small batches, and no replay is forgotten while its grant can live. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { configWith } from '../../src/config.ts';
import { bucketOf } from '../../src/protocol/handle.ts';
import { sweep } from '../../src/store/postgres/sweep.ts';
import { startWorkers } from '../../src/workers/index.ts';
import { sweepExpired } from '../../src/workers/sweep-expired.ts';
import type { Worker } from '../../src/workers/worker.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  aUser,
  anAuthorizationCode,
  introspect,
  redeem,
  refresh,
  signIn,
  someTokens,
} from '../support/fixtures.ts';
import type { Tokens } from '../support/fixtures.ts';
import { expectErrorPage, open } from '../support/pages.ts';

const DAY = 86_400;
const tables = [
  'interactions',
  'sessions',
  'access_tokens',
  'authorization_codes',
  'refresh_tokens',
  'grants',
] as const;
let at: TestApp;
beforeAll(async () => {
  at = await testApp();
});
afterAll(() => at.close());

const run = (): Promise<void> => sweepExpired(at.deps).run();
async function counts(): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const table of [...tables, 'revoked_tokens', 'replays', 'failures'] as const) {
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from ${sql.table(table)}`.execute(at.deps.db);
    found[table] = rows[0]!.n;
  }
  return found;
}

/** Rows of interactions that expired `days` ago. */
const fill = (rows: number, days: number) =>
  sql`
  insert into interactions (expires_bucket, hash, client_id, request, created_at, expires_at)
  select ${bucketOf(at.clock.now()) - days}::int, sha256(convert_to('row ' || ${days} || ' ' || n, 'UTF8')), 'x', '{}',
    ${at.clock.now()}::timestamptz, ${at.clock.now()}::timestamptz
  from generate_series(1, ${rows}::int) n`.execute(at.deps.db);

test('what is alive stays, in every table', async () => {
  const user = await aUser(at);
  const { browser, client } = await someTokens(at, { user });
  const opaque = await aClient(at, { access_token_format: 'opaque', skip_consent: true });
  await someTokens(at, { user, browser, client: opaque });
  await open(browser, client, { prompt: 'consent' });
  const before = await counts();
  for (const table of tables) expect(before[table], table).toBeGreaterThan(0);
  await run();
  expect(await counts()).toEqual(before);
});

test('a row goes on the day after its own, not at the minute it expires', async () => {
  await fill(3, 0);
  await fill(4, 1);
  const before = await counts();
  await run();
  expect((await counts())['interactions']).toBe(before['interactions']! - 4);
});

test('rows go in batches of at most a thousand, until none is left', async () => {
  await fill(2500, 3);
  const { interactions } = await counts();
  const now = at.clock.now();
  expect(await sweep(at.deps.db, now, new Date(0))).toBe(1000);
  expect((await counts())['interactions']).toBe(interactions! - 1000);
  await run();
  expect((await counts())['interactions']).toBe(interactions! - 2500);
});

test('what somebody else holds is skipped, not waited for', async () => {
  await fill(5, 4);
  const trx = await at.deps.db.startTransaction().execute();
  const held = await trx
    .selectFrom('interactions')
    .select('hash')
    .where('expires_bucket', '=', bucketOf(at.clock.now()) - 4)
    .limit(2)
    .forUpdate()
    .execute();
  const before = await counts();
  await run();
  expect((await counts())['interactions']).toBe(before['interactions']! - 3);
  await trx.rollback().execute();
  await run();
  expect((await counts())['interactions']).toBe(before['interactions']! - 3 - held.length);
});

test('two sweepers at once remove everything once, without a deadlock', async () => {
  await fill(1500, 5);
  const before = await counts();
  await Promise.all([run(), run(), run()]);
  expect((await counts())['interactions']).toBe(before['interactions']! - 1500);
});

test('a failure count goes when it has faded', async () => {
  const row = (key: string, last_at: Date) => ({ key, count: 7, last_at });
  const now = at.clock.now().getTime();
  const rows = [row('faded', new Date(now - 86_401_000)), row('fresh', new Date(now - 86_399_000))];
  await at.deps.db.insertInto('failures').values(rows).execute();
  await run();
  const left = await at.deps.db.selectFrom('failures').select('key').execute();
  expect(left.map(({ key }) => key)).toEqual(['fresh']);
});

test('RFC 6749 §4.1.2, decided: a replay is recognised for as long as the grant can live, and still revokes', async () => {
  const client = await aClient(at);
  const code = await anAuthorizationCode(at, { client });
  let { refresh_token } = (await redeem(at, code)).json<Tokens>();
  for (let days = 0; days < 28; days += 4) {
    at.clock.advance(4 * DAY);
    await run();
    refresh_token = (await refresh(at, client, refresh_token)).json<Tokens>().refresh_token;
  }
  expect(await introspect(at, client, refresh_token)).toMatchObject({ active: true });
  const again = await redeem(at, code);
  expect(again.json()).toMatchObject({
    error: 'invalid_grant',
    error_description: expect.stringContaining('used before'),
  });
  expect(await introspect(at, client, refresh_token)).toEqual({ active: false });
});

test('RFC 9700 §4.14.2: a refresh token used weeks ago is recognised as reused, too', async () => {
  const { client, tokens } = await someTokens(at);
  const first = (await refresh(at, client, tokens.refresh_token)).json<Tokens>();
  at.clock.advance(5 * DAY);
  const second = (await refresh(at, client, first.refresh_token)).json<Tokens>();
  at.clock.advance(6 * DAY);
  await run();
  const third = (await refresh(at, client, second.refresh_token)).json<Tokens>();
  expect((await refresh(at, client, tokens.refresh_token)).json()).toMatchObject({ error: 'invalid_grant' });
  expect(await introspect(at, client, third.refresh_token)).toEqual({ active: false });
});

test('when nothing of it can live any more, everything goes', async () => {
  const user = await aUser(at);
  const { client, tokens, browser } = await someTokens(at, { user });
  const page = await open(browser, client, { prompt: 'consent' });
  await signIn(at, user);
  at.clock.advance(31 * DAY);
  await run();
  const left = await counts();
  for (const table of tables) expect(left[table], table).toBe(0);
  expect((await refresh(at, client, tokens.refresh_token)).json()).toMatchObject({ error: 'invalid_grant' });
  expectErrorPage(await browser.get(page.url));
  // What people agreed to, and what happened, is no garbage.
  expect(await at.deps.db.selectFrom('consents').selectAll().where('sub', '=', user.sub).execute()).toHaveLength(1);
  expect((await at.deps.db.selectFrom('audit_events').select('event').execute()).length).toBeGreaterThan(0);
});

test('the audit log goes after AUDIT_RETENTION, and answers for an Idempotency-Key after a day, batch by batch', async () => {
  const { db } = at.deps;
  const now = at.clock.now();
  const event = { event: 'old', detail: '{}', sub: null, client_id: null, actor: null, ip: null, request_id: null };
  const daysAgo = (days: number): Date => new Date(now.getTime() - days * DAY * 1000);
  const old = Array.from({ length: 1100 }, () => ({ ...event, at: daysAgo(401) }));
  await db.insertInto('audit_events').values(old).execute();
  await db
    .insertInto('audit_events')
    .values({ ...event, at: daysAgo(399) })
    .execute();
  const key = { principal: 'p', request_hash: Buffer.alloc(32), status: 204, location: null, body: null };
  const keys = [
    { ...key, key: 'over', expires_at: daysAgo(1) },
    { ...key, key: 'kept', expires_at: daysAgo(-1) },
  ];
  await db.insertInto('idempotency_keys').values(keys).execute();
  const left = async (): Promise<number> =>
    (await db.selectFrom('audit_events').select('event_id').where('event', '=', 'old').execute()).length;

  await sweepExpired({ ...at.deps, config: configWith(at.deps.config, { AUDIT_RETENTION: 0 }) }).run();
  expect(await left()).toBe(1101);
  expect((await db.selectFrom('idempotency_keys').select('key').execute()).map((row) => row.key)).toEqual(['kept']);
  expect(await sweep(db, now, new Date(0), daysAgo(400))).toBe(1000);
  await run();
  expect(await left()).toBe(1);
});

test('a job never runs twice at once, a failure waits for the next turn, and stopping waits for the running', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let running = 0;
  let most = 0;
  let turns = 0;
  let finish = (): void => {};
  const slow: Worker = {
    where: 'once',
    every: 1,
    run: async () => {
      most = Math.max(most, (running += 1));
      turns += 1;
      if (turns === 1) throw new Error('a bad day');
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      running -= 1;
    },
  };
  const { stop } = startWorkers(
    { ...at.deps, keys: { ...at.deps.keys, reload: async () => ({ unreadable: [] }) } },
    { slow },
  );
  await vi.advanceTimersByTimeAsync(1000);
  expect([turns, at.logged.some((line) => line.includes('a bad day'))]).toEqual([1, true]);
  running = 0;
  await vi.advanceTimersByTimeAsync(4000);
  expect([turns, most]).toEqual([2, 1]);
  let stopped = false;
  const stopping = stop().then(() => (stopped = true));
  await vi.advanceTimersByTimeAsync(5000);
  expect([turns, stopped]).toEqual([2, false]);
  finish();
  await stopping;
  vi.useRealTimers();
  expect(stopped).toBe(true);
});
