/**
 * The terms on which a code, a refresh token or a device code is spent, and the opaque access token that the spending
 * statement writes.
 */
import { cnfColumn } from '../protocol/confirmation.ts';
import type { AuthorizationDetail } from '../protocol/authorization-details.ts';
import type { OpaqueToken } from './access-tokens.ts';
import { detailsColumn } from './postgres/columns.ts';
import { prepared, type Prepared } from './postgres/prepared.ts';

/** May the client `c` have every one of these scopes for a person, by today's rows? */
export const areForPeople = (scope: readonly string[]): Prepared => prepared`
  ${scope}::text[] <@ c.scope and ${scope.length}::int = (
    select count(*) from scopes s where s.name = any(${scope}::text[]) and s.for_people)`;

/** Are all of these registered resources, by today's rows? */
export const areRegistered = (resource: readonly string[]): Prepared => prepared`
  ${resource.length}::int = (select count(*) from resources r where r.resource = any(${resource}::text[]))`;

/**
 * On what terms something is spent. Nothing may fail once it is: either its tokens were made before, or they can be made
 * of whatever a grant like this holds.
 */
export interface Spending {
  /** Bytes that the person's claims may have, at most, for tokens to be made afterwards; null is any number. */
  room: number | null;
  /** Resources with opaque access tokens: for a grant at one of them the tokens have to be made before. So they are for one with details. */
  opaque: readonly string[];
  /** The tokens made before, where they were: for exactly this scope and resource of the grant, with the access token's row. */
  made: {
    scope: readonly string[];
    resource: readonly string[];
    authorization_details: readonly AuthorizationDetail[];
    access_token: OpaqueToken | null;
  } | null;
}

/** May a client `c` ask for these types of authorization details (RFC 9396), and are there all of them, by today's rows? */
export const areOpenTypes = (types: readonly string[]): Prepared =>
  types.length === 0
    ? ALWAYS
    : prepared`
  ${types}::text[] <@ c.authorization_details_types and ${types.length}::int = (
    select count(*) from authorization_types t where t.name = any(${types}::text[]))`;

/** May a grant `g` of the person `u`, with memberships `m`, be spent on these terms? A nonce has up to six bytes a character. */
export const meetsTerms = ({ room, opaque, made }: Spending, nonce: Prepared): Prepared => prepared`
  ${room === null ? ALWAYS : fits(room, nonce)} and ${opaque.length === 0 ? ALWAYS : isForNone(opaque)}
  and ${made ? isExactly(made) : HAS_NO_DETAILS}`;

const ALWAYS = prepared`true`;
/** Details have any size, and what of them may still be had is found out before anything is spent. */
const HAS_NO_DETAILS = prepared`g.authorization_details is null`;

const fits = (room: number, nonce: Prepared): Prepared => prepared`
  octet_length(u.claims::text) + coalesce(octet_length(m.memberships::text), 0)
    + 2 * (octet_length(u.username) + coalesce(octet_length(u.email), 0))
    + 2 * octet_length(array_to_string(g.scope || g.resource || g.amr, ' ')) + 6 * coalesce(octet_length(${nonce}), 0)
    <= ${room}::int`;

const isForNone = (resource: readonly string[]): Prepared => prepared`not ${resource}::text[] && g.resource`;

const isExactly = ({ scope, resource, authorization_details }: NonNullable<Spending['made']>): Prepared => prepared`
  g.scope = ${scope}::text[] and g.resource = ${resource}::text[]
  and g.authorization_details is not distinct from ${detailsColumn(authorization_details)}::jsonb`;

export const NO_NONCE = prepared`null::text`;

/** The client of a request, and whether it authenticated. */
export interface ClientProof {
  /** Did it authenticate? A client_id alone gets nothing that was granted to a confidential client. */
  proven: boolean;
}

/** Is a grant `g` this client's, as far as it authenticated? `alone` is what an unauthenticated client needs besides. */
export const isForClient = ({ proven }: ClientProof, alone: Prepared = prepared`true`): Prepared => prepared`
  (${proven}::boolean or g.confidential is not true and ${alone})`;

/** The further part of a statement that writes the access token of what was `claimed`. */
export const writeAccessToken = ({ made }: Spending): Prepared =>
  made?.access_token ? insertOf(made.access_token) : NOTHING;

const NOTHING = prepared``;

const insertOf = (t: OpaqueToken): Prepared => prepared`, beside as (
      insert into access_tokens (expires_bucket, hash, jti, client_id, sub, scope, aud, grant_bucket, grant_id, sid,
        auth_time, acr, amr, cnf, authorization_details, created_at, expires_at)
      select ${t.expires_bucket}::int, ${t.hash}::bytea, ${t.jti}, ${t.client_id}, ${t.sub}, ${t.scope}::text[],
        ${t.aud}::text[], ${t.grant_bucket}::int, ${t.grant_id}, ${t.sid}, ${t.auth_time}::timestamptz, ${t.acr},
        ${t.amr}::text[], ${cnfColumn(t.cnf)}::jsonb, ${detailsColumn(t.authorization_details)}::jsonb,
        ${t.created_at}::timestamptz, ${t.expires_at}::timestamptz
      from claimed
    )`;
