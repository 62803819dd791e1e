/** Pushed authorization requests: checked, waiting for the browser, good for one code. */
import type { AuthorizationRequest } from '../protocol/authorization-request.ts';
import type { Json, Nullable } from './postgres/columns.ts';
import type { Db } from './postgres/db.ts';
import type { HandleKey } from '../protocol/handle.ts';

/** Each row is a request that was pushed. */
export interface PushedRequestsTable {
  expires_bucket: number;
  hash: Buffer;
  client_id: string;
  request: Json<AuthorizationRequest>;
  created_at: Date;
  expires_at: Date;
  used_at: Nullable<Date>;
}

type NewPushedRequest = HandleKey & {
  client_id: string;
  request: AuthorizationRequest;
  created_at: Date;
  expires_at: Date;
};

/** Keeps a request until its browser comes. */
export async function insert(db: Db, { request, ...pushed }: NewPushedRequest): Promise<void> {
  await db
    .insertInto('pushed_requests')
    .values({ ...pushed, request: JSON.stringify(request) })
    .execute();
}

/**
 * Opens a request of this client that was pushed after `pushed_after` and has not been answered. It is kept until `kept_until`,
 * for who has begun to answer it, and may be opened again for as long as at first. Undefined when it is unknown, another
 * client's, expired or used.
 */
export async function open(
  db: Db,
  { expires_bucket, hash }: HandleKey,
  client_id: string,
  { pushed_after, kept_until }: { pushed_after: Date; kept_until: Date },
  now: Date,
): Promise<AuthorizationRequest | undefined> {
  const row = await db
    .updateTable('pushed_requests')
    .set({ expires_at: kept_until })
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .where('client_id', '=', client_id)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .where('created_at', '>', pushed_after)
    .returning('request')
    .executeTakeFirst();
  return row?.request;
}

/** Uses a request up for an answer that is no code. False when it was answered before. */
export async function use(db: Db, { expires_bucket, hash }: HandleKey, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('pushed_requests')
    .set({ used_at: now })
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
