import { sql, type Kysely } from 'kysely';

/**
 * Rich authorization requests (RFC 9396): the types there are and which clients may ask for, and what was granted of them. Where
 * nothing was, it is null: servers of the version before go on writing.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table authorization_types (
      name text primary key,
      resource text[] not null,
      schema jsonb not null,
      narrowable text[] not null,
      sentence text,
      -- By the tag of their language.
      sentences jsonb not null,
      -- What was granted before is not of this type, but of one that had its name.
      created_at timestamptz not null
    )`.execute(db);
  await sql`alter table clients add column authorization_details_types text[]`.execute(db);
  await sql`alter table grants add column authorization_details jsonb`.execute(db);
  await sql`alter table access_tokens add column authorization_details jsonb`.execute(db);
  await sql`alter table device_codes add column authorization_details jsonb`.execute(db);
  await sql`
    insert into scopes (name, description, claims, for_people, for_machines) values
      ('authorization_types:read', 'See authorization_types of this service', '{}', false, true),
      ('authorization_types:write', 'Change authorization_types of this service', '{}', false, true)
    on conflict do nothing`.execute(db);
}
