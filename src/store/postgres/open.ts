/** Opening the database: a pool of connections, and how patient each of them is. */
import { Kysely, PostgresDialect } from 'kysely';
import { DAY } from '../../protocol/numeric-date.ts';
import type { Connection } from './connection.ts';
import { setReach, type Db, type Reach } from './db.ts';
import { Pool } from './pool.ts';
import type { Database } from './schema.ts';

/** How large a pool of connections is, and how patient. */
export interface PoolOptions extends Pick<Reach, 'onStatement'> {
  max: number;
  /** Called when an idle connection breaks; without a listener that would end the process. */
  onError?: (error: Error) => void;
  /** Called when a statement was given up that Postgres may be at still: could it be told to stop? */
  onAbandoned?: (isCancelled: boolean) => void;
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
const LIFETIME_S = DAY;

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
  setReach(db, { pool, onStatement });
  return db;
}
