/** Grants: the root row of one authorization. `revoked_at` on it ends its code, its refresh tokens and its access tokens. */
import { sql, type RawBuilder, type Selectable, type SqlBool } from 'kysely';
import type { AuthorizationDetail } from '../protocol/authorization-details.ts';
import type { ClaimsRequest } from '../protocol/claims-request.ts';
import { OFFLINE_ACCESS } from '../protocol/scope.ts';
import type { AuditRow } from './audit-log.ts';
import type { Json, Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import { IN_ORDER } from './postgres/lock-order.ts';
import { bucketOf, bucketOfId } from '../protocol/handle.ts';
import { createdWithin, keysetPage, type CreatedRange, type Keyset, type KeysetPage } from './postgres/listing.ts';
import type { Memberships } from './memberships.ts';
import { read, write } from './postgres/pipeline.ts';
import { asSql, prepared, type Prepared } from './postgres/prepared.ts';
import type { User } from './users.ts';

/** Each row is a grant. */
export interface GrantsTable {
  expires_bucket: number;
  grant_id: string;
  client_id: string;
  sub: string;
  sid: string;
  scope: string[];
  resource: string[];
  auth_time: Date;
  acr: string;
  amr: string[];
  offline: boolean;
  requested_claims: Json<Nullable<ClaimsRequest>>;
  /** What exactly was agreed to beside the scope (RFC 9396). */
  authorization_details: Json<Nullable<readonly AuthorizationDetail[]>>;
  sector: Nullable<string>;
  confidential: Nullable<boolean>;
  created_at: Date;
  expires_at: Date;
  revoked_at: Nullable<Date>;
  revoked_for: Nullable<string>;
}

export type Grant = Selectable<GrantsTable>;

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
  | 'deletion_requested'
  | 'client_deleted'
  | 'client_disabled'
  | 'scope_deleted'
  | 'resource_deleted';

/** A grant `g` was not revoked: for statements that use a partial index of such grants. */
export const NOT_REVOKED = prepared`g.revoked_at is null`;
/**
 * The same for statements that name the grant by its key, in an expression that no index has: before there are statistics, the
 * planner would read every grant that was not revoked, or every one of the client, instead of the one that is meant.
 */
const NOT_REVOKED_BY_KEY = prepared`coalesce(g.revoked_at, 'infinity') = 'infinity'`;

/**
 * Is a grant `g` live? Whatever ended its session, its person or its client has revoked it too. Where the statement finds it
 * by a partial index, and not by its key, `unrevoked` is `NOT_REVOKED`.
 */
export const isLive = (now: Date, unrevoked: Prepared = NOT_REVOKED_BY_KEY): Prepared =>
  prepared`${unrevoked} and g.expires_at > ${now}`;

/** The columns of a grant `g` that tokens are made from, and those of its person `u`. */
export const GRANTED = prepared`
  g.grant_id, g.client_id, g.sub, g.sid, g.scope, g.resource, g.auth_time, g.acr, g.amr, g.requested_claims,
  g.authorization_details, g.sector, g.created_at, g.expires_at`;
export const PERSON = prepared`u.username, u.email, u.email_verified, u.claims, u.updated_at`;
/** All of them and `memberships`, by name alone. */
export const GRANTED_TO_PERSON = prepared`
  grant_id, client_id, sub, sid, scope, resource, auth_time, acr, amr, requested_claims, authorization_details, sector, created_at,
  expires_at, username, email, email_verified, claims, updated_at, memberships`;

/** The columns of `PERSON`. */
type Person = Pick<User, 'username' | 'email' | 'email_verified' | 'claims' | 'updated_at'> & {
  /** Null where the statement did not read them. */
  memberships: Memberships | null;
};

/** What a person's tokens are made from: the grant, and the person as they are now. */
export interface GrantedToPerson
  extends Omit<Grant, 'expires_bucket' | 'offline' | 'confidential' | 'revoked_at' | 'revoked_for'>, Person {}

/** What a grant still allows, and to whom. */
export type LiveGrant = Pick<Grant, 'sub' | 'scope' | 'resource' | 'requested_claims' | 'sector'>;

/** The person of a grant, who may be disabled. */
export type GrantedPerson = Person & Pick<User, 'sub' | 'disabled_at'>;

/** A live grant, by the id its tokens carry (`gid`). */
export async function findLive(db: Db, grant_id: string, now: Date): Promise<LiveGrant | undefined> {
  const expires_bucket = bucketOfId(grant_id);
  if (expires_bucket === undefined) return undefined;
  const [grant] = await read(
    db,
    prepared<LiveGrant>`
      select g.sub, g.scope, g.resource, g.requested_claims, g.sector from grants g
      where g.expires_bucket = ${expires_bucket} and g.grant_id = ${grant_id} and ${isLive(now)}`,
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
      select g.sub, g.scope, g.resource, g.requested_claims, g.sector, ${PERSON}, u.disabled_at,
        case when ${memberships}::boolean or g.requested_claims -> 'userinfo' ?| array['groups', 'roles']
          then memberships_of(u.sub) end as memberships
      from grants g join users u on u.sub = g.sub
      where g.expires_bucket = ${expires_bucket} and g.grant_id = ${grant_id} and ${isLive(now)}`,
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
  let query = createdWithin(db.selectFrom('grants as g').selectAll(), range);
  if (sub !== undefined) query = query.where('sub', '=', sub);
  if (client_id !== undefined) query = query.where('client_id', '=', client_id);
  query =
    state === 'revoked'
      ? query.where('revoked_at', 'is not', null)
      : query.where(asSql<SqlBool>(isLive(now, NOT_REVOKED)));
  return keysetPage(query, keyset);
}

/** Revokes one grant of the named owner, and returns whose it was; undefined when it had ended, or is another's. */
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
      update grants g set revoked_at = ${now}, revoked_for = ${why}
      where expires_bucket = ${expires_bucket} and grant_id = ${grant_id}
        and client_id is not distinct from coalesce(${client_id ?? null}::text, client_id)
        and sub is not distinct from coalesce(${sub ?? null}::text, sub)
        and ${NOT_REVOKED_BY_KEY}
      returning client_id, sub`,
    { table: 'grants', row: { expires_bucket, grant_id } },
  );
  return revoked;
}

/** Revokes one grant of a client and writes down why, in one statement; its person is whose the grant was. */
export async function revokeWithEvent(
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
        update grants g set revoked_at = ${now}, revoked_for = ${why}
        where expires_bucket = ${expires_bucket} and grant_id = ${grant_id}
          and client_id is not distinct from ${client_id} and ${NOT_REVOKED_BY_KEY}
        returning sub
      )
      insert into audit_events (at, event, sub, client_id, actor, ip, request_id, detail)
      values (${at}, ${event}, coalesce((select sub from revoked), ${sub}), ${client_id}, ${actor}, ${ip}, ${request_id},
        ${JSON.stringify(detail)})`,
    { table: 'grants', row: { expires_bucket, grant_id } },
  );
}

/**
 * Ends what sessions, or all of a person's, gave, but for grants with offline_access, which outlive them where their client still may have it.
 * Returns how many.
 */
export const revokeOfSessions = (
  trx: Trx,
  of: readonly string[] | { sub: string },
  why: RevokedFor,
  now: Date,
): Promise<number> =>
  revokeWhere(
    trx,
    sql`${'sub' in of ? sql`g.sub = ${of.sub}` : sql`g.sid = any(${of}::text[])`} and not (g.offline and exists (
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
    with held as (select expires_bucket, grant_id from grants g where ${whose} and ${asSql(NOT_REVOKED)} ${IN_ORDER})
    update grants g set revoked_at = ${now}, revoked_for = ${why} from held
    where g.expires_bucket = held.expires_bucket and g.grant_id = held.grant_id`.execute(trx);
  return Number(numAffectedRows);
}

/** Has a client any live grant? */
export async function areLive(db: Db, client_id: string, now: Date): Promise<boolean> {
  const live = await db
    .selectFrom('grants as g')
    .select('grant_id')
    .where('client_id', '=', client_id)
    .where(asSql<SqlBool>(isLive(now, NOT_REVOKED)))
    .limit(1)
    .executeTakeFirst();
  return live !== undefined;
}

/** Marks the grants of a client that were made before `confidential` was noted: it had to authenticate for them. */
export async function markConfidential(trx: Trx, client_id: string): Promise<void> {
  await trx
    .updateTable('grants as g')
    .set({ confidential: true })
    .where('client_id', '=', client_id)
    .where(asSql<SqlBool>(NOT_REVOKED))
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
      select grant_id from grants g
      where expires_bucket = ${bucket}::int and ${asSql(NOT_REVOKED)} and scope @> array[${name}::text] ${IN_ORDER})`,
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
      select grant_id from grants g
      where expires_bucket = ${bucket}::int and ${asSql(NOT_REVOKED)} and resource @> array[${resource}::text] ${IN_ORDER})`,
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
