/** Authorization codes: issued once, redeemed once. Each function is one statement, and what it returns is the verdict. */
import { typesOf } from '../protocol/authorization-details.ts';
import { cnfColumn, type Confirmation } from '../protocol/confirmation.ts';
import { detailsColumn, type Nullable } from './postgres/columns.ts';
import type { Db } from './postgres/db.ts';
import { bucketOf, type HandleKey } from '../protocol/handle.ts';
import {
  areForPeople,
  areOpenTypes,
  areRegistered,
  isForClient,
  meetsTerms,
  writeAccessToken,
  type ClientProof,
  type Spending,
} from './spending.ts';
import { GRANTED_TO_PERSON, GRANTED, isLive, PERSON, type Grant, type GrantedToPerson } from './grants.ts';
import { membershipsIfRequested, type MembershipRules } from './memberships.ts';
import { read, write } from './postgres/pipeline.ts';
import { around } from './postgres/partitions.ts';
import { prepared, type Prepared } from './postgres/prepared.ts';

/** Each row is a code. */
export interface AuthorizationCodesTable {
  expires_bucket: number;
  hash: Buffer;
  grant_id: string;
  client_id: string;
  redirect_uri: string;
  code_challenge: Nullable<string>;
  dpop_jkt: Nullable<string>;
  nonce: Nullable<string>;
  created_at: Date;
  expires_at: Date;
  used_at: Nullable<Date>;
}

/** A code to be issued, with the grant it stands for. */
export interface NewCode {
  code: HandleKey;
  grant: Pick<
    Grant,
    | 'grant_id'
    | 'expires_at'
    | 'client_id'
    | 'scope'
    | 'resource'
    | 'acr'
    | 'offline'
    | 'requested_claims'
    | 'authorization_details'
    | 'sector'
    | 'confidential'
  >;
  redirect_uri: string;
  /** The registered URI that allows redirect_uri; they differ where a loopback port varies. Null: none does. */
  registered_uri: string | null;
  /** The resources of the grant, without the server itself and its admin API. */
  registered_resources: readonly string[];
  code_challenge: string | null;
  /** The key that its redemption has to prove (RFC 9449 §10). */
  dpop_jkt: string | null;
  nonce: string | null;
  expires_at: Date;
  /** The session that approves; it must still be live when the grant is written. */
  session: HandleKey;
  /** The interaction this answers: claimed in the same statement, so that it gives one code. */
  interaction: HandleKey | null;
  /** The pushed request this answers: good for one code, however often it was opened. */
  pushed: HandleKey | null;
}

/**
 * Writes a grant and its code. False when the session ended, the interaction was answered, or the client lost what the
 * request was checked for, meanwhile: of that this statement reads today's rows.
 * The session's row is locked: a sign-out in flight either sees the new grant or prevents it. It waits for no other row, so
 * that the answers of several people can be one transaction.
 */
