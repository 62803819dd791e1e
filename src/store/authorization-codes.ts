/** Authorization codes: given once, redeemed once. Each verb is one statement and its answer is the verdict. */
import { sql } from 'kysely';
import type { PersonClaims } from '../protocol/claims.ts';
import type { Db } from './db.ts';
import { bucketOf, type HandleKey } from './handle.ts';
import type { Grant } from './grants.ts';
import { membershipsIfWanted, type Memberships, type MembershipsWanted } from './memberships.ts';
import { write } from './pipeline.ts';
import { around } from './partitions.ts';
import { prepared } from './prepared.ts';

/** What a person's tokens are made from: the grant, and the person as they are now. */
export interface GrantedToPerson extends Omit<
  Grant,
  'expires_bucket' | 'offline' | 'created_at' | 'revoked_at' | 'revoked_for'
> {
  username: string;
  email: string | null;
  email_verified: boolean;
  claims: PersonClaims;
  updated_at: Date;
  /** Null where nobody wants to know. */
  memberships: Memberships | null;
}

/** The columns of it, of a grant `g` and its person `u`. */
export const GRANTED = prepared`
  g.grant_id, g.client_id, g.sub, g.sid, g.scope, g.resource, g.auth_time, g.acr, g.amr, g.requested_claims, g.expires_at`;
export const PERSON = prepared`u.username, u.email, u.email_verified, u.claims, u.updated_at`;

