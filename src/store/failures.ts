/**
 * Failed guesses: counted in one statement each, shared by every process. Nothing is written for a success that follows
 * none.
 */
import { sql } from 'kysely';
import type { Db } from './db.ts';

/** How often something failed in a row, and when last. */
export interface Failures {
  count: number;
  last_at: Date;
}

/** The counts of several keys; a key without failures is absent. Counts older than `since` have faded. */
export async function read(db: Db, keys: readonly string[], since: Date): Promise<Map<string, Failures>> {
  const rows = await db
    .selectFrom('failures')
    .selectAll()
    .where('key', 'in', keys)
    .where('last_at', '>', since)
    .execute();
  return new Map(rows.map(({ key, count, last_at }) => [key, { count, last_at }]));
}

/** Counts one failure for each key and returns the new counts. A count older than `since` starts again. */
export async function count(db: Db, keys: readonly string[], now: Date, since: Date): Promise<Map<string, number>> {
  // Sorted, so that two processes lock the rows in one order.
  const { rows } = await sql<{ key: string; count: number }>`
    insert into failures (key, count, last_at)
    select key, 1, ${now}::timestamptz from unnest(${keys.toSorted()}::text[]) as key
    on conflict (key) do update set
      count = case when failures.last_at > ${since} then failures.count + 1 else 1 end,
      last_at = greatest(failures.last_at, excluded.last_at)
    returning key, count`.execute(db);
  return new Map(rows.map((row) => [row.key, row.count]));
}

/** Starts from nothing again: after a success. */
export async function forget(db: Db, keys: readonly string[]): Promise<void> {
  await db.deleteFrom('failures').where('key', 'in', keys).execute();
}
