/** Schema migrations, by Kysely's Migrator under its lock: `dev` and `migrate` apply them, `serve` only checks. */
import { readdir } from 'node:fs/promises';
import type { Migration, Migrator } from 'kysely/migration';
import { sql } from 'kysely';
import type { Db } from './db.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);

/** The names of all that there are. A look at their files: a server that starts need not load what was applied long ago. */
const namesOfAll = async (): Promise<string[]> =>
  (await readdir(FOLDER))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -3))
    .toSorted();

const provider = {
  async getMigrations(): Promise<Record<string, Migration>> {
    const migrations: Record<string, Migration> = {};
    for (const name of await namesOfAll()) {
      migrations[name] = (await import(new URL(`${name}.ts`, FOLDER).href)) as Migration;
    }
    return migrations;
  },
};

async function migratorOf(db: Db): Promise<Migrator> {
  const { Migrator } = await import('kysely/migration');
  return new Migrator({ db, provider });
}

/**
 * Applies what is missing; returns the names applied. Two processes at once: one applies, the other waits and finds
 * nothing.
 */
export async function migrate(db: Db): Promise<string[]> {
  const { error, results = [] } = await (await migratorOf(db)).migrateToLatest();
  if (error !== undefined) throw error;
  return results.map(({ migrationName }) => migrationName);
}

/** Every migration, with whether it has been applied. */
export async function migrationStatus(db: Db): Promise<Array<{ name: string; applied: boolean }>> {
  const migrations = await (await migratorOf(db)).getMigrations();
  return migrations.map(({ name, executedAt }) => ({ name, applied: executedAt !== undefined }));
}

/** Names of migrations that are not applied. A database that is ahead of this code is fine: migrations only expand. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  const known = await namesOfAll();
  const { rows } = await sql<{
    present: boolean;
  }>`select to_regclass('kysely_migration') is not null as present`.execute(db);
  if (!rows[0]!.present) return known;
  const applied = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  const names = new Set(applied.rows.map((row) => row.name));
  return known.filter((name) => !names.has(name));
}
