import { sql, type Kysely } from 'kysely';

/** How pages look: of the whole server (client_id is null), and of the pages of one client. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table themes (
      client_id text references clients on delete cascade,
      name text,
      color text,
      color_dark text,
      policy_uri text,
      tos_uri text,
      logo_hash text,
      logo_media_type text,
      logo bytea,
      unique nulls not distinct (client_id),
      check ((logo is null) = (logo_hash is null) and (logo is null) = (logo_media_type is null))
    )`.execute(db);
  await sql`create index themes_logo_hash on themes (logo_hash) where logo_hash is not null`.execute(db);
  // Processes keep them, as they keep clients.
  await sql`
    create trigger announce_row after insert or update or delete on themes
      for each row execute function announce_change('clients')`.execute(db);
  await sql`
    insert into scopes (name, description, claims, for_people, for_machines)
    values ('settings:write', 'Change settings of this service', '{}', false, true) on conflict do nothing`.execute(db);
}
