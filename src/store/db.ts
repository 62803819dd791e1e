/** Postgres itself: the database, transactions, and what it says of itself. */
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import { OAuthError } from '../protocol/error.ts';
import type { Connection } from './connection.ts';
import { Pool } from './pool.ts';
import type { Database } from './schema.ts';

export type { Connection } from './connection.ts';
export { isUnavailable } from './unavailable.ts';

export type Db = Kysely<Database>;
export type Trx = Transaction<Database>;

/** How large a pool of connections is, and how patient. */
export interface PoolOptions {
  max: number;
  /** Called when an idle connection breaks; without a listener that would end the process. */
  onError?: (error: Error) => void;
  /** Called when a statement was given up that Postgres may be at still: could it be told to stop? */
  onAbandoned?: (isCancelled: boolean) => void;
  /** Called after every statement with its text, which has places for its parameters, not their values. */
  onStatement?: ((sql: string, ms: number, failed: boolean) => void) | undefined;
  /** Milliseconds until a connection has to be there. */
  connectTimeout?: number;
  /** Milliseconds a statement may take; 0 is no limit (migrations). */
  statementTimeout?: number;
  /** Milliseconds a statement may wait for somebody's lock: a part of what it may take, where nothing is said. */
  lockTimeout?: number;
  /** Milliseconds after which an idle connection is looked at; 0 is never. */
  heartbeat?: number;
  /** Seconds after which a connection is replaced by a new one. */
  lifetime?: number;
}

// Together they bound how long a request waits for a database that hangs: 503 within 3 s.
const CONNECT_TIMEOUT_MS = 1000;
const STATEMENT_TIMEOUT_MS = 2000;
/** The part of a statement's time that it may wait for a lock. */
const LOCK_PART = 4;
const HEARTBEAT_MS = 5000;
// What a connection has prepared for days that are over goes with it.
const LIFETIME_S = 86_400;

/** Opens a pool. No connection is made until the first statement. */
export function openDb(connection: Connection, options: PoolOptions): Db {
  const { max, onError, onStatement, statementTimeout: statement = STATEMENT_TIMEOUT_MS } = options;
  const pool = new Pool(connection, {
    max,
    connect: options.connectTimeout ?? CONNECT_TIMEOUT_MS,
    statement,
    lock: options.lockTimeout ?? Math.ceil(statement / LOCK_PART),
    heartbeat: options.heartbeat ?? HEARTBEAT_MS,
    lifetime: options.lifetime ?? LIFETIME_S,
    onError: onError ?? (() => {}),
    onAbandoned: options.onAbandoned ?? (() => {}),
  });
  const db = new Kysely<Database>({
    dialect: new PostgresDialect({ pool }),
    ...(onStatement && {
      log: ({ level, query, queryDurationMillis }) => onStatement(query.sql, queryDurationMillis, level === 'error'),
    }),
  });
  reaches.set(db, { pool, onStatement });
  return db;
}

/** What lies beneath a database: its connections, and who is told of statements. */
interface Reach {
  pool: Pool;
  onStatement: PoolOptions['onStatement'];
}
const reaches = new WeakMap<Db, Reach>();

/** For what Kysely has no way to ask. */
export const poolOf = (db: Db): Reach | undefined => reaches.get(db);

/** How many connections a database has open, how many of them idle, and how many requests wait for one. */
export function poolState(db: Db): { total: number; idle: number; waiting: number } {
  const { totalCount = 0, idleCount = 0, waitingCount = 0 } = reaches.get(db)?.pool ?? {};
  return { total: totalCount, idle: idleCount, waiting: waitingCount };
}

/**
 * Runs `work` in a transaction. An OAuthError commits and is thrown on: what a refusal leaves behind (a revoked grant,
 * an audit row) must stand. Anything else rolls back. Inside a transaction it joins that one, whose owner decides.
 */
export async function transact<T>(db: Db | Trx, work: (trx: Trx) => Promise<T>): Promise<T> {
  if (isTransaction(db)) return work(db);
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

const isTransaction = (db: Db | Trx): db is Trx => db.isTransaction;

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
