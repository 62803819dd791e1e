/** Grants: the root row of one authorization. `revoked_at` on it ends its code, its refresh tokens and its access tokens. */
import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Db, Trx } from './db.ts';
import { bucketOf, bucketOfId } from './handle.ts';
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
  | 'client_deleted'
  | 'client_disabled'
  | 'scope_deleted'
  | 'resource_deleted';

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

/** Takes a scope out of every grant; one that had no other is revoked. Returns how many had it. */
export const dropScope = (trx: Trx, name: string, now: Date): Promise<number> =>
  inEveryBucket(
    trx,
    now,
    (bucket) => sql`
    update grants set scope = array_remove(scope, ${name}), offline = offline and ${name}::text <> 'offline_access',
      revoked_at = case when scope <@ array[${name}::text] then ${now}::timestamptz end,
      revoked_for = case when scope <@ array[${name}::text] then ${'scope_deleted' satisfies RevokedFor} end
    where expires_bucket = ${bucket}::int and revoked_at is null and scope @> array[${name}::text]`,
  );

/** Takes a resource out of every grant; one that was for no other is revoked. Returns how many were for it. */
export const dropResource = (trx: Trx, resource: string, now: Date): Promise<number> =>
  inEveryBucket(
    trx,
    now,
    (bucket) => sql`
    update grants set resource = array_remove(resource, ${resource}),
      revoked_at = case when resource <@ array[${resource}::text] then ${now}::timestamptz end,
      revoked_for = case when resource <@ array[${resource}::text] then ${'resource_deleted' satisfies RevokedFor} end
    where expires_bucket = ${bucket}::int and revoked_at is null and resource @> array[${resource}::text]`,
  );

/**
 * Runs a change over the grants of each day, from those that end today: no index leads to a scope, and each statement
 * has to be short. Returns how many rows changed.
 */
async function inEveryBucket(trx: Trx, now: Date, change: (bucket: number) => RawBuilder<unknown>): Promise<number> {
  let changed = 0;
  for (let after = bucketOf(now) - 1; ;) {
    const { rows } = await sql<{ bucket: number | null }>`
      select min(expires_bucket) as bucket from grants where expires_bucket > ${after}`.execute(trx);
    const { bucket } = rows[0]!;
    if (bucket === null) return changed;
    const { numAffectedRows = 0n } = await change(bucket).execute(trx);
    changed += Number(numAffectedRows);
    after = bucket;
  }
}
