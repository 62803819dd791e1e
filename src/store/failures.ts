/**
 * Failed guesses: counted in one statement each, shared by every process. Nothing is written for a success that follows
 * none. Rows are locked in the order of their keys, everywhere.
 */
import { sql, type RawBuilder } from 'kysely';
import { MOST_DOUBLINGS, type Failures, type Lane } from '../protocol/throttle.ts';
import type { Db } from './postgres/db.ts';

/** Each row is a count, for a key that guesses failed for. */
export interface FailuresTable {
  key: string;
  count: number;
  last_at: Date;
}

type Row = Failures & { key: string };

const byKey = (rows: readonly Row[]): Map<string, Failures> =>
  new Map(rows.map(({ key, count, last_at }) => [key, { count, last_at }]));

/** The counts of several keys; a key without failures is absent. Counts older than `since` have faded. */
export async function read(db: Db, keys: readonly string[], since: Date): Promise<Map<string, Failures>> {
  const rows = await db
    .selectFrom('failures')
    .selectAll()
    .where('key', 'in', keys)
    .where('last_at', '>', since)
    .where('count', '>', 0)
    .execute();
  return byKey(rows);
}

/** Counts one failure for each key and returns the new counts. A count older than `since` starts again. */
export async function count(db: Db, keys: readonly string[], now: Date, since: Date): Promise<Map<string, number>> {
  const { rows } = await sql<{ key: string; count: number }>`
    insert into failures (key, count, last_at)
    select key, 1, ${now}::timestamptz from unnest(${keys.toSorted()}::text[]) as key
    on conflict (key) do update set ${oneMore(since)}
    returning key, count`.execute(db);
  return new Map(rows.map((row) => [row.key, row.count]));
}

const oneMore = (since: Date): RawBuilder<unknown> => sql`
  count = case when failures.last_at > ${since} then failures.count + 1 else 1 end,
  last_at = greatest(failures.last_at, excluded.last_at)`;

/** Was a guess reserved, and what has failed in its lanes by now, itself included. */
export interface Reservation {
  granted: boolean;
  failed: Map<string, Failures>;
}

/**
 * Counts a guess as failed before it is checked, in every lane, unless one of them has to wait: of many at once no more are
 * checked than are free. A right guess is then released, or its lanes forgotten.
 */
export async function reserve(db: Db, lanes: readonly Lane[], now: Date, since: Date): Promise<Reservation> {
  const ordered = lanes.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const name = (index: number): RawBuilder<unknown> => sql.ref(`lane_${index}`);
  const { rows } = await sql<Row>`
    with ${sql.join(
      ordered.map(
        ({ key, policy: { free, first, longest } }, index) => sql`${name(index)} as (
          insert into failures (key, count, last_at)
          select ${key}, 1, ${now}::timestamptz ${index === 0 ? sql`` : sql`from ${name(index - 1)}`}
          on conflict (key) do update set ${oneMore(since)}
          where failures.last_at <= ${since} or failures.count < ${free}::int
            or failures.last_at + make_interval(secs => least(${longest}::int,
              ${first}::int * 2 ^ least(failures.count - ${free}::int, ${MOST_DOUBLINGS}::int))) <= ${now}
          returning key, count, last_at)`,
      ),
    )}
    ${sql.join(
      ordered.map((_, index) => sql`select key, count, last_at from ${name(index)}`),
      sql` union all `,
    )}`.execute(db);
  if (rows.length === lanes.length) return { granted: true, failed: byKey(rows) };
  const counted = rows.map(({ key }) => key);
  if (counted.length > 0) await release(db, counted);
  const keys = lanes.map(({ key }) => key);
  return { granted: false, failed: await read(db, keys, since) };
}

const locked = (keys: readonly string[]): RawBuilder<unknown> => sql`
  select key from failures where key = any(${keys}::text[]) order by key collate "C" for update`;

/** Releases one reserved guess of each key: it was no failure. */
export async function release(db: Db, keys: readonly string[]): Promise<void> {
  await sql`
    with held as (${locked(keys)})
    update failures f set count = greatest(f.count - 1, 0) from held where f.key = held.key`.execute(db);
}

/** Forgets all failures of these keys, after a success. */
export async function forget(db: Db, keys: readonly string[]): Promise<void> {
  await sql`with held as (${locked(keys)}) delete from failures f using held where f.key = held.key`.execute(db);
}
