/** People: accounts, and the passwords that open them. */
import { sql, type RawBuilder, type Selectable, type Updateable } from 'kysely';
import type { PersonClaims } from '../protocol/claims.ts';
import { foldName, lowerName } from '../protocol/names.ts';
import type { Json, Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import { createdWithin, keysetPage, type CreatedRange, type Keyset, type KeysetPage } from './postgres/listing.ts';
import type { Memberships } from './memberships.ts';
import { secondFactorsOf } from './second-factors.ts';

/** Each row is a `sub` that a person or client has or ever had: none is assigned twice. */
export interface SubjectsTable {
  sub: string;
  kind: 'user' | 'client' | 'server';
}

/** Each row is an account. */
export interface UsersTable {
  sub: string;
  username: string;
  username_folded: string;
  username_casefold: Nullable<string>;
  email: Nullable<string>;
  email_folded: Nullable<string>;
  email_casefold: Nullable<string>;
  email_verified: boolean;
  claims: Json<PersonClaims>;
  disabled_at: Nullable<Date>;
  devices_reset_at: Nullable<Date>;
  /** When it is to be erased, as its person wishes. */
  erase_after: Nullable<Date>;
  created_at: Date;
  updated_at: Date;
}

/** Each row is a person with a password. */
export interface PasswordCredentialsTable {
  sub: string;
  phc: string;
  changed_at: Date;
  /** The same time, where nobody chose it: then it is for a first sign-in. */
  drawn_at: Nullable<Date>;
}

/** Is the password one that was drawn, and nobody has chosen another since? As an expression. */
const isDrawn = sql<boolean>`coalesce(password_credentials.drawn_at = password_credentials.changed_at, false)`;

export type User = Selectable<UsersTable>;

/** One person, enabled or not. */
export const find = (db: Db, sub: string): Promise<User | undefined> =>
  db.selectFrom('users').selectAll().where('sub', '=', sub).executeTakeFirst();

/** The same, with their memberships. */
export async function findWithMemberships(
  db: Db,
  sub: string,
): Promise<(User & { memberships: Memberships }) | undefined> {
  return db
    .selectFrom('users')
    .selectAll()
    .select(sql<Memberships>`memberships_of(users.sub)`.as('memberships'))
    .where('sub', '=', sub)
    .executeTakeFirst();
}

/** The same, held until the transaction ends: for a change that depends on what is there. */
export const findLocked = (trx: Trx, sub: string): Promise<User | undefined> =>
  trx.selectFrom('users').selectAll().where('sub', '=', sub).forNoKeyUpdate().executeTakeFirst();

/** Which of the two a name is: a username holds no `@`, so no name can mean two people. */
const kindOf = (name: string): 'email' | 'username' => (lowerName(name).includes('@') ? 'email' : 'username');

/**
 * Whose name this is, in any case. Where two accounts have one, from a time when only lower case was looked at, each has it in its
 * own lower case.
 */
function isNamed(kind: 'email' | 'username', name: string): RawBuilder<boolean> {
  const [old, column] = [sql.ref(`users.${kind}_folded`), sql.ref(`users.${kind}_casefold`)];
  const [lower, folded] = [lowerName(name), foldName(name)];
  return sql<boolean>`users.sub = coalesce(
    (select sub from users where ${old} = ${lower}),
    (select sub from users where ${column} = ${folded}),
    (select sub from users where ${old} = ${folded}))`;
}

/** By username or e-mail address, in any case. */
export const findByName = (db: Db, name: string): Promise<User | undefined> =>
  db
    .selectFrom('users')
    .selectAll()
    .where(isNamed(kindOf(name), name))
    .executeTakeFirst();

/** Of several who would give a name to a new account at once, lets one go on at a time, until its transaction ends. */
export async function holdName(trx: Trx, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`postern name ${foldName(name)}`}, 0))`.execute(trx);
}

/** An account with its password, in one read. */
export const findForSignIn = (
  db: Db,
  name: string,
): Promise<
  | (User & {
      phc: string | null;
      password_changed_at: Date | null;
      password_drawn: boolean;
      second_factors: string[];
    })
  | undefined
> =>
  db
    .selectFrom('users')
    .leftJoin('password_credentials', 'password_credentials.sub', 'users.sub')
    .selectAll('users')
    .select(['password_credentials.phc', 'password_credentials.changed_at as password_changed_at'])
    .select(isDrawn.as('password_drawn'))
    .select(sql<string[]>`${sql.raw(secondFactorsOf('users.sub').text)}`.as('second_factors'))
    .where(isNamed(kindOf(name), name))
    .executeTakeFirst();

/** The second factors of a person, by name. */
export async function secondFactorsOfPerson(db: Db, sub: string): Promise<string[]> {
  const names = sql<string[]>`${sql.raw(secondFactorsOf('users.sub').text)}`.as('second_factors');
  const row = await db.selectFrom('users').select(names).where('sub', '=', sub).executeTakeFirst();
  return row?.second_factors ?? [];
}

/** The folded forms of somebody's names, as the table keeps them. */
export type FoldedNames = Pick<User, 'username_folded' | 'username_casefold' | 'email_folded' | 'email_casefold'>;

/**
 * Which of these names another account has in a row from before full folding was stored. Names stored since then collide by the
 * unique index.
 */
export async function findTakenNames(
  db: Db,
  sub: string,
  { username_casefold, email_casefold }: FoldedNames,
): Promise<Array<'username' | 'email'>> {
  const { rows } = await sql<{ kind: 'username' | 'email' }>`
    select 'username' as kind from users
    where username_folded = ${username_casefold} and username_casefold is null and sub <> ${sub}
    union all
    select 'email' from users
    where email_folded = ${email_casefold} and email_casefold is null and sub <> ${sub}`.execute(db);
  return rows.map(({ kind }) => kind);
}

/** A page of names that are not plain ASCII and not kept in their full folding, in the order of their owners. */
export async function unfoldedNames(
  db: Db,
  kind: 'username' | 'email',
  limit: number,
  after: string,
): Promise<Array<{ sub: string; name: string }>> {
  const [name, old, column] = [sql.ref(kind), sql.ref(`${kind}_folded`), sql.ref(`${kind}_casefold`)];
  const { rows } = await sql<{ sub: string; name: string }>`
    select sub, ${name} as name from users
    where sub > ${after} and ${column} is null and ${old} ~ '[^ -~]' order by sub limit ${limit}`.execute(db);
  return rows;
}

/** What narrows a list of people: names in any case, and when the account was made. */
export interface UserFilters extends CreatedRange {
  username?: string | undefined;
  email?: string | undefined;
  disabled?: boolean | undefined;
}

/** One page of people. */
export function page(
  db: Db,
  { username, email, disabled, ...range }: UserFilters,
  keyset: Keyset,
): Promise<KeysetPage<User>> {
  let query = createdWithin(db.selectFrom('users').selectAll(), range);
  if (username !== undefined) query = query.where(isNamed('username', username));
  if (email !== undefined) query = query.where(isNamed('email', email));
  if (disabled !== undefined) query = query.where('disabled_at', disabled ? 'is not' : 'is', null);
  return keysetPage(query, keyset);
}

/** Creates an account. False when its `sub` was ever given out. @throws a unique violation for a taken name or address */
export async function insert(trx: Trx, user: User): Promise<boolean> {
  const claimed = await sql`
    insert into subjects (sub, kind) values (${user.sub}, 'user') on conflict do nothing returning sub`.execute(trx);
  if (claimed.rows.length === 0) return false;
  await trx
    .insertInto('users')
    .values({ ...user, claims: JSON.stringify(user.claims) })
    .execute();
  return true;
}

/** Changes the columns named. False when there is no such person. */
export async function update(trx: Trx, sub: string, changes: Updateable<UsersTable>): Promise<boolean> {
  const result = await trx.updateTable('users').set(changes).where('sub', '=', sub).executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Who is to be erased by now, at most so many. */
export async function dueForErasure(db: Db, now: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('users')
    .select('sub')
    .where('erase_after', '<=', now)
    .orderBy('erase_after')
    .limit(limit)
    .execute();
  return rows.map(({ sub }) => sub);
}

/** Deletes a person. False when there is none. */
export async function remove(trx: Trx, sub: string): Promise<boolean> {
  const result = await trx.deleteFrom('users').where('sub', '=', sub).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Stores the hash of a new password, in PHC form. `drawn`: nobody chose it. */
export async function setPassword(
  trx: Db,
  sub: string,
  phc: string,
  changed_at: Date,
  { drawn = false }: { drawn?: boolean } = {},
): Promise<void> {
  const row = { phc, changed_at, drawn_at: drawn ? changed_at : null };
  await trx
    .insertInto('password_credentials')
    .values({ sub, ...row })
    .onConflict((conflict) => conflict.column('sub').doUpdateSet(row))
    .execute();
}

/** When the password was set, of somebody who has one. */
export const passwordChangedAt = async (db: Db, sub: string): Promise<Date | undefined> =>
  (await db.selectFrom('password_credentials').select('changed_at').where('sub', '=', sub).executeTakeFirst())
    ?.changed_at;

/** When the password was set, and whether it was drawn for them, of somebody who has one. */
export const passwordAge = (db: Db, sub: string): Promise<{ changed_at: Date; drawn: boolean } | undefined> =>
  db
    .selectFrom('password_credentials')
    .select(['changed_at', isDrawn.as('drawn')])
    .where('sub', '=', sub)
    .executeTakeFirst();

/** Whether the password of somebody was drawn for them, and they have yet to choose one. */
export const isPasswordDrawn = async (db: Db, sub: string): Promise<boolean> =>
  (await db.selectFrom('password_credentials').select(isDrawn.as('drawn')).where('sub', '=', sub).executeTakeFirst())
    ?.drawn ?? false;

/** The hash of somebody's password: whether it is still the same one. */
export const passwordHashOf = async (db: Db, sub: string): Promise<string | undefined> =>
  (await db.selectFrom('password_credentials').select('phc').where('sub', '=', sub).executeTakeFirst())?.phc;

/** Takes the password away. False when there was none. */
export async function removePassword(trx: Trx, sub: string): Promise<boolean> {
  const result = await trx.deleteFrom('password_credentials').where('sub', '=', sub).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Replaces a hash by a stronger one of the same password, unless the password changed meanwhile. */
export async function rehash(db: Db, sub: string, old: string, phc: string): Promise<void> {
  await db.updateTable('password_credentials').set({ phc }).where('sub', '=', sub).where('phc', '=', old).execute();
}
