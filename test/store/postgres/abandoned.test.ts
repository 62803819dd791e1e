/** Statements that nobody waits for any more, since the database did not answer in time. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isUnavailable, poolState, type Db } from '../../../src/store/postgres/db.ts';
import { openDb } from '../../../src/store/postgres/open.ts';
import { NO_ROW } from '../../../src/store/postgres/lock-order.ts';
import { write } from '../../../src/store/postgres/pipeline.ts';
import { prepared } from '../../../src/store/postgres/prepared.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { until } from '../../support/postgres-process.ts';

const MAX = 3;
let of: TestDatabase;
let db: Db;
let abandoned: boolean[] = [];

beforeAll(async () => {
  of = await createTestDatabase();
  // A commit that does not answer, as while a synchronous standby is away: no statement_timeout ends it.
  await sql`create table notes (id int primary key)`.execute(of.db);
  await sql`
    create function stall() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return null; end $$`.execute(
    of.db,
  );
  await sql`
    create constraint trigger stall after insert on notes deferrable initially deferred
      for each row execute function stall()`.execute(of.db);
  db = openDb(of.connection, {
    max: MAX,
    statementTimeout: 200,
    onAbandoned: (isCancelled) => void abandoned.push(isCancelled),
  });
});
afterAll(async () => {
  await db.destroy();
  await of.close();
});

async function stalled(): Promise<number> {
  const { rows } = await sql<{ stalled: number }>`
    select count(*)::int as stalled from pg_stat_activity
    where datname = current_database() and application_name = 'postern' and wait_event = 'PgSleep'`.execute(of.db);
  return rows[0]!.stalled;
}

const note = (id: number): Promise<unknown> => write(db, prepared`insert into notes (id) values (${id})`, NO_ROW);

test.each([
  ['a batch', note],
  [
    'a transaction',
    (id: number) => db.transaction().execute((trx) => sql`insert into notes values (${id})`.execute(trx)),
  ],
])('a commit that does not answer is cancelled on the database: %s', async (_name, work) => {
  abandoned = [];
  const error: unknown = await work(1).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(isUnavailable(error)).toBe(true);
  await until('it is cancelled', () => abandoned.length > 0);
  expect(abandoned).toEqual([true]);
  await until('nobody is at it any more', async () => (await stalled()) === 0);
});

test('however long it lasts, there are never more connections than the pool has', async () => {
  let most = 0;
  for (let round = 0; round < 4; round += 1) {
    const asked = Promise.allSettled([1, 2, 3, 4, 5, 6].map((n) => note(round * 10 + n)));
    most = Math.max(most, await stalled());
    await asked;
    most = Math.max(most, await stalled());
    expect(poolState(db).total).toBeLessThanOrEqual(MAX);
  }
  expect(most).toBeLessThanOrEqual(MAX);
  await until('all of it has stopped', async () => (await stalled()) === 0);
  await sql`drop trigger stall on notes`.execute(of.db);
  await note(1000);
});
