/** Races: many promises at once, and transactions held open at the very point where they would collide. */
import { sql } from 'kysely';
import { transact, type Db, type Trx } from '../../src/store/postgres/db.ts';

/** Starts `n` at once and waits for all of them; a rejection is thrown on. */
export const atOnce = <T>(n: number, work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: n }, (_, index) => work(index)));

/** Opens `n` connections of the pool, one after the other: a race is not about who gets connected in time. */
export async function connected(db: Db, n: number): Promise<void> {
  if (n > 0) await db.connection().execute(() => connected(db, n - 1));
}

/** How many of each there are. */
export function tally<T extends PropertyKey>(values: readonly T[]): Partial<Record<T, number>> {
  const counts: Partial<Record<T, number>> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** Does a connection of this database wait for a lock that another holds? */
async function somebodyWaits(db: Db): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows.length > 0;
}

/**
 * Runs `first` in a transaction and leaves it open; starts `second`, which must run into what `first` holds; then lets
 * `first` commit, and waits for both.
 */
export async function overtaken<A, B>(
  db: Db,
  first: (trx: Trx) => Promise<A>,
  second: () => Promise<B>,
): Promise<[A, B]> {
  let chasing: Promise<B> | undefined;
  const done = await transact(db, async (trx) => {
    const result = await first(trx);
    let over = false;
    chasing = second().finally(() => (over = true));
    chasing.catch(() => {});
    while (!(await somebodyWaits(db))) if (over) throw new Error('the second did not wait for the first');
    return result;
  });
  return [done, await chasing!];
}
