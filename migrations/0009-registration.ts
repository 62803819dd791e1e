import { sql, type Kysely } from 'kysely';

/** Dynamic registration (RFC 7591, RFC 7592): who registered a client, and the tokens that let others register. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table clients
      add column registered_by text not null default 'operator' check (registered_by in ('operator', 'self')),
      add column registration_token_hash bytea,
      add column last_used_at timestamptz`.execute(db);
  await sql`
    create table initial_access_tokens (
      token_id text primary key,
      hash bytea not null unique,
      label text,
      uses_left integer not null,
      created_at timestamptz not null,
      expires_at timestamptz not null
    )`.execute(db);
}
