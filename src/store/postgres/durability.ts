/** Whether a committed answer can be lost, by this machine or when a standby takes over. */
import { sql } from 'kysely';
import type { Db } from './db.ts';

/** As Postgres is set. */
export interface Durability {
  standby: boolean;
  read_only: boolean;
  synchronous_commit: string;
  fsync: boolean;
  /** Who has to have received a commit before it is one; empty is nobody. */
  synchronous_standby_names: string;
  /** How many receive what is written now. */
  standbys: number;
}

/** Of the Postgres that is asked, for the role that asks. */
export async function durabilityOf(db: Db): Promise<Durability> {
  const { rows } = await sql<Durability>`
    select pg_is_in_recovery() as standby, current_setting('transaction_read_only')::boolean as read_only,
      current_setting('synchronous_commit') as synchronous_commit, current_setting('fsync')::boolean as fsync,
      current_setting('synchronous_standby_names') as synchronous_standby_names,
      (select count(*)::int from pg_stat_replication) as standbys`.execute(db);
  return rows[0]!;
}
