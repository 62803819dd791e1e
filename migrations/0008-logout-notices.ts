import { sql, type Kysely } from 'kysely';

/** Back-channel logout: where clients want to be told, and the outbox of what they have not been told yet. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table clients
      add column backchannel_logout_uri text,
      add column backchannel_logout_session_required boolean not null default false`.execute(db);
  await sql`
    create table logout_notices (
      notice_id bigint generated always as identity primary key,
      client_id text not null references clients on delete cascade,
      sub text not null,
      sid text not null,
      attempts integer not null default 0,
      next_at timestamptz not null,
      dead_at timestamptz,
      last_failure text,
      created_at timestamptz not null
    )`.execute(db);
  await sql`create index on logout_notices (next_at) where dead_at is null`.execute(db);
}
