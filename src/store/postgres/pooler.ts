/** Detects a pooler between us and Postgres (PgBouncer and its like), and in which mode it pools. */
import type { Session } from './connection.ts';
import { poolOf, type Db } from './db.ts';

/**
 * `session`: a connection to Postgres is ours as long as we keep ours. `transaction`: the next transaction may have another
 * one, on which the pooler prepares statements again. `forgetful`: or does not, and then nothing works.
 */
export type Pooler = 'none' | 'session' | 'transaction' | 'forgetful';

/** What to do about one with which a server cannot work. */
export const FORGETFUL =
  'the connection pooler before Postgres loses prepared statements: run it in session mode, or take PgBouncer 1.21 or newer with max_prepared_statements above 0';

/** Others may take the connection that is looked for. */
const TRIES = 3;
/** A prepared statement is not there, is there already, or the pooler has none at all. */
const LOST = new Set(['26000', '42P05', '08P01']);

/** Looks at two connections. Where there is no pooler that costs nothing. */
export async function poolerOf(db: Db): Promise<Pooler> {
  const pool = poolOf(db)!.pool;
  const first = await pool.connect();
  if (!(first as unknown as Session).isPooled) {
    first.release();
    return 'none';
  }
  const second = await pool.connect();
  const backend = { name: 'p_pooler', text: 'select pg_backend_pid() as pid' };
  const pidOf = async (client: typeof first): Promise<number> =>
    (await client.query<{ pid: number }>(backend)).rows[0]!.pid;
  try {
    for (let tried = 0; tried < TRIES; tried += 1) {
      const before = await pidOf(first);
      await second.query('begin');
      // It holds what the first has given back, if that was given back.
      const held = (await second.query<{ pid: number }>(backend.text)).rows[0]!.pid;
      const after = await pidOf(first);
      await second.query('rollback');
      if (held === before || after !== before) return 'transaction';
    }
    return 'session';
  } catch (error) {
    if (LOST.has(String((error as { code?: unknown }).code))) return 'forgetful';
    throw error;
  } finally {
    // Nobody else is to have a transaction of theirs.
    first.release(true);
    second.release(true);
  }
}
