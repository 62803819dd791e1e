/** From tables to partitions: an installation of the version before keeps every row, every index and every default. */
import { readdir } from 'node:fs/promises';
import { sql } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bucketOf } from '../../../src/protocol/handle.ts';
import { migrate } from '../../../src/store/postgres/migrate.ts';
import { dropPast, makeAhead, PARTITIONED, partitionsOf } from '../../../src/store/postgres/partitions.ts';
import { overdueSince, sweep } from '../../../src/store/postgres/sweep.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

const TABLES = Object.keys(PARTITIONED);
const now = new Date();
const today = bucketOf(now);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ max: 2 });
});
afterAll(() => database.close());

/** A table, by what its columns, constraints and indexes say. */
interface Shape {
  columns: Array<{ name: string }>;
}

async function shape(): Promise<Shape[]> {
  const { rows } = await sql<Shape>`
    select c.relname as table,
      (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'required',
          a.attnotnull, 'default', pg_get_expr(d.adbin, d.adrelid), 'said', col_description(c.oid, a.attnum)) order by a.attname)
        from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
      (select json_agg(conname || ' ' || pg_get_constraintdef(oid) order by conname) from pg_constraint
        where conrelid = c.oid) as constraints,
      (select json_agg(replace(pg_get_indexdef(indexrelid), ' ONLY ', ' ') order by indexrelid::regclass::text)
        from pg_index where indrelid = c.oid) as indexes
    from pg_class c where c.oid = any(${TABLES}::text[]::regclass[]) order by 1`.execute(database.db);
  return rows;
}
async function rowsOf(): Promise<Record<string, unknown>> {
  const digests = TABLES.map(
    (table) => sql`select ${table}::text as table, count(*)::int as rows,
      md5(string_agg(jsonb_strip_nulls(to_jsonb(t))::text, ',' order by jsonb_strip_nulls(to_jsonb(t))::text)) as digest from ${sql.table(table)} t`,
  );
  const { rows } = await sql<{ table: string }>`${sql.join(digests, sql` union all `)}`.execute(database.db);
  return Object.fromEntries(rows.map(({ table, ...rest }) => [table, rest]));
}

test('every row of the version before is there after, and each table is what it was', async () => {
  const { db } = database;
  await sql`drop schema public cascade`.execute(db);
  await sql`create schema public`.execute(db);
  const folder = new URL('../../../migrations/', import.meta.url);
  const before: Record<string, Migration> = {};
  for (const file of (await readdir(folder)).filter((name) => name < '0026').toSorted())
    before[file.slice(0, -3)] = (await import(new URL(file, folder).href)) as Migration;
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(before) },
  }).migrateToLatest();
  expect(error).toBeUndefined();

  // Some of yesterday, most of the days to come, and one of a client whose tokens live for a year.
  const hash = sql`sha256(n::text::bytea)`;
  const days = sql`${today}::int - 1 + n % 30 + case when n = 1 then 365 else 0 end`;
  const series = sql`generate_series(1, 2400) n`;
  const times = sql`${now}::timestamptz, ${now}::timestamptz`;
  for (const insert of [
    sql`access_tokens (expires_bucket, hash, jti, client_id, sub, scope, aud, created_at, expires_at)
      select ${days}, ${hash}, 'j', 'c', 's', '{}', '{}', ${times}`,
    sql`authorization_codes (expires_bucket, hash, grant_id, client_id, redirect_uri, created_at, expires_at)
      select ${days}, ${hash}, 'g', 'c', 'r', ${times}`,
    sql`interactions (expires_bucket, hash, client_id, request, created_at, expires_at)
      select ${days}, ${hash}, 'c', '{}', ${times}`,
    sql`refresh_tokens (expires_bucket, hash, grant_id, created_at, expires_at) select ${days}, ${hash}, 'g', ${times}`,
    sql`replays (expires_bucket, hash, expires_at) select ${days}, ${hash}, ${now}::timestamptz`,
    sql`pushed_requests (expires_bucket, hash, client_id, request, created_at, expires_at)
      select ${days}, ${hash}, 'c', '{}', ${times}`,
  ])
    await sql`insert into ${insert} from ${series}`.execute(db);
  const [was, rows] = [await shape(), await rowsOf()];

  expect(await migrate(db)).toContain('0026-partitions');
  // What later migrations add is none of this one's.
  const ours = (await shape()).map((table, i) => ({
    ...table,
    columns: table.columns.filter(({ name }) => was[i]!.columns.some((column) => column.name === name)),
  }));
  expect(ours).toEqual(was);
  expect(await rowsOf()).toEqual(rows);
});

test('rows of before go one by one, their partition when it is past; new ones lie in new partitions', async () => {
  const { db } = database;
  const [before, ...others] = await partitionsOf(db, ['refresh_tokens']);
  expect([before!.name, before!.from, others]).toEqual(['refresh_tokens_before', -Infinity, []]);
  // The one of the year did not make it long.
  expect(before!.to).toBeLessThan(today + 40);
  expect(await overdueSince(db, now)).toEqual(new Date(today * 86_400_000));

  expect(await makeAhead(db, 365, now)).toEqual([]);
  const { rows } = await sql<{ place: string; rows: number }>`
    select tableoid::regclass::text as place, count(*)::int as rows from refresh_tokens group by 1 order by 2 desc`.execute(
    db,
  );
  expect(rows[0]!.place).toBe('refresh_tokens_before');
  expect(rows[0]!.rows).toBeGreaterThan(1000);
  expect(rows.at(-1)).toEqual({ place: expect.stringMatching(/^refresh_tokens_\d/) as string, rows: 1 });
  expect(rows.reduce((sum, part) => sum + part.rows, 0)).toBe(2400);
  let removed = 0;
  for (let batch; (batch = await sweep(db, now, new Date(0))) > 0;) removed += batch;
  expect(removed).toBe(80 * TABLES.length);
  expect(await overdueSince(db, now)).toBeUndefined();
  expect(await dropPast(db, new Date(before!.to * 86_400_000))).toEqual([]);
  expect((await partitionsOf(db)).some(({ name }) => name === 'refresh_tokens_before')).toBe(false);
});
