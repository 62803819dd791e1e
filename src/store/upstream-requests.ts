/** Sign-ins with a provider that are under way: each is answered once, in the browser it began in. */
import type { Selectable } from 'kysely';
import type { HandleKey } from '../protocol/handle.ts';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';

/** Each row is a visit to a provider. Its handle is the `state`. */
export interface UpstreamRequestsTable {
  expires_bucket: number;
  hash: Buffer;
  browser_hash: Buffer;
  upstream: string;
  sealed: Buffer;
  answered_at: Nullable<Date>;
  sealed_identity: Nullable<Buffer>;
  created_at: Date;
  expires_at: Date;
}

export type UpstreamRequest = Selectable<UpstreamRequestsTable>;

/** Writes a visit that begins. */
export async function insert(db: Db, request: Omit<UpstreamRequest, 'answered_at' | 'sealed_identity'>): Promise<void> {
  await db.insertInto('upstream_requests').values(request).execute();
}

/** Claims the one answer of a visit to this provider, in this browser. Undefined when it is not to be had, any more or at all. */
export const answer = (
  db: Db,
  { expires_bucket, hash }: HandleKey,
  { upstream, browser_hash }: Pick<UpstreamRequest, 'upstream' | 'browser_hash'>,
  now: Date,
): Promise<UpstreamRequest | undefined> =>
  db
    .updateTable('upstream_requests')
    .set({ answered_at: now })
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .where('upstream', '=', upstream)
    .where('browser_hash', '=', browser_hash)
    .where('answered_at', 'is', null)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();

/** A visit as it is, to say why it could not be answered. */
export const find = (db: Db, { expires_bucket, hash }: HandleKey): Promise<UpstreamRequest | undefined> =>
  db
    .selectFrom('upstream_requests')
    .selectAll()
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .executeTakeFirst();

/** Keeps who came back, until the person has proven which account it belongs to. */
export async function keepIdentity(
  trx: Trx,
  { expires_bucket, hash }: HandleKey,
  sealed_identity: Buffer,
): Promise<void> {
  await trx
    .updateTable('upstream_requests')
    .set({ sealed_identity })
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .execute();
}

/** Who waits in this browser to be connected with an account, the last to come. */
export const findWaiting = (db: Db, browser_hash: Buffer, now: Date): Promise<UpstreamRequest | undefined> =>
  db
    .selectFrom('upstream_requests')
    .selectAll()
    .where('browser_hash', '=', browser_hash)
    .where('sealed_identity', 'is not', null)
    .where('expires_at', '>', now)
    .orderBy('answered_at', 'desc')
    .orderBy('hash')
    .limit(1)
    .executeTakeFirst();

/** Takes who waits: once, in the browser they came back to. */
export const takeIdentity = (
  trx: Trx,
  { expires_bucket, hash }: HandleKey,
  browser_hash: Buffer,
  now: Date,
): Promise<Pick<UpstreamRequest, 'expires_bucket'> | undefined> =>
  trx
    .updateTable('upstream_requests')
    .set({ sealed_identity: null })
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .where('browser_hash', '=', browser_hash)
    .where('sealed_identity', 'is not', null)
    .where('expires_at', '>', now)
    .returning('expires_bucket')
    .executeTakeFirst();
