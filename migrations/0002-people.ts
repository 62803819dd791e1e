import { sql, type Kysely } from 'kysely';

/** People, how they prove who they are, and their browsers' sessions. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table users (
      sub text primary key,
      username text not null,
      username_folded text not null unique,
      email text,
      email_folded text unique,
      email_verified boolean not null,
      claims jsonb not null,
      disabled_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`.execute(db);

  await sql`
    create table password_credentials (
      sub text primary key references users on delete cascade,
      phc text not null,
      changed_at timestamptz not null
    )`.execute(db);

  // Guesses of passwords and client secrets, failures only, shared by every process.
  await sql`
    create table failures (
      key text primary key,
      count integer not null,
      last_at timestamptz not null
    )`.execute(db);
  await sql`create index on failures (last_at)`.execute(db);

  await sql`
    create table sessions (
      expires_bucket integer not null,
      hash bytea not null,
      sid text not null,
      kind text not null check (kind in ('browser', 'login')),
      sub text not null,
      auth_time timestamptz not null,
      amr text[] not null,
      acr text not null,
      created_at timestamptz not null,
      seen_at timestamptz not null,
      expires_at timestamptz not null,
      ended_at timestamptz,
      primary key (expires_bucket, hash)
    )`.execute(db);
  await sql`create index on sessions (sid)`.execute(db);
  await sql`create index on sessions (sub)`.execute(db);
}
