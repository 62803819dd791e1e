import { sql, type Kysely } from 'kysely';

/** Groups of people, and roles at a resource or at the whole server, held by people and by groups. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table groups (
      group_id text primary key,
      name text not null unique,
      description text,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`.execute(db);
  await sql`create index on groups (created_at, group_id)`.execute(db);

  await sql`
    create table group_members (
      group_id text not null references groups on delete cascade,
      sub text not null references users on delete cascade,
      created_at timestamptz not null,
      primary key (group_id, sub)
    )`.execute(db);
  await sql`create index on group_members (sub, group_id)`.execute(db);

  // Without a resource a role is one at the whole server.
  await sql`
    create table roles (
      role_id text primary key,
      resource text references resources on delete cascade,
      name text not null,
      description text,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      unique nulls not distinct (resource, name)
    )`.execute(db);
  await sql`create index on roles (created_at, role_id)`.execute(db);
  await sql`create index on roles (name, role_id)`.execute(db);
  await sql`create index on roles (resource, created_at, role_id)`.execute(db);

  await sql`
    create table role_users (
      role_id text not null references roles on delete cascade,
      sub text not null references users on delete cascade,
      created_at timestamptz not null,
      primary key (role_id, sub)
    )`.execute(db);
  await sql`create index on role_users (sub, role_id)`.execute(db);

  await sql`
    create table role_groups (
      role_id text not null references roles on delete cascade,
      group_id text not null references groups on delete cascade,
      created_at timestamptz not null,
      primary key (role_id, group_id)
    )`.execute(db);
  await sql`create index on role_groups (group_id, role_id)`.execute(db);

  // A function, since a statement that may call it is planned as fast as one that does not: the subqueries would double what
  // the planning of a refresh costs, for everybody.
  await sql`
    create function memberships_of(person text) returns json language plpgsql stable as $$
    begin
      return json_build_object(
        'groups', (
          select coalesce(json_agg(name order by name collate "C"), '[]')
          from group_members m join groups using (group_id) where m.sub = person),
        'roles', (
          select coalesce(
            json_agg(json_build_object('resource', resource, 'name', name) order by name collate "C"), '[]')
          from roles where role_id in (
            select role_id from role_users where role_users.sub = person
            union all
            select role_id from role_groups join group_members m using (group_id) where m.sub = person)));
    end $$`.execute(db);

  // RFC 9068 §2.2.3.1: what an access token for this resource says of the person.
  await sql`
    alter table resources add column claims text[] not null default '{}'
      check (claims <@ array['groups', 'roles'])`.execute(db);

  await sql`
    insert into scopes (name, description, claims, for_people, for_machines) values
      ('roles', 'See the roles you have', '{roles}', true, false),
      ('roles:read', 'See roles of this service', '{}', false, true),
      ('roles:write', 'Change roles of this service', '{}', false, true)
    on conflict do nothing`.execute(db);
}
