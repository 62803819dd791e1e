/** Refresh tokens: each used once; all of a grant end together. Each function is one statement, and what it returns is the verdict. */
import type { Selectable } from 'kysely';
import { cnfColumn, type Confirmation } from '../protocol/confirmation.ts';
import type { Json, Nullable } from './postgres/columns.ts';
import type { Db } from './postgres/db.ts';
import { isForClient, meetsTerms, NO_NONCE, writeAccessToken, type ClientProof, type Spending } from './spending.ts';
import { GRANTED_TO_PERSON, GRANTED, isLive, PERSON, type Grant, type GrantedToPerson } from './grants.ts';
import type { HandleKey } from '../protocol/handle.ts';
import { membershipsIfRequested, type MembershipRules } from './memberships.ts';
import { read, write } from './postgres/pipeline.ts';
import { around } from './postgres/partitions.ts';
import { prepared, type Prepared } from './postgres/prepared.ts';

/** Each row is a token. */
export interface RefreshTokensTable {
  expires_bucket: number;
  hash: Buffer;
  grant_id: string;
  created_at: Date;
  expires_at: Date;
  /** What its holder had proven when it was given. */
  cnf: Json<Nullable<Confirmation>>;
  used_at: Nullable<Date>;
  successor_hash: Nullable<Buffer>;
  retry_key: Nullable<string>;
  retry_salt: Nullable<Buffer>;
}

/** What a request to refresh presents, and what it is to be given. */
export interface Rotation extends ClientProof {
  token: HandleKey;
  client_id: string;
  /** What the client holds, as it has proven. */
  cnf: Confirmation | null;
  /** Narrowing: must lie within the grant. */
  scope: readonly string[];
  resource: readonly string[];
  /** The scopes open to the client now at the resources asked for; the requested scope must hold one of them. */
  open_scopes: readonly string[];
  /** The hash of the token to give, in the same bucket, and how long it may lie unused. */
  successor: { hash: Buffer; expires_at: Date };
  /** Key and salt the successor was derived with, when a lost answer may be asked for again; null otherwise. */
  retry: { key: string; salt: Buffer } | null;
  memberships: MembershipRules;
  /** A token used after this may come again from a client that never had the answer. */
  retried_after: Date;
}

/**
 * Does the sender hold what the token `t` is bound to (RFC 9449 §5, RFC 8705 §4)? A client that proves who it is may come with
 * another key: nobody else can use its tokens.
 */
const isHeld = ({ proven, cnf }: Rotation): Prepared => prepared`
  (${proven}::boolean or t.cnf is null or coalesce(t.cnf <@ ${cnfColumn(cnf)}::jsonb, false))`;

/** Does a token `t` of a grant `g` match this request, and is it unused? */
const isRotatable = (r: Rotation, now: Date): Prepared => prepared`
  t.used_at is null and t.expires_at > ${now}
  -- In words that no index has, like what a live grant is: the planner would read every grant of the client.
  and g.client_id is not distinct from ${r.client_id} and ${isForClient(r)} and ${isHeld(r)} and ${isLive(now)}
  and ${r.scope}::text[] <@ g.scope and ${r.resource}::text[] <@ g.resource
  and coalesce(nullif(${r.scope}::text[], '{}'), g.scope) && ${r.open_scopes}::text[]`;

/** What an update of a token `t` goes over: its grant `g`, its person `u` and their memberships `m`, where it may be used on these terms. */
const ofLiveGrant = (r: Rotation, spending: Spending, now: Date): Prepared => prepared`
  from grants g join users u on u.sub = g.sub
    cross join lateral (select ${membershipsIfRequested(r.memberships)} offset 0) m
  where t.expires_bucket = ${r.token.expires_bucket} and t.hash = ${r.token.hash}
    and ${around('refresh_tokens', 't.expires_bucket', r.token.expires_bucket, now)}
    and g.expires_bucket = t.expires_bucket and g.grant_id = t.grant_id
    and ${isRotatable(r, now)} and ${meetsTerms(spending, NO_NONCE)}`;

/**
 * Spends the token and writes its successor, and the access token that was made, if the client is right, the token unused
 * and its grant alive: all decided in this statement, so of many racers one wins and no rotation in flight brings a dead
 * grant back.
 */
