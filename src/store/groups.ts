/** Groups, and who is in them. */
import { sql, type Selectable } from 'kysely';
import type { Db, Trx } from './db.ts';
import { keysetPage, type Keyset, type KeysetPage } from './listing.ts';
import type { Database } from './schema.ts';

export type Group = Selectable<Database['groups']>;
export type Member = Pick<Selectable<Database['group_members']>, 'sub' | 'created_at'>;

/** One group. */
export const find = (db: Db, group_id: string): Promise<Group | undefined> =>
  db.selectFrom('groups').selectAll().where('group_id', '=', group_id).executeTakeFirst();

/** The same, held until the transaction ends: for a change that depends on what is there. */
export const findLocked = (trx: Trx, group_id: string): Promise<Group | undefined> =>
  trx.selectFrom('groups').selectAll().where('group_id', '=', group_id).forNoKeyUpdate().executeTakeFirst();

/** By the name that tokens carry. */
export const findByName = (db: Db, name: string): Promise<Group | undefined> =>
  db.selectFrom('groups').selectAll().where('name', '=', name).executeTakeFirst();

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

/** Changes what a group is called and said to be. @throws a unique violation for a taken name */
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
}

/**
 * Adds people (each named once) to a group, if all of them exist. Group and people are held: neither goes while the
 * membership is written.
 */
export async function addMembers(trx: Trx, group_id: string, subs: readonly string[], now: Date): Promise<Joined> {
  const { rows } = await sql<Joined>`
    with found as (
      select group_id from groups where group_id = ${group_id} for key share
    ), known as (
      select sub from users where sub = any(${subs}::text[]) order by sub for key share
    ), added as (
      insert into group_members (group_id, sub, created_at)
      select group_id, sub, ${now}::timestamptz from found, known
      where (select count(*) from known) = ${subs.length}
      order by sub
      on conflict do nothing returning sub
    )
    select exists (select from found) as found, array(select sub from known) as known,
      array(select sub from added) as added`.execute(trx);
  return rows[0]!;
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
