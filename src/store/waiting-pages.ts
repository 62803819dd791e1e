/** Pages that wait until somebody read their mail: found by the handle in their address, in their own browser alone. */
import type { Selectable } from 'kysely';
import type { HandleKey } from '../protocol/handle.ts';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';

/** Each row is a page. */
export interface WaitingPagesTable {
  expires_bucket: number;
  hash: Buffer;
  purpose: string;
  browser_hash: Buffer;
  /** What was typed, under SECRET_KEYS. */
  sealed: Buffer;
  created_at: Date;
  expires_at: Date;
  /** When what it waited for happened, and whose account that is. */
  done_at: Nullable<Date>;
  done_sub: Nullable<string>;
}

export type WaitingPage = Selectable<WaitingPagesTable>;

/** Keeps a page. */
export async function insert(db: Db | Trx, page: Omit<WaitingPage, 'done_at' | 'done_sub'>): Promise<void> {
  await db.insertInto('waiting_pages').values(page).execute();
}

/** A page that has not expired, whether it waits still or not. */
export const find = (
  db: Db,
  { expires_bucket, hash }: HandleKey,
  purpose: string,
  now: Date,
): Promise<WaitingPage | undefined> =>
  db
    .selectFrom('waiting_pages')
    .selectAll()
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', now)
    .executeTakeFirst();

/** Notes that what it waited for happened. False when it had before: of many at once one is first. */
export async function finish(trx: Trx, { expires_bucket, hash }: HandleKey, sub: string, now: Date): Promise<boolean> {
  const result = await trx
    .updateTable('waiting_pages')
    .set({ done_at: now, done_sub: sub })
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .where('done_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
