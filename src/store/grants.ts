/** Grants: the root row of one authorization. `revoked_at` on it ends its code, its refresh tokens and its access tokens. */
import { sql, type RawBuilder, type Selectable } from 'kysely';
import { OFFLINE_ACCESS } from '../protocol/scope.ts';
import type { AuditRow } from './audit-log.ts';
import type { Db, Trx } from './db.ts';
import { IN_ORDER } from './lock-order.ts';
import { bucketOf, bucketOfId } from './handle.ts';
import { createdWithin, keysetPage, type CreatedRange, type Keyset, type KeysetPage } from './listing.ts';
import type { Memberships } from './memberships.ts';
import { read, write } from './pipeline.ts';
import { prepared } from './prepared.ts';
import type { Database } from './schema.ts';
import type { User } from './users.ts';

export type Grant = Selectable<Database['grants']>;

/** Why a grant was revoked: for the audit and for whoever asks later. */
export type RevokedFor =
  | 'code_replay'
  | 'code_repeated'
  | 'refresh_token_reuse'
  | 'revocation'
  | 'sign_out'
  | 'operator'
  | 'consent_withdrawn'
  | 'password_change'
  | 'password_deleted'
  | 'user_disabled'
  | 'user_deleted'
  | 'client_deleted'
  | 'client_disabled'
  | 'scope_deleted'
  | 'resource_deleted';

/** What a grant still allows, and to whom. */
export type LiveGrant = Pick<Grant, 'sub' | 'scope' | 'resource' | 'requested_claims' | 'sector'>;

/** What can be told of a grant's person. */
export type GrantedPerson = Pick<
  User,
  'sub' | 'username' | 'email' | 'email_verified' | 'claims' | 'updated_at' | 'disabled_at'
> & {
  /** Null where they were not asked for. */
  memberships: Memberships | null;
};

/** A grant that can still give, by the id its tokens carry (`gid`). */
export async function findLive(db: Db, grant_id: string, now: Date): Promise<LiveGrant | undefined> {
  const expires_bucket = bucketOfId(grant_id);
  if (expires_bucket === undefined) return undefined;
  const [grant] = await read(
    db,
    prepared<LiveGrant>`
      select sub, scope, resource, requested_claims, sector from grants
      where expires_bucket = ${expires_bucket} and grant_id = ${grant_id} and revoked_at is null and expires_at > ${now}`,
  );
  return grant;
}

/** The same with its person, whatever their state; and with their memberships, where userinfo is to tell them. */
export async function findLiveWithPerson(
  db: Db,
  grant_id: string,
  { memberships }: { memberships: boolean },
  now: Date,
): Promise<(LiveGrant & { person: GrantedPerson }) | undefined> {
  const expires_bucket = bucketOfId(grant_id);
  if (expires_bucket === undefined) return undefined;
  const [row] = await read(
    db,
    prepared<LiveGrant & GrantedPerson>`
      select g.sub, g.scope, g.resource, g.requested_claims, g.sector, u.username, u.email, u.email_verified, u.claims, u.updated_at,
        u.disabled_at, case when ${memberships}::boolean or g.requested_claims -> 'userinfo' ?| array['groups', 'roles']
          then memberships_of(u.sub) end as memberships
      from grants g join users u on u.sub = g.sub
      where g.expires_bucket = ${expires_bucket} and g.grant_id = ${grant_id} and g.revoked_at is null
        and g.expires_at > ${now}`,
  );
  if (row === undefined) return undefined;
  const { sub, scope, resource, requested_claims, sector, ...person } = row;
  return { sub, scope, resource, requested_claims, sector, person: { sub, ...person } };
}

/** A grant in any state, live or not, as long as it is kept. */
export async function find(db: Db, grant_id: string): Promise<Grant | undefined> {
  const expires_bucket = bucketOfId(grant_id);
  if (expires_bucket === undefined) return undefined;
  return db
    .selectFrom('grants')
    .selectAll()
    .where('expires_bucket', '=', expires_bucket)
    .where('grant_id', '=', grant_id)
    .executeTakeFirst();
}

/** What narrows a list of grants. Those that merely ran out are in neither state: they are removed within a day. */
export interface GrantFilters extends CreatedRange {
  sub?: string | undefined;
  client_id?: string | undefined;
  state: 'live' | 'revoked';
}

/** One page of grants. */
export function page(
  db: Db,
  { sub, client_id, state, ...range }: GrantFilters,
  now: Date,
  keyset: Keyset,
): Promise<KeysetPage<Grant>> {
  let query = createdWithin(db.selectFrom('grants').selectAll(), range);
  if (sub !== undefined) query = query.where('sub', '=', sub);
  if (client_id !== undefined) query = query.where('client_id', '=', client_id);
  query =
    state === 'revoked'
      ? query.where('revoked_at', 'is not', null)
      : query.where('revoked_at', 'is', null).where('expires_at', '>', now);
  return keysetPage(query, keyset);
}

