/** Postgres itself: the pool, transactions, and telling a database that is away from one that says no. */
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import pg from 'pg';
import { OAuthError } from '../protocol/error.ts';
import type { Database } from './schema.ts';

export type Db = Kysely<Database>;
export type Trx = Transaction<Database>;

/** Where the database is: a URL, or a unix socket directory. */
export type Connection = { connectionString: string } | { host: string; port: number; user: string; database: string };

/** How large a pool of connections is, and how patient. */
export interface PoolOptions {
  max: number;
  /** Called when an idle connection breaks; without a listener that would end the process. */
  onError?: (error: Error) => void;
  /** Called after every statement with its text, which has places for its parameters, not their values. */
  onStatement?: ((sql: string, ms: number, failed: boolean) => void) | undefined;
  /** Milliseconds a statement may take; 0 is no limit (migrations). */
  statementTimeout?: number;
}

// Together they bound how long a request waits for a database that hangs: 503 within 3 s.
const ACQUIRE_TIMEOUT_MS = 1000;
const STATEMENT_TIMEOUT_MS = 2000;

/** Opens a pool. No connection is made until the first statement. */
export function openDb(connection: Connection, options: PoolOptions): Db {
  const timeout = options.statementTimeout ?? STATEMENT_TIMEOUT_MS;
  const pool = new pg.Pool({
    ...connection,
    max: options.max,
    connectionTimeoutMillis: ACQUIRE_TIMEOUT_MS,
    idleTimeoutMillis: 30_000,
    // What a connection has prepared for days that are over goes with it.
    maxLifetimeSeconds: 86_400,
    keepAlive: true,
    application_name: 'postern',
    ...(timeout > 0
      ? // The server's own limit frees its locks; ours also ends the wait when the server itself is stopped.
        { statement_timeout: timeout, query_timeout: timeout + 250, idle_in_transaction_session_timeout: 5000 }
      : {}),
  });
  pool.on('error', options.onError ?? (() => {}));
  // A connection that breaks in use may say so twice: first to its query, then to nobody, which would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  const { onStatement } = options;
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
  pool: pg.Pool;
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

const UNAVAILABLE_CLASSES = [
  '08', // connection exceptions
  '53', // insufficient resources: disk full, too many connections
  '57', // operator intervention: shutting down, cancelled by statement_timeout
  '58', // system errors: I/O
];
const UNAVAILABLE_CODES = new Set([
  '25006', // read-only: a standby, or a full disk
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock_timeout
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENOTFOUND',
]);
// What pg says without a code.
const UNAVAILABLE_MESSAGE =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error|not queryable|Cannot use a pool after calling end|driver has already been destroyed/;

/** Is this the database being away (answer 503 and try again), as opposed to a defect of ours (500)? */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') {
    if (UNAVAILABLE_CODES.has(code)) return true;
    if (/^[0-9A-Z]{5}$/.test(code) && UNAVAILABLE_CLASSES.includes(code.slice(0, 2))) return true;
  }
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  return UNAVAILABLE_MESSAGE.test(error.message);
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
