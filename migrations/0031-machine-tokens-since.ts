import { sql, type Kysely } from 'kysely';

/** What a client got for itself before it lost a secret, or a key, counts for nothing. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table clients add column machine_tokens_since timestamptz not null default to_timestamp(0)`.execute(db);
}
