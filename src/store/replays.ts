/** Single-use identifiers made by others (a jti), each accepted once. */
import type { Db } from './postgres/db.ts';
import { bucketOf, sha256 } from '../protocol/handle.ts';
import { write } from './postgres/pipeline.ts';
import { prepared } from './postgres/prepared.ts';

/** Each row is an identifier that was seen. */
export interface ReplaysTable {
  expires_bucket: number;
  hash: Buffer;
  expires_at: Date;
}

/** Claims an identifier until `expires_at`. False when it was seen before: decided by the insert, not by a look first. */
export async function claim(db: Db, identifier: string, expires_at: Date): Promise<boolean> {
  const row = { expires_bucket: bucketOf(expires_at), hash: sha256(identifier) };
  const rows = await write(
    db,
    prepared`
      insert into replays (expires_bucket, hash, expires_at) values (${row.expires_bucket}, ${row.hash}, ${expires_at})
      on conflict do nothing returning 1`,
    { table: 'replays', row },
  );
  return rows.length > 0;
}
