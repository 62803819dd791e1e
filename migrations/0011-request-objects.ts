import { sql, type Kysely } from 'kysely';

/** Signed authorization requests (RFC 9101): what a client registers of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table clients
      add column request_uris text[] not null default '{}',
      add column request_object_signing_alg text,
      add column request_object_encryption_alg text,
      add column request_object_encryption_enc text,
      add column require_signed_request_object boolean not null default false`.execute(db);
}
