/** Passkeys: the public halves of what people sign in with, and by which handle authenticators know each of them. */
import { sql, type ColumnType, type Selectable } from 'kysely';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import type { User } from './users.ts';

/** Each row is a person that authenticators may know. */
export interface PasskeyPeopleTable {
  sub: string;
  user_handle: Buffer;
  declined_at: Nullable<Date>;
}

/** Each row is a passkey. */
export interface PasskeysTable {
  credential_id: Buffer;
  passkey_id: string;
  sub: string;
  public_key: Buffer;
  sign_count: ColumnType<string, number, number>;
  backup_eligible: boolean;
  backed_up: boolean;
  user_verified: boolean;
  aaguid: string;
  transports: string[];
  name: string;
  created_at: Date;
  last_used_at: Nullable<Date>;
}

type Row = Selectable<PasskeysTable>;
export type Passkey = Omit<Row, 'sign_count'> & { sign_count: number };

/** A passkey with whose it is, and what decides whether they may sign in. */
export type PasskeyOf = Passkey &
  Pick<User, 'username' | 'email' | 'disabled_at' | 'devices_reset_at'> & {
    user_handle: Buffer;
    password_changed_at: Date | null;
  };

/** The passkey that an authenticator names, with its person, enabled or not. */
export async function findWithPerson(db: Db, credential_id: Buffer): Promise<PasskeyOf | undefined> {
  const found = await db
    .selectFrom('passkeys')
    .innerJoin('users', 'users.sub', 'passkeys.sub')
    .innerJoin('passkey_people', 'passkey_people.sub', 'passkeys.sub')
    .leftJoin('password_credentials', 'password_credentials.sub', 'passkeys.sub')
    .selectAll('passkeys')
    .select(['users.username', 'users.email', 'users.disabled_at', 'users.devices_reset_at'])
    .select(['passkey_people.user_handle', 'password_credentials.changed_at as password_changed_at'])
    .where('passkeys.credential_id', '=', credential_id)
    .executeTakeFirst();
  return found && counted(found);
}

// A bigint comes as text; a count has 32 bits.
const counted = <One extends Row>(row: One): Omit<One, 'sign_count'> & { sign_count: number } => ({
  ...row,
  sign_count: Number(row.sign_count),
});

/** The passkeys of a person, in the order in which they were made. */
export const allOf = async (db: Db, sub: string): Promise<Passkey[]> =>
  (
    await db
      .selectFrom('passkeys')
      .selectAll()
      .where('sub', '=', sub)
      .orderBy('created_at')
      .orderBy('passkey_id')
      .execute()
  ).map(counted);

/** Writes a new passkey. False when its credential is one that is registered already, whosever it is. */
export async function insert(trx: Trx, passkey: Passkey): Promise<boolean> {
  const row = await trx
    .insertInto('passkeys')
    .values(passkey)
    .onConflict((conflict) => conflict.column('credential_id').doNothing())
    .returning('passkey_id')
    .executeTakeFirst();
  return row !== undefined;
}

/** What an authenticator says with each use. */
export type Use = Pick<Passkey, 'credential_id' | 'sub' | 'sign_count' | 'backed_up'>;

/**
 * Notes a use. False when the passkey is gone, or its count did not go on where the authenticator counts: another one may
 * hold a copy of the key (WebAuthn §6.1.1).
 */
export async function use(trx: Trx, { credential_id, sub, sign_count, backed_up }: Use, now: Date): Promise<boolean> {
  const { rows } = await sql`
    update passkeys set sign_count = ${sign_count}::bigint, backed_up = ${backed_up}, last_used_at = ${now}
    where credential_id = ${credential_id} and sub = ${sub}
      and (sign_count < ${sign_count}::bigint or (sign_count = 0 and ${sign_count}::bigint = 0))
    returning 1`.execute(trx);
  return rows.length > 0;
}

/** Renames a person's passkey. False when they have none of that id. */
export async function rename(trx: Trx, sub: string, passkey_id: string, name: string): Promise<boolean> {
  const result = await trx
    .updateTable('passkeys')
    .set({ name })
    .where('passkey_id', '=', passkey_id)
    .where('sub', '=', sub)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Removes a person's passkey, and returns it. Undefined when they have none of that id. */
export async function remove(trx: Trx, sub: string, passkey_id: string): Promise<Passkey | undefined> {
  const row = await trx
    .deleteFrom('passkeys')
    .where('passkey_id', '=', passkey_id)
    .where('sub', '=', sub)
    .returningAll()
    .executeTakeFirst();
  return row && counted(row);
}

/** Removes all of a person's passkeys; returns how many there were. */
export async function removeAllOf(trx: Trx, sub: string): Promise<number> {
  const result = await trx.deleteFrom('passkeys').where('sub', '=', sub).executeTakeFirst();
  return Number(result.numDeletedRows);
}

/** How many passkeys a person has. */
export async function countOf(db: Db, sub: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from passkeys where sub = ${sub}`.execute(db);
  return rows[0]!.count;
}

/** By which handle authenticators know a person: the one drawn now, if there is none yet. */
export async function userHandle(db: Db, sub: string, drawn: Buffer): Promise<Buffer> {
  const { rows } = await sql<{ user_handle: Buffer }>`
    insert into passkey_people as present (sub, user_handle) values (${sub}, ${drawn})
    on conflict (sub) do update set user_handle = present.user_handle
    returning user_handle`.execute(db);
  return rows[0]!.user_handle;
}

/** By which handle authenticators know a person; undefined where none does. */
export async function findUserHandle(db: Db, sub: string): Promise<Buffer | undefined> {
  const { rows } = await sql<{ user_handle: Buffer }>`
    select user_handle from passkey_people where sub = ${sub}`.execute(db);
  return rows[0]?.user_handle;
}

/** Is this the handle of somebody here? */
export async function isUserHandle(db: Db, user_handle: Buffer): Promise<boolean> {
  const { rows } = await sql`select from passkey_people where user_handle = ${user_handle}`.execute(db);
  return rows.length > 0;
}

/** Notes that a person does not want to be offered a passkey. */
export async function decline(db: Db, sub: string, drawn: Buffer, now: Date): Promise<void> {
  await sql`
    insert into passkey_people as present (sub, user_handle, declined_at) values (${sub}, ${drawn}, ${now})
    on conflict (sub) do update set declined_at = ${now}`.execute(db);
}

/** May a person be offered a passkey: do they have none, and did they not decline? */
export async function isToBeOffered(db: Db, sub: string): Promise<boolean> {
  const { rows } = await sql`
    select from users where sub = ${sub}
      and not exists (select from passkeys where passkeys.sub = users.sub)
      and not exists (select from passkey_people p where p.sub = users.sub and p.declined_at is not null)`.execute(db);
  return rows.length > 0;
}
