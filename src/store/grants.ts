/** Grants: the root row of one authorization. `revoked_at` on it ends its code, its refresh tokens and its access tokens. */
import type { Selectable } from 'kysely';
import type { Db, Trx } from './db.ts';
import { bucketOfId } from './handle.ts';
import type { Database } from './schema.ts';

export type Grant = Selectable<Database['grants']>;

/** Why a grant was revoked: for the audit and for whoever asks later. */
export type RevokedFor =
  | 'code_replay'
  | 'refresh_token_reuse'
  | 'revocation'
  | 'sign_out'
  | 'password_change'
  | 'user_disabled'
  | 'user_deleted'
  | 'client_deleted';

/** A grant that can still give, by the id its tokens carry (`gid`). */
export async function findLive(db: Db, grant_id: string, now: Date): Promise<Grant | undefined> {
  const expires_bucket = bucketOfId(grant_id);
  if (expires_bucket === undefined) return undefined;
  return db
    .selectFrom('grants')
    .selectAll()
    .where('expires_bucket', '=', expires_bucket)
    .where('grant_id', '=', grant_id)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

/** Revokes one grant of this client, and says whose it was; undefined when it was dead, or another's. */
export async function revoke(
  db: Db,
  grant_id: string,
  client_id: string,
  why: RevokedFor,
  now: Date,
): Promise<Pick<Grant, 'sub'> | undefined> {
  const expires_bucket = bucketOfId(grant_id);
  if (expires_bucket === undefined) return undefined;
  return db
    .updateTable('grants')
    .set({ revoked_at: now, revoked_for: why })
    .where('expires_bucket', '=', expires_bucket)
    .where('grant_id', '=', grant_id)
    .where('client_id', '=', client_id)
    .where('revoked_at', 'is', null)
    .returning('sub')
    .executeTakeFirst();
}

/** Ends what a session gave, but for grants with offline_access, which outlive it. Returns how many. */
export async function revokeOfSession(trx: Trx, sid: string, why: RevokedFor, now: Date): Promise<number> {
  const result = await trx
    .updateTable('grants')
    .set({ revoked_at: now, revoked_for: why })
    .where('sid', '=', sid)
    .where('offline', '=', false)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/** Ends everything a person, or a client, was ever granted. Returns how many grants were live. */
export async function revokeAllOf(
  trx: Trx,
  whose: { sub: string } | { client_id: string },
  why: RevokedFor,
  now: Date,
): Promise<number> {
  const [column, value] = 'sub' in whose ? (['sub', whose.sub] as const) : (['client_id', whose.client_id] as const);
  const result = await trx
    .updateTable('grants')
    .set({ revoked_at: now, revoked_for: why })
    .where(column, '=', value)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}
