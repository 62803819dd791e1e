/** A database of one's own, copied from the migrated template. */
import { sql } from 'kysely';
import { inject } from 'vitest';
import type { Connection, Db } from '../../src/store/postgres/db.ts';
import { openDb } from '../../src/store/postgres/open.ts';
import { inDatabase } from './global-setup.ts';

export interface TestDatabase {
  connection: Connection;
  /** The same as a URL, for processes of their own. */
  url: string;
  db: Db;
  close(): Promise<void>;
}

let made = 0;

/** Makes a database that nobody else uses; `max` connections. */
export async function createTestDatabase({ max = 10 }: { max?: number } = {}): Promise<TestDatabase> {
  const { connection: server, template } = inject('database');
  const name = `${template}_${process.pid}_${(made += 1)}`;
  const admin = openDb(server, { max: 1, statementTimeout: 0 });
  await sql`create database ${sql.id(name)} template ${sql.id(template)} strategy file_copy`.execute(admin);
  const connection = inDatabase(server, name);
  const db = openDb(connection, { max });
  return {
    connection,
    url: urlOf(connection),
    db,
    async close() {
      await db.destroy();
      await sql`drop database if exists ${sql.id(name)} with (force)`.execute(admin);
      await admin.destroy();
    },
  };
}

function urlOf(connection: Connection): string {
  if ('connectionString' in connection) return connection.connectionString;
  const { host, port, user, database } = connection;
  return `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}
