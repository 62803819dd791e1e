/** A table that is locked holds up whoever needs it, and nobody else. */
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { isUnavailable, poolOf, poolState, type Db } from '../../../src/store/postgres/db.ts';
import { openDb } from '../../../src/store/postgres/open.ts';
import { read } from '../../../src/store/postgres/pipeline.ts';
import { prepared } from '../../../src/store/postgres/prepared.ts';
import { until } from '../../support/postgres-process.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { aClient, aService, credentials, postForm, refresh, someTokens, userinfo } from '../../support/fixtures.ts';

let at: TestApp;
let holder: Db;
let release: (() => Promise<void>) | undefined;
beforeAll(async () => {
  at = await testApp();
  holder = openDb(at.database.connection, { max: 2, statementTimeout: 0 });
});
afterEach(() => release?.());
afterAll(async () => {
  await holder.destroy();
  await at.close();
});

/** Locks a table until `release`. */
async function lock(table: string): Promise<void> {
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const holding = holder.transaction().execute(async (trx) => {
    await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(trx);
    begun.resolve();
    await held.promise;
  });
  await begun.promise;
  release = async () => {
    held.resolve();
    await holding;
    release = undefined;
  };
}

const asEach = (count: number, ask: () => Promise<unknown>): Promise<Array<PromiseSettledResult<unknown>>> =>
  Promise.allSettled(Array.from({ length: count }, ask));
const fulfilled = (all: Array<PromiseSettledResult<unknown>>): number =>
  all.filter(({ status }) => status === 'fulfilled').length;

test.each([
  ['asked one by one', (db: Db) => sql`select scope_id from locked_things limit 1`.execute(db)],
  ['asked together', (db: Db) => read(db, prepared`select scope_id from locked_things limit 1`)],
])('%s: once one has waited in vain, one at a time tries, and the others are told at once', async (_, ask) => {
  await sql`create table if not exists locked_things (scope_id int)`.execute(at.deps.db);
  const db = openDb(at.database.connection, { max: 4, statementTimeout: 800 });
  try {
    await ask(db);
    await lock('locked_things');
    expect(fulfilled(await asEach(1, () => ask(db)))).toBe(0);
    await until('it is known', () => poolOf(db)!.pool.gate.closed === 1);
    const many = asEach(40, () => ask(db));
    // Whoever needs nothing of it, meanwhile, on what is left of the connections.
    expect(fulfilled(await asEach(20, () => sql`select name from scopes limit 1`.execute(db)))).toBe(20);
    expect(poolState(db).waiting).toBe(0);
    const told = (await many).filter((one) => one.status === 'rejected' && isUnavailable(one.reason));
    expect(told.length).toBe(40);
    expect(poolOf(db)!.pool.gate.closed).toBe(1);
    await release!();
    await ask(db);
    expect(fulfilled(await asEach(40, () => ask(db)))).toBe(40);
    expect(poolOf(db)!.pool.gate.closed).toBe(0);
  } finally {
    await db.destroy();
  }
});

test('a row that somebody holds concerns those who need that row', async () => {
  const db = openDb(at.database.connection, { max: 4, statementTimeout: 400 });
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const holding = holder.transaction().execute(async (trx) => {
    await sql`update scopes set description = description where name = 'openid'`.execute(trx);
    begun.resolve();
    await held.promise;
  });
  await begun.promise;
  const touch = (name: string) => sql`update scopes set description = description where name = ${name}`.execute(db);
  expect(fulfilled(await asEach(3, () => touch('openid')))).toBe(0);
  // What was looked for is found by now, on a connection of the same pool.
  await Promise.all(Array.from({ length: 8 }, () => sql`select pg_sleep(0.01)`.execute(db)));
  expect(poolOf(db)!.pool.gate.closed).toBe(0);
  expect(fulfilled(await asEach(10, () => touch('email')))).toBe(10);
  held.resolve();
  await holding;
  await db.destroy();
});

test('a lock on a table that few need leaves sign-ins, tokens and userinfo to all others', async () => {
  const [client, service] = [await aClient(at), await aService(at)];
  const { tokens } = await someTokens(at, { client });
  await lock('logout_notices');
  const machine = { grant_type: 'client_credentials', ...credentials(service) };
  const answers = await Promise.all([
    ...Array.from({ length: 10 }, () => postForm(at, '/token', machine)),
    ...Array.from({ length: 10 }, () => userinfo(at, tokens.access_token)),
    refresh(at, client, tokens.refresh_token),
  ]);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 200));
});

test('a lock on the table of opaque tokens costs those who want some, and nobody else', async () => {
  const opaque = await aClient(at, { access_token_format: 'opaque' });
  const other = await aClient(at);
  const [mine, theirs] = [await someTokens(at, { client: opaque }), await someTokens(at, { client: other })];
  await lock('access_tokens');
  const wanting = (): Promise<number[]> =>
    Promise.all(Array.from({ length: 20 }, async () => (await userinfo(at, mine.tokens.access_token)).statusCode));
  expect(new Set(await wanting())).toEqual(new Set([503]));
  const again = wanting();
  const answers = await Promise.all(Array.from({ length: 20 }, () => userinfo(at, theirs.tokens.access_token)));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 200));
  await again;
  await release!();
  expect((await userinfo(at, mine.tokens.access_token)).statusCode).toBe(200);
});
