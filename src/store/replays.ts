/** Single-use identifiers made by others (a jti), each accepted once. */
import type { Db } from './postgres/db.ts';
import { bucketOf, sha256 } from '../protocol/handle.ts';

/** Each row is an identifier that was seen. */
export interface ReplaysTable {
  expires_bucket: number;
  hash: Buffer;
  expires_at: Date;
}

/** Claims an identifier until `expires_at`. False when it was seen before: decided by the insert, not by a look first. */
export async function claim(db: Db, identifier: string, expires_at: Date): Promise<boolean> {
  const row = await db
    .insertInto('replays')
    .values({ expires_bucket: bucketOf(expires_at), hash: sha256(identifier), expires_at })
    .onConflict((conflict) => conflict.doNothing())
    .returning('expires_bucket')
    .executeTakeFirst();
  return row !== undefined;
}
