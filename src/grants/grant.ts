/** The interface of a grant: what the token endpoint hands to it, and what it must return. */
import type { z } from 'zod';
import { detailsAt, openDetails } from '../clients/details.ts';
import type { Deps } from '../deps.ts';
import { rowOf, type Requester } from '../events/index.ts';
import { narrowDetails, parseDetails, type AuthorizationDetail } from '../protocol/authorization-details.ts';
import type { Confirmation } from '../protocol/confirmation.ts';
import type { Client } from '../store/clients.ts';
import type { OAuthError } from '../protocol/error.ts';
import { scopesOpenAt } from '../protocol/resource.ts';
import { OPENID } from '../protocol/scope.ts';
import type { Spending } from '../store/spending.ts';
import * as grants from '../store/grants.ts';
import type { Authorization } from '../tokens/authorization.ts';
import { openTo, type Rules } from '../tokens/rules.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { sectorOfGrant } from '../protocol/sector.ts';
import { claimsFor, requestedClaims } from '../users/claims.ts';
import { membershipsAt, membershipsFor } from '../tokens/memberships.ts';

export type GrantDeps = Pick<
  Deps,
  | 'config'
  | 'db'
  | 'directory'
  | 'keys'
  | 'clientKeys'
  | 'proofKeys'
  | 'random'
  | 'secrets'
  | 'log'
  | 'metrics'
  | 'tokenSizes'
>;

/** Where a token request stands once the shared phases have passed. */
export interface GrantContext {
  deps: GrantDeps;
  client: Client;
  /** What the client holds, as it has proven: what is issued is bound to it. */
  cnf: Confirmation | null;
  /** The scopes and resources there are: read before anything is spent. */
  rules: Rules;
  by: Requester;
  now: Date;
}

/** A way to obtain tokens for a person: by what proves that they agreed, which is spent. It never sees HTTP. */
export interface PersonGrant<P> {
  owner: 'person';
  parameters: z.ZodType<P>;
  /** Reads what was presented, and spends nothing of it. @throws OAuthError */
  read(context: GrantContext, parameters: P): Promise<Presented>;
}

/** The same for a client that acts for itself: nothing is spent, and no ID token is about anybody. */
export interface MachineGrant<P> {
  owner: 'machine';
  parameters: z.ZodType<P>;
  /** What the client may have. @throws OAuthError */
  read(context: GrantContext, parameters: P): Promise<Authorization>;
}

/** One way to obtain tokens. */
export type Grant<P> = PersonGrant<P> | MachineGrant<P>;

/** What a request presented, a code for example: the calls that `spendAndIssue` makes on it, in their order. */
export interface Presented {
  /** The resources asked for (RFC 8707 §2.2); empty means all that were granted. */
  resource: readonly string[];
  /** Of the details that were granted it asks for these (RFC 9396 §6.1): whether it can have them is found out before it is spent. */
  authorization_details: readonly AuthorizationDetail[];
  /** Spends it and writes all that is issued for it, in one statement. Undefined when nothing was spent. */
  spend(spending: Spending): Promise<Authorization | undefined>;
  /** What `spend` would return. It spends nothing and decides nothing: `spend` checks everything again. */
  preview(): Promise<Authorization | undefined>;
  /** The answer of an earlier request, where the grant lets a client that lost it ask once more. @throws OAuthError */
  repeat?(): Promise<Authorization | undefined>;
  /** Why nothing was spent; undefined when it could be spent by now, and is worth another try. */
  refusal(): Promise<OAuthError | undefined>;
}

/**
 * Ends the authorization of a code or refresh token that came a second time, and writes down why: of those who have it, one
 * may have stolen it (RFC 6749 §4.1.2, RFC 9700 §4.14.2).
 */
