import { sql, type Kysely } from 'kysely';

/** Pushed authorization requests (RFC 9126), and the interactions that opened them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pushed_requests (
      expires_bucket integer not null,
      hash bytea not null,
      client_id text not null,
      request jsonb not null,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      used_at timestamptz,
      primary key (expires_bucket, hash)
    )`.execute(db);
  await sql`
    alter table interactions
      add column pushed_bucket integer,
      add column pushed_hash bytea`.execute(db);
  await sql`
    alter table clients add column require_pushed_authorization_requests boolean not null default false`.execute(db);
}
