import { sql, type Kysely } from 'kysely';

/** The one name that the certificate of a client is for (RFC 8705 §2.1.2). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table clients add column tls_client_auth_subject_dn text, add column tls_client_auth_san_dns text,
      add column tls_client_auth_san_uri text, add column tls_client_auth_san_ip text,
      add column tls_client_auth_san_email text`.execute(db);
}