/** A code to be given, with the grant it stands for. */
export interface NewCode {
  code: HandleKey;
  grant: Pick<
    Grant,
    'grant_id' | 'expires_at' | 'client_id' | 'scope' | 'resource' | 'acr' | 'offline' | 'requested_claims'
  >;
  redirect_uri: string;
  code_challenge: string | null;
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
 * Writes a grant and its code. False when the session ended or the interaction was answered meanwhile.
 * The session's row is locked: a sign-out in flight either sees the new grant or prevents it.
 */
export async function issue(
  db: Db,
  { code, grant, session, interaction, pushed, ...issued }: NewCode,
  now: Date,
): Promise<boolean> {
  const rows = await write(
    db,
    prepared`
    with live as (
      select sid, sub, auth_time, amr from sessions
      where expires_bucket = ${session.expires_bucket} and hash = ${session.hash}
        and ended_at is null and expires_at > ${now} for share
    ), answered as (
      update interactions set answered_at = ${now}
      where expires_bucket = ${interaction?.expires_bucket ?? null}::int and hash = ${interaction?.hash ?? null}::bytea
        and ${around('interactions', 'expires_bucket', interaction?.expires_bucket ?? bucketOf(now), now)}
        and answered_at is null and expires_at > ${now} and exists (select from live)
      returning 1
    ), taken as (
      update pushed_requests set used_at = ${now}
      where expires_bucket = ${pushed?.expires_bucket ?? null}::int and hash = ${pushed?.hash ?? null}::bytea
        and ${around('pushed_requests', 'expires_bucket', pushed?.expires_bucket ?? bucketOf(now), now)}
        and used_at is null and exists (select from live)
      returning 1
    ), used as (
      -- Who registered itself and is never used goes again; a note a day is enough to know.
      update clients set last_used_at = ${now}
      where client_id = ${grant.client_id} and registered_by = 'self' and exists (select from live)
        and (last_used_at is null or last_used_at < ${now}::timestamptz - interval '1 day')
    ), granted as (
      insert into grants (expires_bucket, grant_id, client_id, sub, sid, scope, resource, auth_time, acr, amr, offline,
        requested_claims, created_at, expires_at)
      select ${code.expires_bucket}::int, ${grant.grant_id}, ${grant.client_id}, sub, sid, ${grant.scope}::text[],
        ${grant.resource}::text[], auth_time, ${grant.acr}, amr, ${grant.offline}::boolean,
        ${grant.requested_claims && JSON.stringify(grant.requested_claims)}::jsonb, ${now}::timestamptz,
        ${grant.expires_at}::timestamptz
      from live
      where (${interaction === null}::boolean or exists (select from answered))
        and (${pushed === null}::boolean or exists (select from taken))
      returning expires_bucket, grant_id, client_id
    )
    insert into authorization_codes (expires_bucket, hash, grant_id, client_id, redirect_uri, code_challenge, nonce,
      created_at, expires_at)
    select expires_bucket, ${code.hash}::bytea, grant_id, client_id, ${issued.redirect_uri}, ${issued.code_challenge}::text,
      ${issued.nonce}::text, ${now}::timestamptz, ${issued.expires_at}::timestamptz
    from granted returning 1`,
  );
  return rows.length > 0;
}

/** What a request to redeem a code presents. */
export interface Redemption {
  code: HandleKey;
  client_id: string;
  redirect_uri: string;
  /** The challenge that the presented verifier answers. */
  code_challenge: string | null;
  resource: readonly string[];
  /** Of these the grant must have one, for the resources asked for; null when any will do. */
  open_scopes: readonly string[] | null;
  /** The refresh token to give, and how long it may lie unused; null when the client gets none. */
  refresh_token: { hash: Buffer; expires_at: Date } | null;
  memberships: MembershipsWanted;
}

/**
 * Claims the code if everything matches, its grant lives and nobody was before: all of it decided in this one statement,
 * which also writes the refresh token. Undefined when nothing was claimed; `explain` says why.
 */
export async function redeem(
  db: Db,
  r: Redemption,
  now: Date,
): Promise<(GrantedToPerson & { nonce: string | null }) | undefined> {
  const [granted] = await write(
    db,
    prepared<GrantedToPerson & { nonce: string | null }>`
    with claimed as (
      update authorization_codes c set used_at = ${now}
      from grants g
      where c.expires_bucket = ${r.code.expires_bucket} and c.hash = ${r.code.hash} and c.client_id = ${r.client_id}
        and c.redirect_uri = ${r.redirect_uri} and c.code_challenge is not distinct from ${r.code_challenge}::text
        and c.used_at is null and c.expires_at > ${now}
        and g.expires_bucket = c.expires_bucket and g.grant_id = c.grant_id
        and ${around('authorization_codes', 'c.expires_bucket', r.code.expires_bucket, now)}
        -- In words that no index has: before there are statistics, the planner would read every live grant.
        and coalesce(g.revoked_at, 'infinity') = 'infinity' and g.expires_at > ${now} and ${r.resource}::text[] <@ g.resource
        and (${r.open_scopes}::text[] is null or g.scope && ${r.open_scopes}::text[])
      returning c.nonce, g.expires_bucket, ${GRANTED}
    ), given as (
      insert into refresh_tokens (expires_bucket, hash, grant_id, created_at, expires_at)
      select expires_bucket, ${r.refresh_token?.hash ?? null}::bytea, grant_id, ${now}::timestamptz,
        least(${r.refresh_token?.expires_at ?? null}::timestamptz, expires_at)
      from claimed where ${r.refresh_token !== null}::boolean
    )
    select g.nonce, ${GRANTED}, ${PERSON}, ${membershipsIfWanted(r.memberships)}
    from claimed g join users u on u.sub = g.sub`,
  );
  return granted;
}

/**
 * Opens a code again that was claimed at this moment, for an answer that could not be given: neither it nor its refresh
 * token has left us.
 */
export async function giveBack(db: Db, { code, refresh_token }: Redemption, used_at: Date): Promise<void> {
  await sql`
    with opened as (
      update authorization_codes set used_at = null
      where expires_bucket = ${code.expires_bucket} and hash = ${code.hash} and used_at = ${used_at}
      returning expires_bucket
    )
    delete from refresh_tokens t using opened
    where t.expires_bucket = opened.expires_bucket and t.hash = ${refresh_token?.hash ?? null}::bytea`.execute(db);
}

export type CodeRefusal =
  | 'unknown'
  | 'other_client'
  | 'redirect_uri'
  | 'code_verifier'
  | 'replay'
  | 'expired'
  | 'revoked'
  | 'resource'
  | 'scope';

/** What is known of a code that was not redeemed, for whoever runs the server. */
export interface FoundCode {
  why: CodeRefusal;
  grant_id: string;
  client_id: string;
  sub: string;
  redirect_uri: string;
  has_challenge: boolean;
  used_at: Date | null;
  expires_at: Date;
  revoked_at: Date | null;
  revoked_for: string | null;
  scope: string[];
  resource: string[];
}

/**
 * Why a claim failed; undefined of a code that never was. Only a request in which everything matches and the code was used is a replay, and it revokes the
 * grant (RFC 6749 §4.1.2): a stranger, or a client with a wrong verifier, can sign nobody out.
 */
export async function explain(db: Db, r: Redemption, now: Date): Promise<FoundCode | undefined> {
  const { rows } = await sql<FoundCode>`
    with code as (
      select c.expires_bucket, c.grant_id, c.client_id, g.sub, c.redirect_uri, c.code_challenge is not null as has_challenge,
        c.used_at, c.expires_at, g.revoked_at, g.revoked_for, g.scope, g.resource, case
        when c.client_id <> ${r.client_id} then 'other_client'
        when c.redirect_uri <> ${r.redirect_uri} then 'redirect_uri'
        when c.code_challenge is distinct from ${r.code_challenge}::text then 'code_verifier'
        when c.used_at is not null then 'replay'
        when c.expires_at <= ${now} then 'expired'
        when g.revoked_at is not null or g.expires_at <= ${now} then 'revoked'
        when not ${r.resource}::text[] <@ g.resource then 'resource'
        else 'scope' end as why
      from authorization_codes c join grants g using (expires_bucket, grant_id)
      where c.expires_bucket = ${r.code.expires_bucket} and c.hash = ${r.code.hash}
    ), revoked as (
      update grants g set revoked_at = ${now}, revoked_for = 'code_replay' from code
      where code.why = 'replay' and g.expires_bucket = code.expires_bucket and g.grant_id = code.grant_id
        and g.revoked_at is null
    )
    select * from code`.execute(db);
  return rows[0];
}
