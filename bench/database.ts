/** The Postgres of a run: our own, durable, in a directory that goes with it, with a database for each server. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { startPostgres, type PostgresConnection } from '../src/platform/postgres/index.ts';
import type { Db } from '../src/store/postgres/db.ts';
import { openDb } from '../src/store/postgres/open.ts';
import { migrate } from '../src/store/postgres/migrate.ts';

/** A migrated database. */
export interface Database {
  connection: PostgresConnection;
  /** For processes of their own. */
  url: string;
  db: Db;
}

/** A cluster, and how to make databases in it. */
export interface Cluster {
  version: string;
  create(name: string): Promise<Database>;
  stop(): Promise<void>;
}

/** Starts an empty cluster: fsync, full_page_writes and synchronous_commit are on. */
export async function startCluster(): Promise<Cluster> {
  const directory = mkdtempSync(join(tmpdir(), 'postern-bench-'));
  // Started as root, Postgres runs as somebody else and has to get in.
  chmodSync(directory, 0o711);
  const postgres = await startPostgres({ dataDir: join(directory, 'data'), role: 'server', durable: true });
  const open: Db[] = [];
  const admin = openDb({ ...postgres.connection }, { max: 1, statementTimeout: 0 });
  open.push(admin);
  return {
    version: postgres.version,
    async create(name) {
      const connection = { ...postgres.connection, database: name };
      await sql`create database ${sql.id(name)}`.execute(admin);
      const migrations = openDb(connection, { max: 1, statementTimeout: 0 });
      await migrate(migrations);
      await migrations.destroy();
      const db = openDb(connection, { max: 16, statementTimeout: 0 });
      open.push(db);
      const { host, port, user } = connection;
      return { connection, db, url: `postgres://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}` };
    },
    async stop() {
      await Promise.all(open.map((db) => db.destroy()));
      await postgres.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
