import { sql, type Kysely } from 'kysely';

/**
 * What a client is told of people, in which form (OpenID Connect Core §8, §10): signed userinfo, encrypted tokens, a
 * subject of its own. The salt of those subjects must outlive every key, so it is a row, sealed like the private keys.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table clients
      add column userinfo_signed_response_alg text,
      add column id_token_encrypted_response_alg text,
      add column id_token_encrypted_response_enc text,
      add column userinfo_encrypted_response_alg text,
      add column userinfo_encrypted_response_enc text,
      add column subject_type text not null default 'public' check (subject_type in ('public', 'pairwise')),
      add column sector_identifier_uri text`.execute(db);
  await sql`create table salts (name text primary key, fingerprint bytea not null, sealed bytea not null)`.execute(db);
}
