/** One-time links and codes of people: what is stored of each is a hash, and it is good once, for one purpose. */
import { sql, type Selectable } from 'kysely';
import type { HandleKey } from '../protocol/handle.ts';
import { isAbout, type Addressee } from './addressee.ts';
import type { Json, Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';

/** Each row is a link, perhaps with a code that stands for it. */
export interface PersonLinksTable {
  expires_bucket: number;
  hash: Buffer;
  purpose: string;
  /** Whose account it is about; null where there is none yet. */
  sub: Nullable<string>;
  /** The address that it was sent to. */
  email: Nullable<string>;
  detail: Json<Record<string, string>>;
  /** The page that asked for it, and its browser: where a code may be typed. */
  request_hash: Nullable<Buffer>;
  browser_hash: Nullable<Buffer>;
  code_mac: Nullable<Buffer>;
  attempts: number;
  created_at: Date;
  expires_at: Date;
  /** When it was used, or another one made it void. */
  used_at: Nullable<Date>;
}

export type PersonLink = Selectable<PersonLinksTable>;

/** Keeps a link. */
export async function insert(trx: Trx, link: Omit<PersonLink, 'attempts' | 'used_at'>): Promise<void> {
  await trx
    .insertInto('person_links')
    .values({ ...link, detail: JSON.stringify(link.detail), attempts: 0 })
    .execute();
}

/** A link that is still good, and stays so. */
export const find = (
  db: Db,
  { expires_bucket, hash }: HandleKey,
  purpose: string,
  now: Date,
): Promise<PersonLink | undefined> =>
  db
    .selectFrom('person_links')
    .selectAll()
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst();

/** Uses a link up: of many at once one gets it. Whoever changes an account with it has locked that before. */
export const use = (
  trx: Trx,
  { expires_bucket, hash }: HandleKey,
  purpose: string,
  now: Date,
): Promise<PersonLink | undefined> =>
  trx
    .updateTable('person_links')
    .set({ used_at: now })
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();

/** A code as it was typed: on which page, in which browser, and its MAC. */
export interface TypedCode {
  request: HandleKey;
  browser_hash: Buffer;
  code_mac: Buffer;
  purpose: string;
  /** How often somebody may be wrong. */
  most: number;
}

/**
 * Counts a try, and uses the link up if the code is right, in one statement: of many at once no more are heard than may be. Undefined
 * where there is nothing to be typed any more; `matched` says whether it was right.
 */
export async function tryCode(
  db: Db | Trx,
  { request, browser_hash, code_mac, purpose, most }: TypedCode,
  now: Date,
): Promise<(PersonLink & { matched: boolean }) | undefined> {
  const { rows } = await sql<PersonLink & { matched: boolean }>`
    update person_links set attempts = attempts + 1,
      used_at = case when code_mac = ${code_mac} then ${now}::timestamptz end
    where expires_bucket = ${request.expires_bucket} and request_hash = ${request.hash} and purpose = ${purpose}
      and browser_hash = ${browser_hash} and used_at is null and expires_at > ${now} and attempts < ${most}
    returning *, used_at is not null as matched`.execute(db);
  return rows[0];
}

/** When the last of somebody's links for a purpose ends, with the address that it was sent to; undefined where none is good. */
export const lastOf = (
  db: Db,
  sub: string,
  purpose: string,
  now: Date,
): Promise<Pick<PersonLink, 'email' | 'expires_at'> | undefined> =>
  db
    .selectFrom('person_links')
    .select(['email', 'expires_at'])
    .where('sub', '=', sub)
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('expires_at', 'desc')
    .limit(1)
    .executeTakeFirst();

/** The links of a person that are still good: about their account, or about none and sent to their address. */
export const openOf = (db: Db, whom: Addressee, now: Date): Promise<PersonLink[]> =>
  db
    .selectFrom('person_links')
    .selectAll()
    .where(isAbout(whom, 'email'))
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('created_at')
    .orderBy('purpose')
    .execute();

/** Makes a person's links void: all of them, or those of these purposes, or made since then. Their account is locked. */
export async function voidAllOf(
  trx: Trx,
  sub: string,
  now: Date,
  purposes?: readonly string[],
  since?: Date,
): Promise<void> {
  let query = trx.updateTable('person_links').set({ used_at: now }).where('sub', '=', sub).where('used_at', 'is', null);
  if (purposes) query = query.where('purpose', 'in', purposes);
  if (since) query = query.where('created_at', '>=', since);
  await query.execute();
}
