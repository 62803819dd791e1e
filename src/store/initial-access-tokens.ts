/** Initial access tokens (RFC 7591 §1.2): what lets a stranger register a client, so many times, until a day. */
import { sql, type Selectable } from 'kysely';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import { keysetPage, type Keyset, type KeysetPage } from './postgres/listing.ts';

/** Each row is a token. */
export interface InitialAccessTokensTable {
  token_id: string;
  hash: Buffer;
  label: Nullable<string>;
  uses_left: number;
  created_at: Date;
  expires_at: Date;
}

export type InitialAccessToken = Selectable<InitialAccessTokensTable>;

/** Writes a token by which clients may register. */
export async function insert(trx: Trx, token: InitialAccessToken): Promise<void> {
  await trx.insertInto('initial_access_tokens').values(token).execute();
}

/** Would a token count now? Nothing is used up. */
export async function counts(db: Db, hash: Buffer, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('initial_access_tokens')
    .select('token_id')
    .where('hash', '=', hash)
    .where('uses_left', '>', 0)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return row !== undefined;
}

/** Uses a token once; false when it is unknown, expired or used up. */
export async function use(trx: Trx, hash: Buffer, now: Date): Promise<boolean> {
  const result = await trx
    .updateTable('initial_access_tokens')
    .set({ uses_left: sql`uses_left - 1` })
    .where('hash', '=', hash)
    .where('uses_left', '>', 0)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Deletes a token. False when there is none. */
export async function remove(trx: Trx, token_id: string): Promise<boolean> {
  const result = await trx.deleteFrom('initial_access_tokens').where('token_id', '=', token_id).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

export type ShownToken = Omit<InitialAccessToken, 'hash'>;
const SHOWN = ['token_id', 'label', 'uses_left', 'created_at', 'expires_at'] as const;

/** One page of them, but for their hashes. */
export const page = (db: Db, keyset: Keyset): Promise<KeysetPage<ShownToken>> =>
  keysetPage(db.selectFrom('initial_access_tokens').select(SHOWN), keyset);

/** What is known of one token. */
export const find = (db: Db, token_id: string): Promise<ShownToken | undefined> =>
  db.selectFrom('initial_access_tokens').select(SHOWN).where('token_id', '=', token_id).executeTakeFirst();
