/** Migrations wait for whoever is in the way, and requests do not wait for them. */
import { sql, type Kysely } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Db } from '../../../src/store/postgres/db.ts';
import { openDb } from '../../../src/store/postgres/open.ts';
import { migrate, MIGRATION_LOCK_MS, type Step, type Steps } from '../../../src/store/postgres/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { until } from '../../support/postgres-process.ts';

const ROWS = 2500;
const BATCH = 1000;
const MADE: Record<string, Step> = {
  '0001-things': {
    async up(db: Kysely<unknown>) {
      await sql`create table things (n int primary key, note text)`.execute(db);
      await sql`insert into things select n, null from generate_series(1, ${sql.lit(ROWS)}) n`.execute(db);
    },
  },
};
/** Another one, with much to do beforehand. */
const batches: number[] = [];
const MORE: Record<string, Step> = {
  ...MADE,
  '0002-doubled': {
    async prepare(db: Kysely<unknown>) {
      await sql`alter table things add column if not exists doubled int`.execute(db);
      for (let rows = -1; rows !== 0; batches.push(rows)) {
        const done = await sql`
          update things set doubled = n * 2
          where n in (select n from things where doubled is null limit ${BATCH} for update skip locked)`.execute(db);
        rows = Number(done.numAffectedRows);
      }
    },
    async up(db: Kysely<unknown>) {
      // Of rows that others held.
      await sql`update things set doubled = n * 2 where doubled is null`.execute(db);
    },
  },
};
const stepsOf = (steps: Record<string, Step>): Steps => ({
  names: async () => Object.keys(steps),
  load: async (name) => steps[name]!,
});

let database: TestDatabase;
let migrator: Db;
let other: Db;
beforeEach(async () => {
  database = await createTestDatabase();
  migrator = openDb(database.connection, { max: 1, statementTimeout: 0, lockTimeout: MIGRATION_LOCK_MS });
  other = openDb(database.connection, { max: 1, statementTimeout: 0 });
  await sql`drop schema public cascade`.execute(database.db);
  await sql`create schema public`.execute(database.db);
  await migrate(migrator, undefined, stepsOf(MADE));
  batches.length = 0;
});
afterEach(async () => {
  await migrator.destroy();
  await other.destroy();
  await database.close();
});

test('what pg_dump holds is waited for, requests go on, and the migration is applied once it is gone', async () => {
  const dump = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const dumping = other.transaction().execute(async (trx) => {
    await sql`set local application_name = 'pg_dump'`.execute(trx);
    await sql`lock table things in access share mode`.execute(trx);
    begun.resolve();
    await dump.promise;
  });
  await begun.promise;

  const waited: string[] = [];
  let ended = false;
  const migrating = migrate(migrator, (what) => waited.push(what), stepsOf(MORE)).finally(() => (ended = true));
  // Each of them is a request that has half a second for a lock.
  let [asked, written] = [0, 0];
  await until('it has tried several times', async () => {
    asked += (await sql`select n from things where n = 1`.execute(database.db)).rows.length;
    written += Number((await sql`update things set note = 'x' where n = 1`.execute(database.db)).numAffectedRows);
    return waited.length > 2;
  });
  expect(ended).toBe(false);
  expect([asked > 0, written > 0]).toEqual([true, true]);
  expect(waited[0]).toMatch(/a table is in use; the longest transaction is that of pg_dump, process \d+: \d+ s/);
  dump.resolve();
  await dumping;
  expect(await migrating).toEqual(['0002-doubled']);
});

test('what takes long is done in batches before, in no transaction, and rows can be written meanwhile', async () => {
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  // Somebody who writes one row, and does not commit.
  const writing = other.transaction().execute(async (trx) => {
    await sql`update things set note = 'mine' where n = 7`.execute(trx);
    begun.resolve();
    await held.promise;
  });
  await begun.promise;
  const migrating = migrate(migrator, undefined, stepsOf(MORE));
  held.resolve();
  await until('it has begun', () => batches.length > 0);
  await sql`update things set note = 'x' where n = 8`.execute(database.db);
  await writing;
  expect(await migrating).toEqual(['0002-doubled']);
  expect(batches.filter((rows) => rows > 0).length).toBeGreaterThan(2);
  const { rows } = await sql`select n from things where doubled is distinct from n * 2`.execute(database.db);
  expect(rows).toEqual([]);
});

test('one that fails leaves those before it, and nothing of itself', async () => {
  const failing: Record<string, Step> = {
    ...MORE,
    '0003-failing': {
      async up(db: Kysely<unknown>) {
        await sql`create table more_things (n int)`.execute(db);
        await sql`select 1 / 0`.execute(db);
      },
    },
  };
  await expect(migrate(migrator, undefined, stepsOf(failing))).rejects.toThrow(/division by zero/);
  const { rows } =
    await sql`select to_regclass('more_things') as made, name from kysely_migration order by name`.execute(database.db);
  expect(rows).toEqual([
    { made: null, name: '0001-things' },
    { made: null, name: '0002-doubled' },
  ]);
});
