/** A migration meets a `pg_dump`: it wants the tables that tokens are in, and the dump has them for a long time. */
import { sql } from 'kysely';
import pg from 'pg';
import { openDb } from '../../../src/store/postgres/open.ts';
import { FILES, migrate, MIGRATION_LOCK_MS, type Steps } from '../../../src/store/postgres/migrate.ts';
import { sleep, type Fault } from '../fault.ts';
import { startNode, type PostgresNode } from '../node.ts';

const TABLES = ['grants', 'refresh_tokens', 'access_tokens', 'authorization_codes', 'sessions'];
const NEW = '9999-of-the-drill';

/** The migrations there are, and one more that needs each of the tables for itself. */
const STEPS: Steps = {
  names: async () => [...(await FILES.names()), NEW],
  load: async (name) =>
    name === NEW
      ? {
          async up(db) {
            for (const table of TABLES) await sql`alter table ${sql.table(table)} add column drill int`.execute(db);
          },
        }
      : FILES.load(name),
};

async function migrateBehindDump(node: PostgresNode, seconds: number): Promise<void> {
  const dump = new pg.Client({ connectionString: node.url });
  await dump.connect();
  await dump.query(`begin; lock table ${TABLES.join(', ')} in access share mode`);
  const db = openDb({ connectionString: node.url }, { max: 1, statementTimeout: 0, lockTimeout: MIGRATION_LOCK_MS });
  const migrated = migrate(db, () => {}, STEPS);
  await sleep(seconds);
  await dump.query('commit');
  await dump.end();
  const applied = await migrated;
  await db.destroy();
  if (applied.join() !== NEW) throw new Error(`migrated ${applied.join()}`);
}

export const blockedMigration: Fault = {
  sentence: 'a migration wants the tables that tokens are in, which a pg_dump reads',
  seconds: 15,
  async open() {
    const node = await startNode();
    return {
      node,
      url: node.url,
      strike: (_deployment, seconds) => migrateBehindDump(node, seconds),
      close: () => node.close(),
    };
  },
};
