/** Roles at a resource, or at the whole server, and who holds them: people, and groups for everybody in them. */
import { sql, type Selectable } from 'kysely';
import type { Db, Trx } from './db.ts';
import { keysetPage, type Keyset, type KeysetPage } from './listing.ts';
import type { Database } from './schema.ts';

export type Role = Selectable<Database['roles']>;

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

/** Changes what a role is called and said to be. @throws a unique violation for a taken name */
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
): Promise<KeysetPage<Record<string, unknown>>> {
  return kind === 'users'
    ? keysetPage(db.selectFrom('role_users').select(['sub', 'created_at']).where('role_id', '=', role_id), keyset)
    : keysetPage(
        db.selectFrom('role_groups').select(['group_id', 'created_at']).where('role_id', '=', role_id),
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

/** Gives a role. `found` is whether there are such a role and such a holder; `added`, that it was not held before. */
export async function give(
  trx: Trx,
  kind: HolderKind,
  role_id: string,
  id: string,
  now: Date,
): Promise<{ found: boolean; added: boolean }> {
  const holder = HOLDERS[kind];
  const column = sql.ref(holder.id);
  const { rows } = await sql<{ found: boolean; added: boolean }>`
    with role as (
      select role_id from roles where role_id = ${role_id} for key share
    ), holder as (
      select ${column} from ${sql.table(kind)} where ${column} = ${id} for key share
    ), added as (
      insert into ${sql.table(holder.table)} (role_id, ${column}, created_at)
      select role_id, ${column}, ${now}::timestamptz from role, holder
      on conflict do nothing returning 1
    )
    select exists (select from role, holder) as found, exists (select from added) as added`.execute(trx);
  return rows[0]!;
}

/** Takes a role away. False when it was not held. */
export async function take(trx: Trx, kind: HolderKind, role_id: string, id: string): Promise<boolean> {
  const holder = HOLDERS[kind];
  const { rows } = await sql`
    delete from ${sql.table(holder.table)} where role_id = ${role_id} and ${sql.ref(holder.id)} = ${id}
    returning 1`.execute(trx);
  return rows.length > 0;
}
