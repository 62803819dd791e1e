/** Groups, and who is in them. */
import { sql, type Selectable } from 'kysely';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import { MOST_AT_ONCE } from './memberships.ts';
import { keysetPage, type Keyset, type KeysetPage } from './postgres/listing.ts';

/** Each row is a group. */
export interface GroupsTable {
  group_id: string;
  name: string;
  description: Nullable<string>;
  created_at: Date;
  updated_at: Date;
}

/** Each row is a person in a group. */
export interface GroupMembersTable {
  group_id: string;
  sub: string;
  created_at: Date;
}

export type Group = Selectable<GroupsTable>;
export type Member = Pick<Selectable<GroupMembersTable>, 'sub' | 'created_at'>;

/** One group. */
export const find = (db: Db, group_id: string): Promise<Group | undefined> =>
  db.selectFrom('groups').selectAll().where('group_id', '=', group_id).executeTakeFirst();

/** Those of these names that there are. */
export const findNamed = (db: Db, names: readonly string[]): Promise<Array<Pick<Group, 'group_id' | 'name'>>> =>
  db.selectFrom('groups').select(['group_id', 'name']).where('name', 'in', names).orderBy('group_id').execute();

/** The same, held until the transaction ends: for a change that depends on what is there. */
export const findLocked = (trx: Trx, group_id: string): Promise<Group | undefined> =>
  trx.selectFrom('groups').selectAll().where('group_id', '=', group_id).forNoKeyUpdate().executeTakeFirst();

/** One page of groups; with `sub`, of those that this person is in. */
export function page(
  db: Db,
  { name, sub }: { name?: string | undefined; sub?: string | undefined },
  keyset: Keyset,
): Promise<KeysetPage<Group>> {
  let query = db.selectFrom('groups').selectAll();
  if (name !== undefined) query = query.where('name', '=', name);
  if (sub !== undefined) {
    const theirs = db.selectFrom('group_members').select('group_id').where('sub', '=', sub);
    query = query.where('group_id', 'in', theirs);
  }
  return keysetPage(query, keyset);
}

/** Creates a group. @throws a unique violation for a taken name */
export async function insert(trx: Trx, group: Group): Promise<void> {
  await trx.insertInto('groups').values(group).execute();
}

/** Changes name and description of a group. @throws a unique violation for a taken name */
export async function update(trx: Trx, { group_id, ...changes }: Omit<Group, 'created_at'>): Promise<void> {
  await trx.updateTable('groups').set(changes).where('group_id', '=', group_id).execute();
}

/** Deletes a group with its memberships; returns it, undefined when there was none. */
export const remove = (trx: Trx, group_id: string): Promise<Group | undefined> =>
  trx.deleteFrom('groups').where('group_id', '=', group_id).returningAll().executeTakeFirst();

/** One page of a group's members. */
export const pageOfMembers = (db: Db, group_id: string, keyset: Keyset): Promise<KeysetPage<Member>> =>
  keysetPage(db.selectFrom('group_members').select(['sub', 'created_at']).where('group_id', '=', group_id), keyset);

/** One member. */
export const findMember = (db: Db, group_id: string, sub: string): Promise<Member | undefined> =>
  db
    .selectFrom('group_members')
    .select(['sub', 'created_at'])
    .where('group_id', '=', group_id)
    .where('sub', '=', sub)
    .executeTakeFirst();

/** What became of people who were to join: who was not in before, and who there is at all. */
export interface Joined {
  /** There is such a group. */
  found: boolean;
  known: string[];
  added: string[];
  /** Those of them who are in as many other groups as one may be: then nobody is to be added, and the transaction rolls back. */
  crowded: string[];
}

/**
 * Adds people (each named once) to a group, if all of them exist and none is in `most` others. Group and people are held:
 * neither goes while the membership is written, and who else adds one of these people waits.
 */
export async function addMembers(
  trx: Trx,
  group_id: string,
  subs: readonly string[],
  most: number,
  now: Date,
): Promise<Joined> {
  const { rows } = await sql<Joined & { held: number }>`
    with found as (
      select group_id from groups where group_id = ${group_id} for key share
    ), known as (
      select sub from users where sub = any(${subs}::text[]) order by sub for no key update
    ), counted as (
      select sub, count(*)::int as held, bool_or(group_id = ${group_id}) as has from group_members
      where sub = any(${subs}::text[]) group by sub
    ), crowded as (
      select sub from counted where held >= ${most} and not has
    ), added as (
      insert into group_members (group_id, sub, created_at)
      select group_id, sub, ${now}::timestamptz from found, known
      where (select count(*) from known) = ${subs.length} and not exists (select from crowded)
      order by sub
      on conflict do nothing returning sub
    )
    select exists (select from found) as found, array(select sub from known) as known,
      array(select sub from added) as added, array(select sub from crowded) as crowded,
      coalesce((select max(held) from counted), 0) as held`.execute(trx);
  const { held, ...joined } = rows[0]!;
  if (joined.added.length === 0 || held + MOST_AT_ONCE < most) return joined;
  const { rows: crowded } = await sql<{ sub: string }>`
    select sub from group_members where sub = any(${joined.added}::text[])
    group by sub having count(*) > ${most}`.execute(trx);
  return { ...joined, crowded: crowded.map(({ sub }) => sub) };
}

/** Takes a person out of a group. False when they were not in it. */
export async function removeMember(trx: Trx, group_id: string, sub: string): Promise<boolean> {
  const result = await trx
    .deleteFrom('group_members')
    .where('group_id', '=', group_id)
    .where('sub', '=', sub)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}
