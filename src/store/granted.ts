/**
 * What a code, a refresh token or a device code is spent for: its grant with the person as they are now, and the opaque
 * access token that is written in the statement that spends.
 */
import type { PersonClaims } from '../protocol/claims.ts';
import type { OpaqueToken } from './access-tokens.ts';
import type { Grant } from './grants.ts';
import type { Memberships } from './memberships.ts';
import { prepared, type Prepared } from './prepared.ts';

/** What a person's tokens are made from: the grant, and the person as they are now. */
export interface GrantedToPerson extends Omit<
  Grant,
  'expires_bucket' | 'offline' | 'confidential' | 'revoked_at' | 'revoked_for'
> {
  username: string;
  email: string | null;
  email_verified: boolean;
  claims: PersonClaims;
  updated_at: Date;
  /** Null where nobody wants to know. */
  memberships: Memberships | null;
}

/** May the client `c` have every one of these scopes for a person, by today's rows? */
export const arePeoples = (scope: readonly string[]): Prepared => prepared`
  ${scope}::text[] <@ c.scope and ${scope.length}::int = (
    select count(*) from scopes s where s.name = any(${scope}::text[]) and s.for_people)`;

/** Are all of these registered resources, by today's rows? */
export const areRegistered = (resource: readonly string[]): Prepared => prepared`
  ${resource.length}::int = (select count(*) from resources r where r.resource = any(${resource}::text[]))`;

/** The columns of it: of a grant `g`, of its person `u`, and all of them by name alone. */
export const GRANTED = prepared`
  g.grant_id, g.client_id, g.sub, g.sid, g.scope, g.resource, g.auth_time, g.acr, g.amr, g.requested_claims,
  g.sector, g.created_at, g.expires_at`;
export const PERSON = prepared`u.username, u.email, u.email_verified, u.claims, u.updated_at`;
export const GIVEN = prepared`
  grant_id, client_id, sub, sid, scope, resource, auth_time, acr, amr, requested_claims, sector, created_at, expires_at,
  username, email, email_verified, claims, updated_at, memberships`;

/**
 * On what terms something is spent. Nothing may fail once it is: either its tokens were made before, or they can be made
 * of whatever a grant like this holds.
 */
export interface Spending {
  /** So many bytes may what is told of the person have, at most, for tokens to be made afterwards; null is any number. */
  room: number | null;
  /** Of a grant for one of these resources the tokens have to be made before. */
  opaque: readonly string[];
  /** What was made before: of exactly this scope and resource of the grant, with the row of its access token. */
  made: { scope: readonly string[]; resource: readonly string[]; access_token: OpaqueToken | null } | null;
}

/** May a grant `g` of the person `u`, with memberships `m`, be spent on these terms? A nonce has up to six bytes a character. */
export const isOnTerms = ({ room, opaque, made }: Spending, nonce: Prepared): Prepared => prepared`
  (${room}::int is null or octet_length(u.claims::text) + coalesce(octet_length(m.memberships::text), 0)
    + 2 * (octet_length(u.username) + coalesce(octet_length(u.email), 0))
    + 2 * octet_length(array_to_string(g.scope || g.resource || g.amr, ' ')) + 6 * coalesce(octet_length(${nonce}), 0)
    <= ${room}::int)
  and not ${opaque}::text[] && g.resource
  and (${made?.scope ?? null}::text[] is null or (g.scope = ${made?.scope ?? null}::text[]
    and g.resource = ${made?.resource ?? null}::text[]))`;

export const NO_NONCE = prepared`null::text`;

/** What a client shows of itself. */
export interface Proof {
  /** Did it prove who it is? A name alone gets nothing that was granted to who had to. */
  proven: boolean;
}

/** Is a grant `g` for a client that shows so much of itself? `alone` is what a name needs besides. */
export const isForProof = ({ proven }: Proof, alone: Prepared = prepared`true`): Prepared => prepared`
  (${proven}::boolean or g.confidential is not true and ${alone})`;

/** The further part of a statement that writes the access token of what was `claimed`. */
export const besides = ({ made }: Spending): Prepared => (made?.access_token ? written(made.access_token) : NOTHING);

const NOTHING = prepared``;

const written = (t: OpaqueToken): Prepared => prepared`, beside as (
      insert into access_tokens (expires_bucket, hash, jti, client_id, sub, scope, aud, grant_bucket, grant_id, sid,
        auth_time, acr, amr, created_at, expires_at)
      select ${t.expires_bucket}::int, ${t.hash}::bytea, ${t.jti}, ${t.client_id}, ${t.sub}, ${t.scope}::text[],
        ${t.aud}::text[], ${t.grant_bucket}::int, ${t.grant_id}, ${t.sid}, ${t.auth_time}::timestamptz, ${t.acr},
        ${t.amr}::text[], ${t.created_at}::timestamptz, ${t.expires_at}::timestamptz
      from claimed
    )`;