/** Revokes one grant, if it is of whom is named, and says whose it was; undefined when it was dead, or another's. */
export async function revoke(
  db: Db,
  grant_id: string,
  { client_id, sub }: { client_id?: string | undefined; sub?: string | undefined },
  why: RevokedFor,
  now: Date,
): Promise<Pick<Grant, 'client_id' | 'sub'> | undefined> {
  const expires_bucket = bucketOfId(grant_id);
  if (expires_bucket === undefined) return undefined;
  // Not by the indexes of clients and people: before there are statistics, the planner would read every grant of theirs.
  const [revoked] = await write(
    db,
    prepared<Pick<Grant, 'client_id' | 'sub'>>`
      update grants set revoked_at = ${now}, revoked_for = ${why}
      where expires_bucket = ${expires_bucket} and grant_id = ${grant_id}
        and client_id is not distinct from coalesce(${client_id ?? null}::text, client_id)
        and sub is not distinct from coalesce(${sub ?? null}::text, sub)
        and coalesce(revoked_at, 'infinity') = 'infinity'
      returning client_id, sub`,
    { table: 'grants', row: { expires_bucket, grant_id } },
  );
  return revoked;
}

/** Revokes one grant of a client and writes down why, in one statement; its person is whose the grant was. */
export async function revokeNoting(
  db: Db,
  grant_id: string,
  client_id: string,
  why: RevokedFor,
  { at, event, sub = null, actor = null, ip = null, request_id = null, detail = {} }: AuditRow,
  now: Date,
): Promise<void> {
  const expires_bucket = bucketOfId(grant_id) ?? 0;
  await write(
    db,
    prepared`
      with revoked as (
        update grants set revoked_at = ${now}, revoked_for = ${why}
        where expires_bucket = ${expires_bucket} and grant_id = ${grant_id}
          and client_id is not distinct from ${client_id} and coalesce(revoked_at, 'infinity') = 'infinity'
        returning sub
      )
      insert into audit_events (at, event, sub, client_id, actor, ip, request_id, detail)
      values (${at}, ${event}, coalesce((select sub from revoked), ${sub}), ${client_id}, ${actor}, ${ip}, ${request_id},
        ${JSON.stringify(detail)})`,
    { table: 'grants', row: { expires_bucket, grant_id } },
  );
}

/**
 * Ends what sessions gave, but for grants with offline_access, which outlive them where their client still may have it.
 * Returns how many.
 */
export const revokeOfSessions = (trx: Trx, sids: readonly string[], why: RevokedFor, now: Date): Promise<number> =>
  revokeWhere(
    trx,
    sql`g.sid = any(${sids}::text[]) and not (g.offline and exists (
      select from clients c join scopes s on s.name = ${OFFLINE_ACCESS} and s.for_people
      where c.client_id = g.client_id and ${OFFLINE_ACCESS}::text = any(c.scope)))`,
    why,
    now,
  );

/** Ends everything a person, or a client, was ever granted. Returns how many grants were live. */
export const revokeAllOf = (
  trx: Trx,
  whose: { sub: string } | { client_id: string },
  why: RevokedFor,
  now: Date,
): Promise<number> =>
  revokeWhere(trx, 'sub' in whose ? sql`g.sub = ${whose.sub}` : sql`g.client_id = ${whose.client_id}`, why, now);

async function revokeWhere(trx: Trx, whose: RawBuilder<unknown>, why: RevokedFor, now: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    with held as (select expires_bucket, grant_id from grants g where ${whose} and g.revoked_at is null ${IN_ORDER})
    update grants g set revoked_at = ${now}, revoked_for = ${why} from held
    where g.expires_bucket = held.expires_bucket and g.grant_id = held.grant_id`.execute(trx);
  return Number(numAffectedRows);
}

/** Has a client anything that it was granted and that still gives? */
export async function areLive(db: Db, client_id: string, now: Date): Promise<boolean> {
  const live = await db
    .selectFrom('grants')
    .select('grant_id')
    .where('client_id', '=', client_id)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .limit(1)
    .executeTakeFirst();
  return live !== undefined;
}

/** Of what was granted to a client before that was noted: it had to prove who it is. */
export async function markConfidential(trx: Trx, client_id: string): Promise<void> {
  await trx
    .updateTable('grants')
    .set({ confidential: true })
    .where('client_id', '=', client_id)
    .where('revoked_at', 'is', null)
    .where('confidential', 'is', null)
    .execute();
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
    where expires_bucket = ${bucket}::int and grant_id in (
      select grant_id from grants
      where expires_bucket = ${bucket}::int and revoked_at is null and scope @> array[${name}::text] ${IN_ORDER})`,
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
    where expires_bucket = ${bucket}::int and grant_id in (
      select grant_id from grants
      where expires_bucket = ${bucket}::int and revoked_at is null and resource @> array[${resource}::text] ${IN_ORDER})`,
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
