/** The database a process works on: the configured one, else our own Postgres on DATA_DIR; and its schema. */
import { ConfigError, type Config } from '../config.ts';
import { addressOf } from '../config/database-url.ts';
import type { Deps } from '../deps.ts';
import { attachPostgres, startPostgres, type RunningPostgres } from '../platform/postgres/index.ts';
import { openDb, type Connection, type Db } from '../store/db.ts';
import { migrate, MIGRATION_LOCK_MS, pendingMigrations, type OnWait } from '../store/migrate.ts';

/** A database to work on, and how to let go of it. */
export interface Database {
  connection: Connection;
  /** For people: where the data is. */
  place: string;
  /** The same with the version, where it is known. */
  label: string;
  stop(): Promise<void>;
}

/**
 * The configured database, else our own Postgres on DATA_DIR.
 * @param onLaunch our own was started, and takes a while to answer
 * @throws PostgresUnavailable
 */
export async function openDatabase(config: Config, log: Deps['log'], onLaunch = (): void => {}): Promise<Database> {
  if (config.DATABASE_URL !== undefined) {
    const place = `postgres at ${addressOf(config.DATABASE_URL).place}`;
    return { connection: connectionTo(config.DATABASE_URL), place, label: place, stop: async () => {} };
  }
  const own = config.mode === 'command' ? attachPostgres : startPostgres;
  const postgres: RunningPostgres = await own({
    dataDir: config.DATA_DIR,
    role: config.mode === 'command' ? 'command' : 'server',
    onLaunch,
    onLog: (line) => log.debug({ postgres: line }, 'postgres'),
    onExit: (detail) => log.error({ detail }, 'postgres stopped unexpectedly'),
  });
  const place = postgres.dataDir;
  const label = `${place} (PostgreSQL ${postgres.version})`;
  return { connection: { ...postgres.connection }, place, label, stop: () => postgres.stop() };
}

/** To any of the hosts of a URL. */
export function connectionTo(url: string): Connection {
  const { urls, wants } = addressOf(url);
  const [connectionString, ...others] = urls;
  return { connectionString, others, ...(wants && { wants }) };
}

/** `dev` migrates; `serve` only checks, since several of them may start beside an older one. @throws ConfigError */
export async function prepareSchema(config: Config, connection: Connection, db: Db): Promise<void> {
  const isOurs = config.mode === 'command' && config.DATABASE_URL === undefined;
  const pending = await pendingMigrations(db);
  if (pending.length > 0 && (config.mode === 'dev' || isOurs)) await migrateWith(connection);
  else if (pending.length > 0) {
    throw new ConfigError([`the database lacks ${pending.length} migrations: run \`postern migrate\` first`]);
  }
}

/** Migrations get a connection of their own: they may take longer than any request. */
export async function migrateWith(connection: Connection, onWait?: OnWait): Promise<string[]> {
  const db = openDb(connection, { max: 1, statementTimeout: 0, lockTimeout: MIGRATION_LOCK_MS, heartbeat: 0 });
  try {
    return await migrate(db, onWait);
  } finally {
    await db.destroy();
  }
}