export async function rotate(db: Db, r: Rotation, spending: Spending, now: Date): Promise<GrantedToPerson | undefined> {
  const [granted] = await write(
    db,
    prepared<GrantedToPerson>`
    with claimed as (
      update refresh_tokens t set used_at = ${now}, successor_hash = ${r.successor.hash},
        retry_key = ${r.retry?.key ?? null}::text, retry_salt = ${r.retry?.salt ?? null}::bytea
      ${ofLiveGrant(r, spending, now)}
      returning g.expires_bucket, ${GRANTED}, ${PERSON}, m.memberships
    ), given as (
      insert into refresh_tokens (expires_bucket, hash, grant_id, cnf, created_at, expires_at)
      select expires_bucket, ${r.successor.hash}::bytea, grant_id, ${cnfColumn(r.cnf)}::jsonb, ${now}::timestamptz,
        least(${r.successor.expires_at}::timestamptz, expires_at)
      from claimed
    )${writeAccessToken(spending)}
    select ${GRANTED_TO_PERSON} from claimed`,
    { table: 'refresh_tokens', row: r.token },
  );
  return granted;
}

/**
 * The same for a client whose refresh tokens do not rotate (FAPI 2.0 Security Profile §5.3.2.1): the token stays, and may lie unused as long
 * again. Nobody but the client can use it, so that a second use is no alarm.
 */
export async function reuse(db: Db, r: Rotation, spending: Spending, now: Date): Promise<GrantedToPerson | undefined> {
  const [granted] = await write(
    db,
    prepared<GrantedToPerson>`
    with claimed as (
      update refresh_tokens t set expires_at = least(${r.successor.expires_at}::timestamptz, g.expires_at),
        cnf = ${cnfColumn(r.cnf)}::jsonb
      ${ofLiveGrant(r, spending, now)}
      returning ${GRANTED}, ${PERSON}, m.memberships
    )${writeAccessToken(spending)}
    select ${GRANTED_TO_PERSON} from claimed`,
    { table: 'refresh_tokens', row: r.token },
  );
  return granted;
}

/** What `rotate` would return. It spends nothing and decides nothing: `rotate` checks everything again. */
export async function preview(db: Db, r: Rotation, now: Date): Promise<GrantedToPerson | undefined> {
  const [granted] = await read(
    db,
    prepared<GrantedToPerson>`
    select ${GRANTED}, ${PERSON}, ${membershipsIfRequested(r.memberships)}
    from refresh_tokens t join grants g on g.expires_bucket = t.expires_bucket and g.grant_id = t.grant_id
      join users u on u.sub = g.sub
    where t.expires_bucket = ${r.token.expires_bucket} and t.hash = ${r.token.hash}
      and ${around('refresh_tokens', 't.expires_bucket', r.token.expires_bucket, now)} and ${isRotatable(r, now)}`,
  );
  return granted;
}

/** A used token whose answer was lost: its successor, never used, can be given again. */
export interface Retried extends GrantedToPerson {
  retry_key: string;
  retry_salt: Buffer;
  successor_hash: Buffer;
}

/**
 * The retry window: the same client, with the same key, presenting the immediately preceding token, whose successor nobody
 * used yet, within the window. Undefined in every other case. Changes nothing, and does not look at what is asked for: too wide a retry is a
 * mistake, not a reuse. It locks the token, so that it is answered only when the rotation itself is as safe as a write can
 * be: one whose commit was waited for in vain may be seen before a standby has it.
 */
export async function findRetry(db: Db, r: Rotation, now: Date): Promise<Retried | undefined> {
  const [retried] = await write(
    db,
    prepared<Retried>`
    select ${GRANTED}, t.retry_key, t.retry_salt, t.successor_hash, ${PERSON}, ${membershipsIfRequested(r.memberships)}
    from refresh_tokens t
    join refresh_tokens next on next.expires_bucket = t.expires_bucket and next.hash = t.successor_hash
    join grants g on g.expires_bucket = t.expires_bucket and g.grant_id = t.grant_id
    join users u on u.sub = g.sub
    where t.expires_bucket = ${r.token.expires_bucket} and t.hash = ${r.token.hash}
      and t.used_at > ${r.retried_after} and t.retry_key is not null
      and next.cnf is not distinct from ${cnfColumn(r.cnf)}::jsonb and next.used_at is null and next.expires_at > ${now}
      and g.client_id = ${r.client_id} and ${isForClient(r)} and ${isLive(now)}
    for share of t`,
    { table: 'refresh_tokens', row: r.token },
  );
  return retried;
}

