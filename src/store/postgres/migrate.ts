/** Schema migrations, by Kysely's Migrator under its lock: `dev` and `migrate` apply them, `serve` only checks. */
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql, type Kysely } from 'kysely';
import type { Migration, MigrationResultSet, Migrator } from 'kysely/migration';
import type { Db } from './db.ts';

/** What a file of migrations/ exports. */
export interface Step extends Migration {
  /**
   * What may take long, beforehand and in no transaction: in batches, each short, while requests go on. It may be begun
   * several times, and `up` finds a database where it has not run at all.
   */
  prepare?(db: Kysely<unknown>): Promise<void>;
}

/** Where migrations come from. */
export interface Steps {
  /** The names of all that there are, in order. */
  names(): Promise<string[]>;
  load(name: string): Promise<Step>;
}

const FOLDER = new URL('../../../migrations/', import.meta.url);

/** The migrations of this version, from the folder migrations/. */
export const FILES: Steps = {
  /** A look at the files: a server that starts need not load what was applied long ago. */
  async names() {
    const files = await readdir(FOLDER);
    return files
      .filter((file) => file.endsWith('.ts'))
      .map((file) => file.slice(0, -3))
      .toSorted();
  },
  load: async (name) => (await import(new URL(`${name}.ts`, FOLDER).href)) as Step,
};

async function migratorOf(db: Db, steps: Steps): Promise<Migrator> {
  const { Migrator } = await import('kysely/migration');
  const provider = {
    async getMigrations(): Promise<Record<string, Migration>> {
      const migrations: Record<string, Migration> = {};
      for (const name of await steps.names()) migrations[name] = await steps.load(name);
      return migrations;
    },
  };
  return new Migrator({ db, provider });
}

/** Milliseconds that a migration waits for a table that others use: requests wait behind it. */
export const MIGRATION_LOCK_MS = 200;
/** Milliseconds between two tries, at first and at most: then those requests have their turn. */
const PAUSES_MS = { first: 200, longest: 3000 };
/** As Kysely's own, which older versions hold for all of their migrations. */
const LOCK_ID = '3853314791062309107';

/** Called with what a migration waits for, each time. */
export type OnWait = (what: string) => void;

/**
 * Applies what is missing; returns the names applied. Each is a transaction of its own, which waits for a table only
 * shortly, is undone, and is tried again. Two processes at once: one applies, the other waits and finds nothing.
 */
export async function migrate(db: Db, onWait: OnWait = () => {}, steps: Steps = FILES): Promise<string[]> {
  return db.connection().execute(async (one) => {
    const locked = sql<{ is: boolean }>`select pg_try_advisory_lock(${sql.lit(LOCK_ID)}::bigint) as is`;
    // Asked again and again: a statement that waits would keep `create index concurrently` of the other waiting.
    for (let pause = PAUSES_MS.first; !(await locked.execute(one)).rows[0]!.is; pause = await rest(pause))
      onWait('another process migrates this database');
    try {
      return await applyAll(one, onWait, steps);
    } finally {
      await sql`select pg_advisory_unlock(${sql.lit(LOCK_ID)}::bigint)`.execute(one);
    }
  });
}

async function applyAll(db: Db, onWait: OnWait, steps: Steps): Promise<string[]> {
  const migrator = await migratorOf(db, steps);
  const pending = await pendingMigrations(db, steps);
  // Nobody uses an empty database.
  const isEmpty = pending.length === (await steps.names()).length;
  if (isEmpty) return namesIn(await migrator.migrateToLatest());
  const applied: string[] = [];
  for (const name of pending) {
    await patiently(db, onWait, async () => (await steps.load(name)).prepare?.(db as unknown as Kysely<unknown>));
    applied.push(...(await patiently(db, onWait, async () => namesIn(await migrator.migrateUp()))));
  }
  return applied;
}

function namesIn({ error, results = [] }: MigrationResultSet): string[] {
  if (error !== undefined) throw error;
  return results.map(({ migrationName }) => migrationName);
}

const LOCK_TIMEOUT = '55P03';

/** Tries until nobody is in the way. */
async function patiently<T>(db: Db, onWait: OnWait, work: () => Promise<T>): Promise<T> {
  for (let pause = PAUSES_MS.first; ; pause = await rest(pause)) {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_TIMEOUT) throw error;
      onWait(`a table is in use; ${await longestOf(db)}`);
    }
  }
}

async function rest(ms: number): Promise<number> {
  await sleep(ms);
  return Math.min(ms * 2, PAUSES_MS.longest);
}

/** Who is most likely in the way. */
async function longestOf(db: Db): Promise<string> {
  const { rows } = await sql<{ pid: number; name: string; seconds: number }>`
    select pid, application_name as name, floor(extract(epoch from clock_timestamp() - xact_start))::int as seconds
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
    order by xact_start limit 1`.execute(db);
  const [longest] = rows;
  if (!longest) return 'whoever had it is gone';
  const { pid, name, seconds } = longest;
  return `the longest transaction is that of ${name === '' ? 'process' : `${name}, process`} ${pid}: ${seconds} s`;
}

/** Every migration, with whether it has been applied. */
export async function migrationStatus(db: Db): Promise<Array<{ name: string; applied: boolean }>> {
  const migrations = await (await migratorOf(db, FILES)).getMigrations();
  return migrations.map(({ name, executedAt }) => ({ name, applied: executedAt !== undefined }));
}

/** Names of migrations that are not applied. A database that is ahead of this code is fine: migrations only expand. */
export async function pendingMigrations(db: Db, steps: Steps = FILES): Promise<string[]> {
  const known = await steps.names();
  const { rows } = await sql<{
    present: boolean;
  }>`select to_regclass('kysely_migration') is not null as present`.execute(db);
  if (!rows[0]!.present) return known;
  const applied = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  const names = new Set(applied.rows.map((row) => row.name));
  return known.filter((name) => !names.has(name));
}
