import { sql, type Kysely } from 'kysely';

/** Providers whose logout tokens do not say that they are one (OpenID Connect Back-Channel Logout §2.4): taken where an operator says so. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table upstreams add column untyped_logout_tokens boolean not null default false`.execute(db);
}
