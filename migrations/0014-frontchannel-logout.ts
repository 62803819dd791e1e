import { sql, type Kysely } from 'kysely';

/** Front-channel logout: the page of a client that is told in a frame, and what the page after a sign-out has to show. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table clients
      add column frontchannel_logout_uri text,
      add column frontchannel_logout_session_required boolean not null default false`.execute(db);
  await sql`
    create table sign_outs (
      expires_bucket integer not null,
      hash bytea not null,
      browser_hash bytea not null,
      sids text[] not null,
      client_id text,
      return_to text,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      primary key (expires_bucket, hash)
    )`.execute(db);
}
