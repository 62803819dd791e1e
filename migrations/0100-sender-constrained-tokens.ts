import { sql, type Kysely } from 'kysely';

/**
 * Tokens that only the holder of a key may use: what a token is bound to (`cnf`, RFC 7800) stands beside its hash, and the key
 * that a code was asked for with (RFC 9449 §10) beside the code's. A client says that all its tokens are such, or must sign our nonces.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table clients add column dpop_bound_access_tokens boolean not null default false,
      add column require_dpop_nonce boolean not null default false`.execute(db);
  await sql`alter table authorization_codes add column dpop_jkt text`.execute(db);
  await sql`alter table refresh_tokens add column cnf jsonb`.execute(db);
  await sql`alter table access_tokens add column cnf jsonb`.execute(db);
}
