import { sql, type Kysely } from 'kysely';

/** The profile that a client has to keep to, such as FAPI 2.0: what contradicts it is refused when it is registered. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table clients add column profile text`.execute(db);
}