export async function issue(
  db: Db,
  { code, grant, session, interaction, pushed, ...issued }: NewCode,
  now: Date,
): Promise<boolean> {
  const rows = await write(
    db,
    prepared`
    with allowed as (
      select c.require_second_factor from clients c
      where c.client_id = ${grant.client_id} and c.disabled_at is null and 'authorization_code' = any(c.grant_types)
        and ${issued.registered_uri}::text = any(c.redirect_uris)
        and (${issued.registered_uri}::text = ${issued.redirect_uri} or c.application_type = 'native')
        and ${areForPeople(grant.scope)} and ${areRegistered(issued.registered_resources)}
        and ${areOpenTypes(typesOf(grant.authorization_details ?? []))}
    ), live as (
      select sid, sub, auth_time, amr from sessions
      where expires_bucket = ${session.expires_bucket} and hash = ${session.hash}
        and ended_at is null and expires_at > ${now} and exists (
          select from allowed where not require_second_factor or sessions.acr = '2')
      for share
    ), asked as (
      -- What somebody else holds is being answered by them.
      select hash from interactions
      where expires_bucket = ${interaction?.expires_bucket ?? null}::int and hash = ${interaction?.hash ?? null}::bytea
        and ${around('interactions', 'expires_bucket', interaction?.expires_bucket ?? bucketOf(now), now)}
        and answered_at is null and expires_at > ${now} and exists (select from live)
      for update skip locked
    ), answered as (
      update interactions i set answered_at = ${now} from asked
      where i.expires_bucket = ${interaction?.expires_bucket ?? null}::int and i.hash = asked.hash
        and ${around('interactions', 'i.expires_bucket', interaction?.expires_bucket ?? bucketOf(now), now)}
      returning 1
    ), offered as (
      select hash from pushed_requests
      where expires_bucket = ${pushed?.expires_bucket ?? null}::int and hash = ${pushed?.hash ?? null}::bytea
        and ${around('pushed_requests', 'expires_bucket', pushed?.expires_bucket ?? bucketOf(now), now)}
        and used_at is null and exists (select from live)
      for update skip locked
    ), taken as (
      update pushed_requests p set used_at = ${now} from offered
      where p.expires_bucket = ${pushed?.expires_bucket ?? null}::int and p.hash = offered.hash
        and ${around('pushed_requests', 'p.expires_bucket', pushed?.expires_bucket ?? bucketOf(now), now)}
      returning 1
    ), used as (
      -- Who registered itself and is never used goes again; a note a day is enough to know, and not worth waiting.
      update clients set last_used_at = ${now}
      where client_id = (
        select client_id from clients
        where client_id = ${grant.client_id} and registered_by = 'self' and exists (select from live)
          and (last_used_at is null or last_used_at < ${now}::timestamptz - interval '1 day')
        for no key update skip locked)
    ), granted as (
      insert into grants (expires_bucket, grant_id, client_id, sub, sid, scope, resource, auth_time, acr, amr, offline,
        requested_claims, authorization_details, sector, confidential, created_at, expires_at)
      select ${code.expires_bucket}::int, ${grant.grant_id}, ${grant.client_id}, sub, sid, ${grant.scope}::text[],
        ${grant.resource}::text[], auth_time, ${grant.acr}, amr, ${grant.offline}::boolean,
        ${grant.requested_claims && JSON.stringify(grant.requested_claims)}::jsonb,
        ${detailsColumn(grant.authorization_details)}::jsonb, ${grant.sector},
        ${grant.confidential}::boolean, ${now}::timestamptz,
        ${grant.expires_at}::timestamptz
      from live
      where (${interaction === null}::boolean or exists (select from answered))
        and (${pushed === null}::boolean or exists (select from taken))
      returning expires_bucket, grant_id, client_id
    )
    insert into authorization_codes (expires_bucket, hash, grant_id, client_id, redirect_uri, code_challenge, dpop_jkt,
      nonce, created_at, expires_at)
    select expires_bucket, ${code.hash}::bytea, grant_id, client_id, ${issued.redirect_uri}, ${issued.code_challenge}::text,
      ${issued.dpop_jkt}::text, ${issued.nonce}::text, ${now}::timestamptz, ${issued.expires_at}::timestamptz
    from granted returning 1`,
    { table: 'sessions', row: session },
  );
  return rows.length > 0;
}

/** What a request to redeem a code presents. */
export interface Redemption extends ClientProof {
  code: HandleKey;
  client_id: string;
  redirect_uri: string;
  /** The challenge that the presented verifier answers. */
  code_challenge: string | null;
  /** What the client holds, as it has proven. */
  cnf: Confirmation | null;
  resource: readonly string[];
  /** The scopes open to the client now at the resources asked for; the grant must hold one of them. */
  open_scopes: readonly string[];
  /** The refresh token to give, and how long it may lie unused; null when the client gets none. */
  refresh_token: { hash: Buffer; expires_at: Date } | null;
  memberships: MembershipRules;
  /** A code used after this may come again from a client that never had the answer. */
  retried_after: Date;
}

/** What redeeming a code returns: the nonce goes into the first ID token. */
export type GrantedByCode = GrantedToPerson & { nonce: string | null };

/** Does a code `c` of a grant `g` match this request, and is it unused? */
const isRedeemable = (r: Redemption, now: Date): Prepared => prepared`
  c.client_id = ${r.client_id} and ${isForClient(r, CHALLENGED)} and c.redirect_uri = ${r.redirect_uri}
  and c.code_challenge is not distinct from ${r.code_challenge}::text
  and (c.dpop_jkt is null or c.dpop_jkt = ${r.cnf?.jkt ?? null}::text)
  and c.used_at is null and c.expires_at > ${now} and ${isLive(now)} and ${r.resource}::text[] <@ g.resource
  and g.scope && ${r.open_scopes}::text[]`;

// RFC 7636 §1: of somebody without a secret the verifier is all that is known.
const CHALLENGED = prepared`c.code_challenge is not null`;
const NONCE = prepared`c.nonce`;

/**
 * Claims the code if everything matches, its grant lives and nobody was before: all of it decided in this one statement,
 * which also writes the refresh token, and the access token that was made. Undefined when nothing was claimed; `explain`
 * says why.
 */
