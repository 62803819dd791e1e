import { sql, type Kysely } from 'kysely';

/** Clients say how their authorization responses are signed and encrypted (JARM §3). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table clients
      add column authorization_signed_response_alg text,
      add column authorization_encrypted_response_alg text,
      add column authorization_encrypted_response_enc text`.execute(db);
}
