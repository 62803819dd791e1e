import { sql, type Kysely } from 'kysely';

/**
 * One-time links and six-digit codes, each for one purpose and one person or address. A code is typed on the page that asked for
 * it: that page has a handle of its own, in one browser.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table person_links (
      expires_bucket integer not null,
      hash bytea not null,
      purpose text not null,
      sub text references users on delete cascade,
      email text,
      detail jsonb not null default '{}',
      request_hash bytea,
      browser_hash bytea,
      code_mac bytea,
      attempts integer not null default 0,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      used_at timestamptz,
      primary key (expires_bucket, hash)
    )`.execute(db);
  await sql`
    create unique index person_links_request on person_links (expires_bucket, request_hash)
      where request_hash is not null`.execute(db);
  await sql`create index person_links_sub on person_links (sub) where used_at is null`.execute(db);
}