/** `ready`: nothing stands in its way, it can be rotated on other terms. */
export type RefreshRefusal =
  | 'unknown'
  | 'other_client'
  | 'unproven'
  | 'not_held'
  | 'scope'
  | 'other_scope'
  | 'resource'
  | 'reuse'
  | 'expired'
  | 'revoked'
  | 'ready';

/** What is known of a token that was not rotated, for whoever runs the server. */
export interface FoundToken {
  why: RefreshRefusal;
  grant_id: string;
  client_id: string;
  sub: string;
  used_at: Date | null;
  expires_at: Date;
  revoked_at: Date | null;
  revoked_for: string | null;
  scope: string[];
  resource: string[];
}

/**
 * Why a rotation failed; undefined of a token that never was. A used token in the hands of its own client is a reuse
 * (RFC 9700 §4.14.2): one of the two who hold it stole it. Not so soon after its use that it may be a lost answer, where
 * the authorization has ended meanwhile: that is all there is to say, and all that an alarm would do.
 */
export async function explain(db: Db, r: Rotation, now: Date): Promise<FoundToken | undefined> {
  const [found] = await read(
    db,
    prepared<FoundToken>`
    select t.grant_id, g.client_id, g.sub, t.used_at, least(t.expires_at, g.expires_at) as expires_at,
      g.revoked_at, g.revoked_for, g.scope, g.resource, case
      when g.client_id <> ${r.client_id} then 'other_client'
      when not ${isForClient(r)} then 'unproven'
      when not ${isHeld(r)} then 'not_held'
      when g.revoked_at is not null and t.used_at > ${r.retried_after}::timestamptz then 'revoked'
      when t.used_at is not null then 'reuse'
      when g.revoked_at is not null then 'revoked'
      when t.expires_at <= ${now} or g.expires_at <= ${now} then 'expired'
      when not ${r.scope}::text[] <@ g.scope then 'scope'
      when not ${r.resource}::text[] <@ g.resource then 'resource'
      when not coalesce(nullif(${r.scope}::text[], '{}'), g.scope) && ${r.open_scopes}::text[] then 'other_scope'
      else 'ready' end as why
    from refresh_tokens t join grants g using (expires_bucket, grant_id)
    where t.expires_bucket = ${r.token.expires_bucket} and t.hash = ${r.token.hash}
      and ${around('refresh_tokens', 't.expires_bucket', r.token.expires_bucket, now)}`,
  );
  return found;
}

/** What is said of a refresh token that would work now. Times of the token, not of its grant. */
export interface LiveToken extends Pick<Grant, 'grant_id' | 'client_id' | 'sub' | 'scope' | 'sector' | 'confidential'> {
  iat: Date;
  exp: Date;
}

/** A refresh token that would work now, with its grant. */
export async function findLive(db: Db, token: HandleKey, now: Date): Promise<LiveToken | undefined> {
  const [live] = await read(
    db,
    prepared<LiveToken>`
    select g.grant_id, g.client_id, g.sub, g.scope, g.sector, g.confidential, t.created_at as iat, t.expires_at as exp
    from refresh_tokens t join grants g using (expires_bucket, grant_id)
    where t.expires_bucket = ${token.expires_bucket} and t.hash = ${token.hash}
      and ${around('refresh_tokens', 't.expires_bucket', token.expires_bucket, now)}
      and t.used_at is null and t.expires_at > ${now} and ${isLive(now)}`,
  );
  return live;
}

/** The grant of a refresh token in any state: a client may revoke by a token it already used. */
export async function grantOf(
  db: Db,
  token: HandleKey,
  now: Date,
): Promise<Pick<Grant, 'grant_id' | 'client_id' | 'sub'> | undefined> {
  const [grant] = await read(
    db,
    prepared<Pick<Grant, 'grant_id' | 'client_id' | 'sub'>>`
    select g.grant_id, g.client_id, g.sub from refresh_tokens t join grants g using (expires_bucket, grant_id)
    where t.expires_bucket = ${token.expires_bucket} and t.hash = ${token.hash}
      and ${around('refresh_tokens', 't.expires_bucket', token.expires_bucket, now)}`,
  );
  return grant;
}

/** A refresh token in any state, without its grant: for operators. */
export const find = (
  db: Db,
  { expires_bucket, hash }: HandleKey,
): Promise<Pick<Selectable<RefreshTokensTable>, 'grant_id' | 'created_at' | 'expires_at' | 'used_at'> | undefined> =>
  db
    .selectFrom('refresh_tokens')
    .select(['grant_id', 'created_at', 'expires_at', 'used_at'])
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .executeTakeFirst();
