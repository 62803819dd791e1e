/** Schema migrations, by Kysely's Migrator under its lock: `dev` and `migrate` apply them, `serve` only checks. */
import { readdir } from 'node:fs/promises';
import { Migrator, type Migration } from 'kysely/migration';
import { sql } from 'kysely';
import type { Db } from './db.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);

const provider = {
  async getMigrations(): Promise<Record<string, Migration>> {
    const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.ts')).toSorted();
    const migrations: Record<string, Migration> = {};
    for (const file of files) {
      migrations[file.slice(0, -3)] = (await import(new URL(file, FOLDER).href)) as Migration;
    }
    return migrations;
  },
};

const migratorOf = (db: Db): Migrator => new Migrator({ db, provider });

/**
 * Applies what is missing; returns the names applied. Two processes at once: one applies, the other waits and finds
 * nothing.
 */
export async function migrate(db: Db): Promise<string[]> {
  const { error, results = [] } = await migratorOf(db).migrateToLatest();
  if (error !== undefined) throw error;
  return results.map(({ migrationName }) => migrationName);
}

/** Every migration, with whether it has been applied. */
export async function migrationStatus(db: Db): Promise<Array<{ name: string; applied: boolean }>> {
  const migrations = await migratorOf(db).getMigrations();
  return migrations.map(({ name, executedAt }) => ({ name, applied: executedAt !== undefined }));
}

/** Names of migrations that are not applied. A database that is ahead of this code is fine: migrations only expand. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  const known = Object.keys(await provider.getMigrations());
  const { rows } = await sql<{
    present: boolean;
  }>`select to_regclass('kysely_migration') is not null as present`.execute(db);
  if (!rows[0]!.present) return known;
  const applied = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  const names = new Set(applied.rows.map((row) => row.name));
  return known.filter((name) => !names.has(name));
}
