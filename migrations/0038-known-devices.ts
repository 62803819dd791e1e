import { sql, type Kysely } from 'kysely';

/** Since when no browser that signed in before counts as known: what ends everything of a person ends that too. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table users add column devices_reset_at timestamptz`.execute(db);
}