export function revokeReused(
  { deps, client: { client_id }, by, now }: GrantContext,
  grant_id: string,
  event: 'code_replay' | 'code_repeated' | 'refresh_token_reuse',
): Promise<void> {
  const row = rowOf({ event, client_id, detail: { gid: grant_id } }, by, now);
  return grants.revokeWithEvent(deps.db, grant_id, client_id, event, row, now);
}

type ClientAndRules = Pick<GrantContext, 'client' | 'rules'>;

/** The scope that the client may have for a person now: what was taken from it, or closed to people, is not granted again. */
const openNow = ({ client, rules }: ClientAndRules): readonly string[] => openTo(client, rules, 'person');

/** The scopes open to the client at these resources. A grant that holds none of them is refused before it is spent. */
export function openScopes(context: ClientAndRules, resource: readonly string[]): readonly string[] {
  const atResource = scopesOpenAt(resource, context.rules);
  const open = openNow(context);
  return atResource === null ? open : open.filter((name) => atResource.includes(name));
}

/** The details of a token request (RFC 9396 §6.1). @throws OAuthError invalid_authorization_details */
export const requestedOf = (sent: string | undefined): readonly AuthorizationDetail[] => parseDetails(sent);

/**
 * The details of an access token: of what was granted, what the client may still have, narrowed to what it asks for, for the token's
 * resources. Undefined where none were granted. @throws OAuthError invalid_authorization_details for more than that
 */
function detailsOf(
  { client, rules: { types } }: ClientAndRules,
  { authorization_details: granted, created_at }: Pick<grants.GrantedToPerson, 'authorization_details' | 'created_at'>,
  requested: readonly AuthorizationDetail[],
  resource: readonly string[],
): readonly AuthorizationDetail[] | undefined {
  if (!granted && requested.length === 0) return undefined;
  const open = openDetails(granted ?? [], client, types, created_at);
  // What is narrowed has to have the form of its type, too.
  const narrowed = openDetails(narrowDetails(requested, open, types), client, types, created_at);
  if (requested.length > narrowed.length) narrowDetails(requested, [], types);
  return detailsAt(narrowed, types, resource);
}

/** The Authorization of a person's grant. */
export function authorizationOf(
  { client, cnf, rules }: Pick<GrantContext, 'client' | 'cnf' | 'rules'>,
  granted: grants.GrantedToPerson,
  narrowed: Pick<Authorization, 'scope' | 'resource' | 'refresh_token'> & {
    nonce: string | null;
    authorization_details: readonly AuthorizationDetail[];
  },
): Authorization {
  const { resource, nonce, refresh_token } = narrowed;
  const { grant_id, sub, sid, auth_time, acr, amr, created_at, expires_at } = granted;
  const { scopes, resources } = rules;
  // A scope that was deleted and made again under its name is not the one that was granted.
  const isOlder = (name: string): boolean => {
    const since = scopes.get(name)?.since ?? null;
    return since !== null && created_at < secondsAfter(since, -1);
  };
  const open = openNow({ client, rules }).filter((name) => !isOlder(name));
  const scope = narrowed.scope.filter((name) => open.includes(name));
  const person = { ...granted, ...membershipsFor(client, granted, resources) };
  // Only an ID token carries them, and without openid there is none.
  const claims = scope.includes(OPENID) ? claimsFor(person, scope, scopes) : {};
  const requested_claims = requestedClaims(person, granted.requested_claims?.id_token, open, scopes);
  const access_token_claims = membershipsAt(resource, granted, resources);
  return {
    client,
    sub,
    scope,
    resource,
    authorization_details: detailsOf({ client, rules }, granted, narrowed.authorization_details, resource),
    cnf,
    person: {
      grant_id,
      granted: {
        scope: granted.scope,
        resource: granted.resource,
        authorization_details: granted.authorization_details ?? [],
      },
      grant_expires_at: expires_at,
      sector: sectorOfGrant(granted, client),
      sid,
      auth_time,
      acr,
      amr,
      nonce,
      claims,
      requested_claims,
      access_token_claims,
    },
    refresh_token,
  };
}
