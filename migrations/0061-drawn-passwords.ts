import { sql, type Kysely } from 'kysely';

/**
 * A password that was drawn for an operator is for a first sign-in, and for some days. It is one while `drawn_at` is the time at which
 * the password was set: a server of the version before, which sets another, leaves this as it is.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table password_credentials add column drawn_at timestamptz`.execute(db);
}
