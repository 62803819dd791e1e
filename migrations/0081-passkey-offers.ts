import { sql, type Kysely } from 'kysely';

/** To whom a request offers a passkey, after they signed in to it by a password in a browser that can make one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table interactions add column passkey_offer_sub text`.execute(db);
}
