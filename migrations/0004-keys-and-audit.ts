import { sql, type Kysely } from 'kysely';

/** What we sign with, and what happened. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table signing_keys (
      kid text primary key,
      alg text not null,
      public_jwk jsonb not null,
      sealed_private_key bytea not null,
      created_at timestamptz not null,
      activates_at timestamptz not null,
      retired_at timestamptz
    )`.execute(db);

  await sql`
    create table audit_events (
      event_id bigint generated always as identity primary key,
      at timestamptz not null,
      event text not null,
      sub text,
      client_id text,
      actor text,
      ip text,
      request_id text,
      detail jsonb not null
    )`.execute(db);
  await sql`create index on audit_events (at)`.execute(db);
  await sql`create index on audit_events (sub, at)`.execute(db);
  await sql`create index on audit_events (client_id, at)`.execute(db);
}
