import { sql, type Kysely } from 'kysely';

/** A client says that its tokens are bound to the certificate that it connects with (RFC 8705 §3.4). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table clients add column tls_client_certificate_bound_access_tokens boolean not null default false`.execute(
    db,
  );
}
