import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bucketOf, drawHandle, sha256 } from '../../../src/protocol/handle.ts';
import * as replays from '../../../src/store/replays.ts';
import { PARTITIONED } from '../../../src/store/postgres/partitions.ts';
import { SHORT_LIVED } from '../../../src/store/postgres/schema.ts';
import { sweep } from '../../../src/store/postgres/sweep.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  aUser,
  aVerifier,
  redeem,
  refresh,
  signIn,
  someTokens,
  TestBrowser,
  authorizationUrl,
} from '../../support/fixtures.ts';
import { atOnce } from '../../support/races.ts';

const DAY = 86_400;
const TABLES = [
  'interactions',
  'sessions',
  'sign_outs',
  'access_tokens',
  'revoked_tokens',
  'replays',
  'authorization_codes',
  'refresh_tokens',
  'grants',
] as const;

let at: TestApp;
beforeEach(async () => {
  at = await testApp();
});
afterEach(() => at.close());

const longAgo = new Date(0);
const sweepAll = async (failures_before = longAgo): Promise<number> => {
  let removed = 0;
  for (let batch; (batch = await sweep(at.deps.db, at.clock.now(), failures_before)) > 0;) removed += batch;
  return removed;
};
const rowsOf = async (table: (typeof TABLES)[number] | 'failures'): Promise<number> => {
  const { rows } = await sql<{ n: string }>`select count(*) as n from ${sql.table(table)}`.execute(at.deps.db);
  return Number(rows[0]!.n);
};

/** `n` rows that expired the day before, written at once. */
const expired = (n: number): Promise<unknown> => {
  const bucket = bucketOf(at.clock.now()) - 1;
  return sql`
    insert into replays (expires_bucket, hash, expires_at)
    select ${bucket}, sha256(i::text::bytea), ${at.clock.now()} from generate_series(1, ${n}::int) i`.execute(
    at.deps.db,
  );
};

test('a row goes when the day of its expiry is over, in every short-lived table', async () => {
  const client = await aClient(at, { skip_consent: true, access_token_format: 'opaque' });
  const { browser } = await someTokens(at, { client });
  const { code_challenge } = aVerifier();
  const request = authorizationUrl(browser.issuer, client, { code_challenge, code_challenge_method: 'S256' });
  await new TestBrowser(at).get(request);
  const { expires_bucket } = drawHandle(at.deps.random, at.clock.now());
  await replays.claim(at.deps.db, 'a jti', at.clock.now());
  await at.deps.db
    .insertInto('revoked_tokens')
    .values({ expires_bucket, jti: 'x', expires_at: at.clock.now() })
    .execute();
  const times = { created_at: at.clock.now(), expires_at: at.clock.now() };
  await at.deps.db
    .insertInto('sign_outs')
    .values({ expires_bucket, hash: Buffer.alloc(32), browser_hash: Buffer.alloc(32), sids: ['a sid'], ...times })
    .execute();
  for (const table of TABLES) expect([table, await rowsOf(table)]).toEqual([table, 1]);

  expect(await sweepAll()).toBe(0);
  // To the last moment of the last of these days, and then past it.
  const { rows } = await sql<{ last: number }>`select max(expires_bucket) as last from grants`.execute(at.deps.db);
  const end = (rows[0]!.last + 1) * DAY - at.clock.now().getTime() / 1000;
  at.clock.advance(end - 1);
  await sweepAll();
  for (const table of ['grants', 'refresh_tokens', 'authorization_codes'] as const) expect(await rowsOf(table)).toBe(1);
  expect(await rowsOf('access_tokens')).toBe(0);
  at.clock.advance(1);
  expect(await sweepAll()).toBe(3);
  for (const table of TABLES) expect([table, await rowsOf(table)]).toEqual([table, 0]);
});

test('no table whose key begins with a day is forgotten, and those that are partitioned are known to be', async () => {
  const { rows } = await sql<{ name: string; key: string[]; partitioned: boolean }>`
    select c.relname as name, c.relkind = 'p' as partitioned, array(
      select a.attname::text from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
      where i.indrelid = c.oid and i.indisprimary order by a.attname) as key
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`.execute(
    at.deps.db,
  );
  const days = rows.filter(({ key }) => key.includes('expires_bucket'));
  const keys = days.map(({ name, key }) => [name, key.filter((column) => column !== 'expires_bucket')[0]]);
  expect(Object.fromEntries(keys)).toEqual(SHORT_LIVED);
  expect(rows.filter(({ partitioned }) => partitioned).map(({ name }) => name)).toEqual(
    expect.arrayContaining(Object.keys(PARTITIONED)),
  );
  expect(rows.filter(({ partitioned }) => partitioned)).toHaveLength(Object.keys(PARTITIONED).length);
});

test('RFC 6749 §4.1.2: a replay is recognised as long as the grant can live, however often was swept', async () => {
  const { tokens, client, ...code } = await someTokens(at, { client: await aClient(at, { skip_consent: true }) });
  let { refresh_token } = tokens;
  for (let day = 0; day < 28; day += 4) {
    at.clock.advance(4 * DAY);
    await sweepAll();
    const answer = await refresh(at, client, refresh_token);
    expect(answer.statusCode).toBe(200);
    ({ refresh_token } = answer.json<{ refresh_token: string }>());
  }
  expect((await redeem(at, { ...code, client })).json()).toMatchObject({ error: 'invalid_grant' });
  expect((await refresh(at, client, refresh_token)).json()).toMatchObject({ error: 'invalid_grant' });
});

test('batch by batch, so that no statement takes long', async () => {
  await expired(2500);
  const batches = [];
  for (let batch; (batch = await sweep(at.deps.db, at.clock.now(), longAgo)) > 0;) batches.push(batch);
  expect(batches).toEqual([1000, 1000, 500]);
});

test('two at once share the work and wait for nobody', async () => {
  await expired(2500);
  const removed = await atOnce(4, () => sweepAll());
  expect(removed.reduce((sum, n) => sum + n)).toBe(2500);
  expect(await rowsOf('replays')).toBe(0);
});

test('what another transaction holds is left for the next time', async () => {
  await expired(3);
  await at.deps.db.transaction().execute(async (trx) => {
    await sql`select 1 from replays where hash = ${sha256('2')} for share`.execute(trx);
    expect(await sweepAll()).toBe(2);
  });
  expect(await sweepAll()).toBe(1);
});

test('failed guesses fade, and nothing that people rely on is touched', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const failures = [
    { key: 'old', count: 3, last_at: new Date(at.clock.now().getTime() - 1000) },
    { key: 'new', count: 3, last_at: at.clock.now() },
  ];
  await at.deps.db.insertInto('failures').values(failures).execute();
  expect(await sweepAll(at.clock.now())).toBe(1);
  expect(await rowsOf('failures')).toBe(1);
  expect((await browser.get('/account')).statusCode).toBe(200);
});
