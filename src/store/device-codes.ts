/** Device codes: waiting for a person's decision elsewhere, polled meanwhile, redeemed once. */
import { sql, type Selectable } from 'kysely';
import { typesOf, type AuthorizationDetail } from '../protocol/authorization-details.ts';
import { cnfColumn, type Confirmation } from '../protocol/confirmation.ts';
import { DEVICE_GRANT } from '../protocol/client.ts';
import { detailsColumn, type Json, type Nullable } from './postgres/columns.ts';
import { uniqueViolation, type Db } from './postgres/db.ts';
import {
  areForPeople,
  areOpenTypes,
  areRegistered,
  isForClient,
  meetsTerms,
  NO_NONCE,
  writeAccessToken,
  type ClientProof,
  type Spending,
} from './spending.ts';
import type { HandleKey } from '../protocol/handle.ts';
import { GRANTED_TO_PERSON, GRANTED, isLive, PERSON, type Grant, type GrantedToPerson } from './grants.ts';
import { membershipsIfRequested, type MembershipRules } from './memberships.ts';
import { read, write } from './postgres/pipeline.ts';
import { asSql, prepared, type Prepared } from './postgres/prepared.ts';

/** Each row is a device code. */
export interface DeviceCodesTable {
  expires_bucket: number;
  hash: Buffer;
  user_code_hash: Buffer;
  client_id: string;
  scope: string[];
  resource: string[];
  authorization_details: Json<Nullable<readonly AuthorizationDetail[]>>;
  poll_interval: number;
  confidential: Nullable<boolean>;
  polled_at: Nullable<Date>;
  grant_id: Nullable<string>;
  denied_at: Nullable<Date>;
  used_at: Nullable<Date>;
  created_at: Date;
  expires_at: Date;
}

export type DeviceCode = Selectable<DeviceCodesTable>;

/** False when the user code is taken: draw another. */
export async function insert(
  db: Db,
  { authorization_details, ...code }: Omit<DeviceCode, 'polled_at' | 'grant_id' | 'denied_at' | 'used_at'>,
): Promise<boolean> {
  try {
    const row = { ...code, authorization_details: detailsColumn(authorization_details) };
    await db.insertInto('device_codes').values(row).execute();
    return true;
  } catch (error) {
    if (uniqueViolation(error) === undefined) throw error;
    return false;
  }
}

