import { sql, type Kysely } from 'kysely';

/** Clients with keys of their own: what they sign their assertions with (RFC 7523). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table clients
      add column jwks jsonb,
      add column jwks_uri text,
      add column token_endpoint_auth_signing_alg text`.execute(db);
}
