/** One Postgres for the whole run: the launcher's own, or the one TEST_DATABASE_URL names. Migrated once, into a template. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../src/platform/postgres/index.ts';
import type { Connection } from '../../src/store/postgres/db.ts';
import { openDb } from '../../src/store/postgres/open.ts';
import { migrate } from '../../src/store/postgres/migrate.ts';
import { makeKeys } from './made-keys.ts';

declare module 'vitest' {
  interface ProvidedContext {
    database: { connection: Connection; template: string };
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const keys = makeKeys();
  const given = process.env['TEST_DATABASE_URL'];
  const dataDir = mkdtempSync(join(tmpdir(), 'postern-test-'));
  // Postgres runs under another uid than root's, and has to get in.
  chmodSync(dataDir, 0o755);
  const own = given === undefined ? await startPostgres({ dataDir, role: 'server', durable: false }) : undefined;
  const connection: Connection = own ? { ...own.connection } : { connectionString: given! };

  const template = `postern_test_${process.pid}`;
  const admin = openDb(connection, { max: 1, statementTimeout: 0 });
  await sql`create database ${sql.id(template)}`.execute(admin);
  const db = openDb(inDatabase(connection, template), { max: 1, statementTimeout: 0 });
  await migrate(db);
  await db.destroy();
  project.provide('database', { connection, template });
  project.provide('keys', await keys);

  return async () => {
    const { rows } = await sql<{ datname: string }>`
      select datname from pg_database where datname like ${`${template}%`}`.execute(admin);
    for (const { datname } of rows) await sql`drop database if exists ${sql.id(datname)} with (force)`.execute(admin);
    await admin.destroy();
    await own?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}

/** The same server, another database. */
export function inDatabase(connection: Connection, database: string): Connection {
  if (!('connectionString' in connection)) return { ...connection, database };
  const url = new URL(connection.connectionString);
  url.pathname = `/${database}`;
  return { connectionString: url.href };
}