/** A code that still waits for its person. */
export const findPending = (db: Db, user_code_hash: Buffer, now: Date): Promise<DeviceCode | undefined> =>
  db
    .selectFrom('device_codes')
    .selectAll()
    .where('user_code_hash', '=', user_code_hash)
    .where('grant_id', 'is', null)
    .where('denied_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst();

/**
 * Writes the grant that a person agreed to. One statement: the session must live, the interaction be unanswered, the code
 * undecided, and by today's rows the client may have all of it, or nothing is written. Of an approval and a denial at once,
 * one wins.
 */
export async function approve(
  db: Db,
  given: {
    device: HandleKey;
    session: HandleKey;
    interaction: HandleKey;
    /** The resources of the grant, without the server itself and its admin API. */
    registered_resources: readonly string[];
    grant: Pick<
      Grant,
      | 'grant_id'
      | 'expires_at'
      | 'client_id'
      | 'scope'
      | 'resource'
      | 'authorization_details'
      | 'offline'
      | 'sector'
      | 'confidential'
    >;
  },
  now: Date,
): Promise<boolean> {
  const { device, session, interaction, grant } = given;
  const { rows } = await sql`
    with allowed as (
      select c.require_second_factor from clients c
      where c.client_id = ${grant.client_id} and c.disabled_at is null and ${DEVICE_GRANT} = any(c.grant_types)
        and ${asSql(areForPeople(grant.scope))}
        and ${asSql(areRegistered(given.registered_resources))}
        and ${asSql(areOpenTypes(typesOf(grant.authorization_details ?? [])))}
    ), live as (
      select sid, sub, auth_time, acr, amr from sessions
      where expires_bucket = ${session.expires_bucket} and hash = ${session.hash}
        and ended_at is null and expires_at > ${now} and exists (
          select from allowed where not require_second_factor or sessions.acr = '2')
      for share
    ), decided as (
      update device_codes set grant_id = ${grant.grant_id}
      where expires_bucket = ${device.expires_bucket} and hash = ${device.hash} and grant_id is null
        and denied_at is null and expires_at > ${now} and exists (select from live)
        and exists (
          select from interactions
          where expires_bucket = ${interaction.expires_bucket} and hash = ${interaction.hash} and answered_at is null)
      returning expires_bucket, confidential
    ), answered as (
      update interactions set answered_at = ${now}
      where expires_bucket = ${interaction.expires_bucket} and hash = ${interaction.hash} and answered_at is null
        and exists (select from decided)
    ), used as (
      -- Who registered itself and is never used goes again; a note a day is enough to know.
      update clients set last_used_at = ${now}
      where client_id = ${grant.client_id} and registered_by = 'self' and exists (select from live)
        and (last_used_at is null or last_used_at < ${now}::timestamptz - interval '1 day')
    )
    insert into grants (expires_bucket, grant_id, client_id, sub, sid, scope, resource, auth_time, acr, amr, offline,
      authorization_details, sector, confidential, created_at, expires_at)
    select decided.expires_bucket, ${grant.grant_id}, ${grant.client_id}, sub, sid, ${grant.scope}::text[],
      ${grant.resource}::text[], auth_time, acr, amr, ${grant.offline}::boolean,
      ${detailsColumn(grant.authorization_details)}::jsonb, ${grant.sector},
      ${grant.confidential}::boolean or decided.confidential is true, ${now}::timestamptz, ${grant.expires_at}::timestamptz
    from live, decided returning 1`.execute(db);
  return rows.length > 0;
}

/** Ends the waiting without a grant; false when it was decided already. */
export async function deny(db: Db, { expires_bucket, hash }: HandleKey, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('device_codes')
    .set({ denied_at: now })
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .where('grant_id', 'is', null)
    .where('denied_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** What a device presents when it polls. */
export interface Poll extends ClientProof {
  device: HandleKey;
  client_id: string;
  /** What the client holds, as it has proven. */
  cnf: Confirmation | null;
  resource: readonly string[];
  /** The scopes open to the client now at the resources asked for; the grant must hold one of them. */
  open_scopes: readonly string[];
  refresh_token: { hash: Buffer; expires_at: Date } | null;
  memberships: MembershipRules;
}

const WITHOUT_PROOF = prepared`d.confidential is not true`;

/** Does a code `d` of a grant `g` match this poll, and is it approved and unused? */
const isRedeemable = (p: Poll, now: Date): Prepared => prepared`
  d.client_id = ${p.client_id} and ${isForClient(p, WITHOUT_PROOF)} and d.used_at is null and d.expires_at > ${now}
  and ${isLive(now)} and ${p.resource}::text[] <@ g.resource
  and g.scope && ${p.open_scopes}::text[]`;

/**
 * Claims an approved code and writes its refresh token, and the access token that was made, in one statement. Undefined
 * when nothing was claimed.
 */
export async function redeem(db: Db, p: Poll, spending: Spending, now: Date): Promise<GrantedToPerson | undefined> {
  const [granted] = await write(
    db,
    prepared<GrantedToPerson>`
    with claimed as (
      update device_codes d set used_at = ${now}
      from grants g join users u on u.sub = g.sub
        cross join lateral (select ${membershipsIfRequested(p.memberships)} offset 0) m
      where d.expires_bucket = ${p.device.expires_bucket} and d.hash = ${p.device.hash}
        and g.expires_bucket = d.expires_bucket and g.grant_id = d.grant_id
        and ${isRedeemable(p, now)} and ${meetsTerms(spending, NO_NONCE)}
      returning g.expires_bucket, ${GRANTED}, ${PERSON}, m.memberships
    ), given as (
      insert into refresh_tokens (expires_bucket, hash, grant_id, cnf, created_at, expires_at)
      select expires_bucket, ${p.refresh_token?.hash ?? null}::bytea, grant_id, ${cnfColumn(p.cnf)}::jsonb, ${now}::timestamptz,
        least(${p.refresh_token?.expires_at ?? null}::timestamptz, expires_at)
      from claimed where ${p.refresh_token !== null}::boolean
    )${writeAccessToken(spending)}
    select ${GRANTED_TO_PERSON} from claimed`,
    { table: 'device_codes', row: p.device },
  );
  return granted;
}

/** What `redeem` would return. It spends nothing and decides nothing: `redeem` checks everything again. */
export async function preview(db: Db, p: Poll, now: Date): Promise<GrantedToPerson | undefined> {
  const [granted] = await read(
    db,
    prepared<GrantedToPerson>`
    select ${GRANTED}, ${PERSON}, ${membershipsIfRequested(p.memberships)}
    from device_codes d join grants g on g.expires_bucket = d.expires_bucket and g.grant_id = d.grant_id
      join users u on u.sub = g.sub
    where d.expires_bucket = ${p.device.expires_bucket} and d.hash = ${p.device.hash} and ${isRedeemable(p, now)}`,
  );
  return granted;
}

export type PollRefusal =
  'unknown' | 'expired' | 'denied' | 'used' | 'resource' | 'scope' | 'ended' | 'slow_down' | 'pending' | 'ready';

/** Seconds that each poll too early adds to the interval (RFC 8628 §3.5). */
const SLOWER_BY = 5;

/** Why a poll gave nothing, with the scope of the grant there is, counting it: one that came too early lengthens the interval. */
export async function poll(
  db: Db,
  { device, client_id, proven, resource, open_scopes }: Poll,
  now: Date,
): Promise<{ why: PollRefusal; scope: string[] | null }> {
  const { rows } = await sql<{ why: PollRefusal; scope: string[] | null }>`
    with before as (
      select *, polled_at is not null and polled_at > ${now}::timestamptz - make_interval(secs => poll_interval) as early
      from device_codes
      where expires_bucket = ${device.expires_bucket} and hash = ${device.hash} and client_id = ${client_id}
        and (${proven}::boolean or confidential is not true) for update
    ), counted as (
      update device_codes d set polled_at = ${now},
        poll_interval = d.poll_interval + case when before.early then ${SLOWER_BY}::int else 0 end
      from before where d.expires_bucket = before.expires_bucket and d.hash = before.hash
    )
    select case
      when not ${proven}::boolean and g.confidential then 'unknown'
      when used_at is not null then 'used'
      when denied_at is not null then 'denied'
      when before.expires_at <= ${now} then 'expired'
      when g.grant_id is not null and not ${resource}::text[] <@ g.resource then 'resource'
      when g.grant_id is not null and not g.scope && ${open_scopes}::text[] then 'scope'
      when before.grant_id is not null and g.grant_id is null then 'ended'
      -- Nothing stands in its way: it was approved this very moment, or can be redeemed on other terms.
      when g.grant_id is not null then 'ready'
      when early then 'slow_down'
      else 'pending' end as why, g.scope
    from before left join grants g on g.expires_bucket = before.expires_bucket
      and g.grant_id = before.grant_id and ${asSql(isLive(now))}`.execute(db);
  return rows[0] ?? { why: 'unknown', scope: null };
}
