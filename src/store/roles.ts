/** Roles at a resource, or at the whole server, and who holds them: people, and groups for everybody in them. */
import { sql, type Selectable } from 'kysely';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import { MOST_AT_ONCE } from './memberships.ts';
import { keysetPage, type Keyset, type KeysetPage } from './postgres/listing.ts';

/** Each row is a role. */
export interface RolesTable {
  role_id: string;
  resource: Nullable<string>;
  name: string;
  description: Nullable<string>;
  created_at: Date;
  updated_at: Date;
}

/** Each row is a person who holds a role. */
export interface RoleUsersTable {
  role_id: string;
  sub: string;
  created_at: Date;
}

/** Each row is a group whose members hold a role. */
export interface RoleGroupsTable {
  role_id: string;
  group_id: string;
  created_at: Date;
}

export type Role = Selectable<RolesTable>;

/** One role. */
export const find = (db: Db, role_id: string): Promise<Role | undefined> =>
  db.selectFrom('roles').selectAll().where('role_id', '=', role_id).executeTakeFirst();

/** The same, held until the transaction ends: for a change that depends on what is there. */
export const findLocked = (trx: Trx, role_id: string): Promise<Role | undefined> =>
  trx.selectFrom('roles').selectAll().where('role_id', '=', role_id).forNoKeyUpdate().executeTakeFirst();

/** What a list of roles can be narrowed to. */
interface Filters {
  name?: string | undefined;
  resource?: string | undefined;
  /** Those at the whole server, or all the others. */
  server_wide?: boolean | undefined;
}

/** One page of roles. */
export function page(db: Db, { name, resource, server_wide }: Filters, keyset: Keyset): Promise<KeysetPage<Role>> {
  let query = db.selectFrom('roles').selectAll();
  if (name !== undefined) query = query.where('name', '=', name);
  if (resource !== undefined) query = query.where('resource', '=', resource);
  if (server_wide !== undefined) query = query.where('resource', server_wide ? 'is' : 'is not', null);
  return keysetPage(query, keyset);
}

/** Creates a role. False when there is no such resource. @throws a unique violation for a name taken there */
export async function insert(trx: Trx, { role_id, resource, name, description, created_at }: Role): Promise<boolean> {
  const { rows } = await sql`
    with at as (
      select resource from resources where resource = ${resource} for key share
    )
    insert into roles (role_id, resource, name, description, created_at, updated_at)
    select ${role_id}, ${resource}::text, ${name}, ${description}::text, ${created_at}::timestamptz,
      ${created_at}::timestamptz
    where ${resource}::text is null or exists (select from at) returning role_id`.execute(trx);
  return rows.length > 0;
}

/** Changes name and description of a role. @throws a unique violation for a taken name */
export async function update(
  trx: Trx,
  { role_id, ...changes }: Pick<Role, 'role_id' | 'name' | 'description' | 'updated_at'>,
): Promise<void> {
  await trx.updateTable('roles').set(changes).where('role_id', '=', role_id).execute();
}

/** Deletes a role, whoever holds it; returns it, undefined when there was none. */
export const remove = (trx: Trx, role_id: string): Promise<Role | undefined> =>
  trx.deleteFrom('roles').where('role_id', '=', role_id).returningAll().executeTakeFirst();

/** Who can hold a role: the table that says so, the column with their ids, and the table they are in. */
const HOLDERS = {
  users: { table: 'role_users', id: 'sub' },
  groups: { table: 'role_groups', id: 'group_id' },
} as const;

/** What kind of holder. */
export type HolderKind = keyof typeof HOLDERS;

/** Somebody who holds a role. */
export interface Holder {
  /** A `sub` or a `group_id`. */
  id: string;
  created_at: Date;
}

/** One page of those who hold a role, in the order of their ids. */
export async function pageOfHolders(
  db: Db,
  kind: HolderKind,
  role_id: string,
  keyset: Keyset,
): Promise<KeysetPage<Holder>> {
  return kind === 'users'
    ? keysetPage(
        db.selectFrom('role_users').select(['sub', 'sub as id', 'created_at']).where('role_id', '=', role_id),
        keyset,
      )
    : keysetPage(
        db
          .selectFrom('role_groups')
          .select(['group_id', 'group_id as id', 'created_at'])
          .where('role_id', '=', role_id),
        keyset,
      );
}

/** One of those who hold a role. */
export async function findHolder(db: Db, kind: HolderKind, role_id: string, id: string): Promise<Holder | undefined> {
  const holder = HOLDERS[kind];
  const { rows } = await sql<Holder>`
    select ${sql.ref(holder.id)} as id, created_at from ${sql.table(holder.table)}
    where role_id = ${role_id} and ${sql.ref(holder.id)} = ${id}`.execute(db);
  return rows[0];
}

/** The outcome of assigning a role. */
export interface RoleAssignment {
  /** There are such a role and such a holder. */
  found: boolean;
  /** It was not held before. */
  added: boolean;
  /** The holder has as many other roles as one may have: nothing is to be assigned, and the transaction rolls back. */
  crowded: boolean;
}

/**
 * Assigns a role to a holder of fewer than `most` others. Who else assigns the same holder one waits.
 */
export async function assign(
  trx: Trx,
  kind: HolderKind,
  role_id: string,
  id: string,
  most: number,
  now: Date,
): Promise<RoleAssignment> {
  const holder = HOLDERS[kind];
  const column = sql.ref(holder.id);
  const { rows } = await sql<RoleAssignment & { held: number }>`
    with role as (
      select role_id from roles where role_id = ${role_id} for key share
    ), holder as (
      select ${column} from ${sql.table(kind)} where ${column} = ${id} for no key update
    ), counted as (
      select count(*)::int as held, bool_or(role_id = ${role_id}) as has from ${sql.table(holder.table)}
      where ${column} = ${id}
    ), crowded as (
      select from counted where held >= ${most} and not has
    ), added as (
      insert into ${sql.table(holder.table)} (role_id, ${column}, created_at)
      select role_id, ${column}, ${now}::timestamptz from role, holder where not exists (select from crowded)
      on conflict do nothing returning 1
    )
    select exists (select from role, holder) as found, exists (select from added) as added,
      exists (select from crowded) as crowded, (select held from counted) as held`.execute(trx);
  const { held, ...assignment } = rows[0]!;
  if (!assignment.added || held + MOST_AT_ONCE < most) return assignment;
  const { rows: again } = await sql<{ crowded: boolean }>`
    select count(*) > ${most} as crowded from ${sql.table(holder.table)} where ${column} = ${id}`.execute(trx);
  return { ...assignment, ...again[0]! };
}

/** Takes a role away. False when it was not held. */
export async function unassign(trx: Trx, kind: HolderKind, role_id: string, id: string): Promise<boolean> {
  const holder = HOLDERS[kind];
  const { rows } = await sql`
    delete from ${sql.table(holder.table)} where role_id = ${role_id} and ${sql.ref(holder.id)} = ${id}
    returning 1`.execute(trx);
  return rows.length > 0;
}
