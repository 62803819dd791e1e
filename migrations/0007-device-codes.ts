import { sql, type Kysely } from 'kysely';

/** Device codes (RFC 8628), and the interactions in which people decide about them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The bucket is that of the grant which an approval will make: what it gives lives in the same partitions.
  await sql`
    create table device_codes (
      expires_bucket integer not null,
      hash bytea not null,
      user_code_hash bytea not null unique,
      client_id text not null,
      scope text[] not null,
      resource text[] not null,
      poll_interval integer not null,
      polled_at timestamptz,
      grant_id text,
      denied_at timestamptz,
      used_at timestamptz,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      primary key (expires_bucket, hash)
    )`.execute(db);
  await sql`
    alter table interactions
      add column device_bucket integer,
      add column device_hash bytea`.execute(db);
}
