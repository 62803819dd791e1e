/** Pushed authorization requests: checked, waiting for the browser, good for one code. */
import { sql } from 'kysely';
import type { AuthorizationRequest } from '../protocol/authorization-request.ts';
import type { Db } from './db.ts';
import type { HandleKey } from './handle.ts';

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
 * Opens a request of this client that has given no code yet, and lets it live until `expires_at`, at most `longest`
 * seconds in all: somebody has begun to answer it. It may be opened again until then. Undefined when it is unknown,
 * another client's, expired or used.
 */
export async function open(
  db: Db,
  { expires_bucket, hash }: HandleKey,
  client_id: string,
  { expires_at, longest }: { expires_at: Date; longest: number },
  now: Date,
): Promise<AuthorizationRequest | undefined> {
  const row = await db
    .updateTable('pushed_requests')
    // However often it is opened, it does not live on for ever.
    .set({ expires_at: sql`least(${expires_at}::timestamptz, created_at + make_interval(secs => ${longest}))` })
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .where('client_id', '=', client_id)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .returning('request')
    .executeTakeFirst();
  return row?.request;
}
