/** Can the database serve? Asked on a connection of its own: neither a locked table nor a busy pool keeps the answer. */
import { sql } from 'kysely';
import type { Connection } from './db.ts';
import { openDb } from './open.ts';
import { pendingMigrations } from './migrate.ts';

/** What keeps a database from serving. `error` says why it did not answer. */
type Hindrance = { why: 'away'; error: unknown } | { why: 'read-only' | 'behind' };

/** Asks whether the database can serve. */
export interface Probe {
  /** What keeps it from serving; undefined when nothing does. Answers within a second and never throws. */
  ask(): Promise<Hindrance | undefined>;
  close(): Promise<void>;
}

/** Milliseconds that whoever asks waits. */
const PATIENCE_MS = 700;
const CONNECT_MS = 600;
const STATEMENT_MS = 500;
/** Seconds after which a new connection is made: what a database allows may have changed for new ones only. */
const LIFETIME_S = 30;

/** A probe of a database. It connects when it is first asked. */
export function createProbe(connection: Connection): Probe {
  const db = openDb(connection, {
    max: 1,
    connectTimeout: CONNECT_MS,
    statementTimeout: STATEMENT_MS,
    lifetime: LIFETIME_S,
    heartbeat: 0,
  });
  let migrated = false;
  let asking: Promise<Hindrance | undefined> | undefined;

  async function check(): Promise<Hindrance | undefined> {
    // A standby, one that was set so, or one whose disk is full by its operator's word.
    const { rows } = await sql<{ read_only: boolean }>`
      select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as read_only`.execute(db);
    if (rows[0]!.read_only) return { why: 'read-only' };
    // Migrations only go forward: what was applied once is not asked for again.
    migrated ||= (await pendingMigrations(db)).length === 0;
    return migrated ? undefined : { why: 'behind' };
  }

  return {
    async ask() {
      // However many want to know, there is one question at a time.
      asking ??= check()
        .catch((error: unknown): Hindrance => ({ why: 'away', error }))
        .finally(() => (asking = undefined));
      const { promise: late, resolve } = Promise.withResolvers<Hindrance>();
      const error = new Error('the database did not answer in time');
      const timer = setTimeout(() => resolve({ why: 'away', error }), PATIENCE_MS);
      const answer = await Promise.race([asking, late]);
      clearTimeout(timer);
      return answer;
    },
    close: () => db.destroy(),
  };
}