export async function redeem(db: Db, r: Redemption, spending: Spending, now: Date): Promise<GrantedByCode | undefined> {
  const [granted] = await write(
    db,
    prepared<GrantedByCode>`
    with claimed as (
      update authorization_codes c set used_at = ${now}
      from grants g join users u on u.sub = g.sub
        cross join lateral (select ${membershipsIfRequested(r.memberships)} offset 0) m
      where c.expires_bucket = ${r.code.expires_bucket} and c.hash = ${r.code.hash}
        and ${around('authorization_codes', 'c.expires_bucket', r.code.expires_bucket, now)}
        and g.expires_bucket = c.expires_bucket and g.grant_id = c.grant_id
        and ${isRedeemable(r, now)} and ${meetsTerms(spending, NONCE)}
      returning c.nonce, g.expires_bucket, ${GRANTED}, ${PERSON}, m.memberships
    ), given as (
      insert into refresh_tokens (expires_bucket, hash, grant_id, cnf, created_at, expires_at)
      select expires_bucket, ${r.refresh_token?.hash ?? null}::bytea, grant_id, ${cnfColumn(r.cnf)}::jsonb, ${now}::timestamptz,
        least(${r.refresh_token?.expires_at ?? null}::timestamptz, expires_at)
      from claimed where ${r.refresh_token !== null}::boolean
    )${writeAccessToken(spending)}
    select nonce, ${GRANTED_TO_PERSON} from claimed`,
    { table: 'authorization_codes', row: r.code },
  );
  return granted;
}

/** What `redeem` would return. It spends nothing and decides nothing: `redeem` checks everything again. */
export async function preview(db: Db, r: Redemption, now: Date): Promise<GrantedByCode | undefined> {
  const [granted] = await read(
    db,
    prepared<GrantedByCode>`
    select c.nonce, ${GRANTED}, ${PERSON}, ${membershipsIfRequested(r.memberships)}
    from authorization_codes c join grants g on g.expires_bucket = c.expires_bucket and g.grant_id = c.grant_id
      join users u on u.sub = g.sub
    where c.expires_bucket = ${r.code.expires_bucket} and c.hash = ${r.code.hash}
      and ${around('authorization_codes', 'c.expires_bucket', r.code.expires_bucket, now)} and ${isRedeemable(r, now)}`,
  );
  return granted;
}

export type CodeRefusal =
  | 'unknown'
  | 'other_client'
  | 'unproven'
  | 'redirect_uri'
  | 'code_verifier'
  | 'dpop_jkt'
  | 'replay'
  /** A replay so soon that its client may not have had the answer. */
  | 'repeated'
  | 'expired'
  | 'revoked'
  | 'resource'
  | 'scope'
  /** Nothing stands in its way: it can be redeemed on other terms. */
  | 'ready';

/** What is known of a code that was not redeemed, for whoever runs the server. */
export interface FoundCode {
  why: CodeRefusal;
  grant_id: string;
  client_id: string;
  sub: string;
  redirect_uri: string;
  has_challenge: boolean;
  dpop_jkt: string | null;
  used_at: Date | null;
  expires_at: Date;
  revoked_at: Date | null;
  revoked_for: string | null;
  scope: string[];
  resource: string[];
}

/**
 * Why a claim failed; undefined of a code that never was. Only a request in which everything matches and the code was used
 * is a replay (RFC 6749 §4.1.2): a stranger, or a client with a wrong verifier, can sign nobody out.
 */
export async function explain(db: Db, r: Redemption, now: Date): Promise<FoundCode | undefined> {
  const [found] = await read(
    db,
    prepared<FoundCode>`
    select c.grant_id, c.client_id, g.sub, c.redirect_uri, c.code_challenge is not null as has_challenge,
      c.dpop_jkt, c.used_at, c.expires_at, g.revoked_at, g.revoked_for, g.scope, g.resource, case
      when c.client_id <> ${r.client_id} then 'other_client'
      when not ${isForClient(r, CHALLENGED)} then 'unproven'
      when c.redirect_uri <> ${r.redirect_uri} then 'redirect_uri'
      when c.code_challenge is distinct from ${r.code_challenge}::text then 'code_verifier'
      when c.dpop_jkt <> coalesce(${r.cnf?.jkt ?? null}::text, '') then 'dpop_jkt'
      when c.used_at > ${r.retried_after}::timestamptz then 'repeated'
      when c.used_at is not null then 'replay'
      when c.expires_at <= ${now} then 'expired'
      when not (${isLive(now)}) then 'revoked'
      when not ${r.resource}::text[] <@ g.resource then 'resource'
      when not g.scope && ${r.open_scopes}::text[] then 'scope'
      else 'ready' end as why
    from authorization_codes c join grants g using (expires_bucket, grant_id)
    where c.expires_bucket = ${r.code.expires_bucket} and c.hash = ${r.code.hash}
      and ${around('authorization_codes', 'c.expires_bucket', r.code.expires_bucket, now)}`,
  );
  return found;
}
