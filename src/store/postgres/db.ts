/** The database as statements meet it: transactions, and what Postgres says of itself. Opening it is `open.ts`. */
import { sql, type Kysely, type Transaction } from 'kysely';
import { OAuthError } from '../../protocol/error.ts';
import type { Pool } from './pool.ts';
import type { Database } from './schema.ts';

export type { Connection } from './connection.ts';
export { isUnavailable } from './unavailable.ts';

export type Db = Kysely<Database>;
export type Trx = Transaction<Database>;

/** What a database is made of: its connection pool, and the callback for statements. */
export interface Reach {
  pool: Pool;
  /** Called after every statement with its text, which has places for its parameters, not their values. */
  onStatement?: ((sql: string, ms: number, failed: boolean) => void) | undefined;
}
const reaches = new WeakMap<Db, Reach>();

/** Registers pool and callback of a database that is being opened. */
export const setReach = (db: Db, reach: Reach): void => void reaches.set(db, reach);

/** The pool of a database, for what Kysely cannot do: pipelining, and counting connections. */
export const poolOf = (db: Db): Reach | undefined => reaches.get(db);

/** How many connections a database has open, how many of them idle, and how many requests wait for one. */
export function poolState(db: Db): { total: number; idle: number; waiting: number } {
  const { totalCount = 0, idleCount = 0, waitingCount = 0 } = reaches.get(db)?.pool ?? {};
  return { total: totalCount, idle: idleCount, waiting: waitingCount };
}

/**
 * Runs `work` in a transaction. An OAuthError commits and is thrown on: what a refusal leaves behind (a revoked grant,
 * an audit row) must stand. Anything else rolls back. It begins one and joins none: what is part of another's transaction
 * takes that.
 */
export async function transact<T, Source extends Db>(
  db: Source & (Source extends Trx ? never : unknown),
  work: (trx: Trx) => Promise<T>,
): Promise<T> {
  const outcome = await db.transaction().execute(async (trx) => {
    try {
      return { value: await work(trx) };
    } catch (error) {
      if (error instanceof OAuthError) return { refusal: error };
      throw error;
    }
  });
  if ('refusal' in outcome) throw outcome.refusal;
  return outcome.value;
}

/** The same, but a refusal undoes what was written before it, as any other error does. */
export async function transactOrNothing<T, Source extends Db>(
  db: Source & (Source extends Trx ? never : unknown),
  work: (trx: Trx) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(work);
}

/** Did an insert meet an existing row? Returns the constraint's name. */
export function uniqueViolation(error: unknown): string | undefined {
  const { code, constraint } = (error ?? {}) as { code?: string; constraint?: string };
  return code === '23505' ? (constraint ?? '') : undefined;
}

/** What Postgres calls itself, and as a number: 150004 is 15.4. */
export async function databaseVersion(db: Db): Promise<{ name: string; number: number }> {
  const { rows } = await sql<{ name: string; number: number }>`
    select current_setting('server_version') as name, current_setting('server_version_num')::int as number`.execute(db);
  return rows[0]!;
}

/** How many connections Postgres keeps for all who are no superusers. */
export async function connectionLimit(db: Db): Promise<number> {
  const { rows } = await sql<{ most: number }>`
    select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0) as most`.execute(db);
  return rows[0]!.most;
}

/** The database's own time: what the process clock is disciplined against. */
export async function databaseTime(db: Db): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(db);
  return rows[0]!.at;
}
