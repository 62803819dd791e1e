import { sql, type Kysely } from 'kysely';

/** How clients present themselves: their software and who vouches for it, their logo as we keep it, where sign-in may begin. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table clients
      add column software_id text,
      add column software_version text,
      add column software_statement text,
      add column initiate_login_uri text,
      add column logo_hash text`.execute(db);
  await sql`
    create table client_logos (
      client_id text primary key references clients on delete cascade,
      attempts integer not null default 0,
      next_at timestamptz,
      last_failure text,
      fetched_at timestamptz,
      hash text,
      media_type text,
      image bytea
    )`.execute(db);
  await sql`create index on client_logos (next_at)`.execute(db);
  await sql`create index on client_logos (hash)`.execute(db);
  await sql`
    insert into client_logos (client_id, next_at)
    select client_id, clock_timestamp() from clients where logo_uri is not null`.execute(db);
}
