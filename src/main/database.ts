/** The database a process works on: the configured one, else our own Postgres on DATA_DIR; and its schema. */
import { Failure } from '../cli/failure.ts';
import { ConfigError, configWith, type Config } from '../config.ts';
import { addressOf } from '../config/database-url.ts';
import type { Deps } from '../deps.ts';
import { attachPostgres, startPostgres, type RunningPostgres } from '../platform/postgres/index.ts';
import type { Connection, Db } from '../store/postgres/db.ts';
import { openDb } from '../store/postgres/open.ts';
import { migrate, MIGRATION_LOCK_MS, pendingMigrations, type OnWait } from '../store/postgres/migrate.ts';
import { NOTICED_WITHIN } from '../store/postgres/noticed.ts';
import { FORGETFUL, poolerOf } from '../store/postgres/pooler.ts';
import { grantServerRights, OwnsTables } from '../store/postgres/server-role.ts';

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
 * @param onLost our own ended, and could not be started again
 * @throws PostgresUnavailable
 */
export async function openDatabase(
  config: Config,
  log: Deps['log'],
  onLaunch = (): void => {},
  onLost?: (error: Error) => void,
): Promise<Database> {
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
    ...(onLost && { revive: { onRevived: () => log.warn('postgres was started again, and nothing is lost'), onLost } }),
  });
  const place = postgres.dataDir;
  const label = `${place} (PostgreSQL ${postgres.version})`;
  return { connection: { ...postgres.connection }, place, label, stop: () => postgres.stop() };
}

/** The same as whoever owns the tables, where that is somebody else than the server. */
export async function openAsOwner(config: Config, log: Deps['log']): Promise<Database> {
  const { MIGRATION_DATABASE_URL: DATABASE_URL } = config;
  return openDatabase(DATABASE_URL === undefined ? config : configWith(config, { DATABASE_URL }), log);
}

/** Migrates, and lets the server in with the rights it needs where it is somebody else. @throws Failure */
export async function migrateAsOwner(
  config: Config,
  { connection }: Database,
  { random, onWait }: Pick<Deps, 'random'> & { onWait: OnWait },
): Promise<string[]> {
  const applied = await migrateWith(connection, onWait);
  const { MIGRATION_DATABASE_URL, DATABASE_URL, AUDIT_RETENTION } = config;
  if (MIGRATION_DATABASE_URL === undefined || DATABASE_URL === undefined) return applied;
  const { user: name, password } = addressOf(DATABASE_URL);
  const db = openDb(connection, { max: 1, lockTimeout: MIGRATION_LOCK_MS });
  try {
    await grantServerRights(db, { name, password, salt: random(16), audit_kept: AUDIT_RETENTION });
  } catch (error) {
    throw error instanceof OwnsTables ? new Failure('configuration', error.message) : error;
  } finally {
    await db.destroy();
  }
  return applied;
}

/** To any of the hosts of a URL. */
export function connectionTo(url: string): Connection {
  const { urls, requires } = addressOf(url);
  const [connectionString, ...others] = urls;
  return { connectionString, others, ...(requires && { requires }) };
}

/** Warns of what a connection pooler makes slower. @throws Failure for one with which nothing works */
export async function checkPooler({ db, log }: Pick<Deps, 'db' | 'log'>): Promise<void> {
  const pooler = await poolerOf(db);
  if (pooler === 'forgetful') throw new Failure('configuration', FORGETFUL);
  if (pooler === 'transaction')
    log.warn(
      `a connection pooler in transaction mode: changes are noticed after ${NOTICED_WITHIN.clients} seconds (docs/production.md#poolers)`,
    );
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
async function migrateWith(connection: Connection, onWait?: OnWait): Promise<string[]> {
  const db = openDb(connection, { max: 1, statementTimeout: 0, lockTimeout: MIGRATION_LOCK_MS, heartbeat: 0 });
  try {
    return await migrate(db, onWait);
  } finally {
    await db.destroy();
  }
}
