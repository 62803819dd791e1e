/** What a grant is given and what it must return. */
import type { z } from 'zod';
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import type { Client } from '../store/clients.ts';
import { invalidGrant, type Explanation, type OAuthError } from '../protocol/error.ts';
import { listOf } from '../protocol/redaction.ts';
import { scopesOpenAt } from '../protocol/resource.ts';
import { scopeOpenTo } from '../protocol/scope.ts';
import type { GrantedToPerson, Spending } from '../store/granted.ts';
import type { Grant as StoredGrant } from '../store/grants.ts';
import type { Authorization } from '../tokens/authorization.ts';
import type { Known } from '../tokens/terms.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { sectorOfGrant } from '../protocol/sector.ts';
import { claimsFor, claimsOpenedBy, requestedClaims } from '../users/claims.ts';
import { membershipsAt, membershipsFor } from '../tokens/memberships.ts';

export type GrantDeps = Pick<
  Deps,
  'config' | 'db' | 'directory' | 'keys' | 'clientKeys' | 'random' | 'secrets' | 'log' | 'metrics' | 'tokenSizes'
>;

/** Where a token request stands once the shared phases have passed. */
export interface GrantContext {
  deps: GrantDeps;
  client: Client;
  /** The scopes and resources there are: read before anything is spent. */
  known: Known;
  by: Requester;
  now: Date;
}

/** One way to obtain tokens: its parameters, and what is presented with them. It never sees HTTP. */
export interface Grant<P> {
  parameters: z.ZodType<P>;
  /** Reads what was presented, and spends nothing of it. @throws OAuthError */
  read(context: GrantContext, parameters: P): Promise<Presented>;
}

/** What a request presents: `give` asks it these things, in its order. */
export interface Presented {
  /** For which resources: none when that is to be all that was granted. */
  resource: readonly string[];
  /** Spends it, and writes all that it gives, in one statement. Undefined when nothing was spent. */
  spend(spending: Spending): Promise<Authorization | undefined>;
  /** What it would give; undefined when that is nothing. Spends nothing, and decides nothing: `spend` looks again. */
  look(): Promise<Authorization | undefined>;
  /** What was spent before and may be given once more, where there is such a thing. @throws OAuthError */
  again?(): Promise<Authorization | undefined>;
  /** Why nothing was spent; undefined when nothing stands in the way any more. */
  refusal(): Promise<OAuthError | undefined>;
}

/** Why a grant gives nothing any more. */
export const ended = ({
  revoked_at,
  revoked_for,
}: Partial<Pick<StoredGrant, 'revoked_at' | 'revoked_for'>>): Explanation => ({
  check: 'authorization',
  expected: 'an authorization that lives',
  received: revoked_at ? `one that ended at ${revoked_at.toISOString()}: ${revoked_for}` : 'one that has expired',
});

type Today = Pick<GrantContext, 'client' | 'known'>;

/** What the client could be given today for a person: what was taken from it, or closed for people, is not given again. */
const openTo = ({ client, known }: Today): string[] => scopeOpenTo(client, known.scopes, 'person');

/** Of these a grant must have one, for these resources, for anything to be given. */
export function openScopes(today: Today, resource: readonly string[]): string[] {
  const there = scopesOpenAt(resource, today.known);
  const open = openTo(today);
  return there === null ? open : open.filter((name) => there.includes(name));
}

/**
 * The refusal of a grant of which the client may have nothing today: another authorization is what it needs (RFC 6749 §5.2).
 * Undefined where it may.
 */
export function closed(today: Today, granted: readonly string[]): OAuthError | undefined {
  const open = openTo(today);
  if (granted.some((name) => open.includes(name))) return undefined;
  const detail = {
    check: 'scope',
    expected: `of ${listOf(open)}, one`,
    received: `granted: ${listOf(granted)}`,
  } as const;
  return invalidGrant('nothing that was granted is open to this client any more', { cause: 'closed', ...detail });
}

/** What was granted to a client that had to prove who it is, presented by its name alone since that is all it has to show. */
export const UNPROVEN: Explanation = {
  check: 'confidential_client',
  expected: 'the client with its secret or key, as when this was granted',
  received: 'token_endpoint_auth_method none',
};

/** The Authorization of a person's grant. */
export function authorizationOf(
  { client, known }: Today,
  granted: GrantedToPerson,
  narrowed: Pick<Authorization, 'scope' | 'resource' | 'refresh_token'> & { nonce: string | null },
): Authorization {
  const { resource, nonce, refresh_token } = narrowed;
  const { grant_id, sub, sid, auth_time, acr, amr, created_at, expires_at } = granted;
  const { scopes, resources } = known;
  // A scope that was made again meanwhile is another one than what was granted; a token of its first second is told from it
  // by its time, a grant by not having it.
  const isOlder = (name: string): boolean => {
    const since = scopes.get(name)?.since ?? null;
    return since !== null && created_at < secondsAfter(since, -1);
  };
  const open = openTo({ client, known }).filter((name) => !isOlder(name));
  const scope = narrowed.scope.filter((name) => open.includes(name));
  const told = { ...granted, ...membershipsFor(client, granted, resources) };
  const claims = claimsFor(told, scope, scopes);
  const requested_claims = requestedClaims(told, granted.requested_claims?.id_token, claimsOpenedBy(open, scopes));
  const access_token_claims = membershipsAt(resource, granted, resources);
  return {
    client,
    sub,
    scope,
    resource,
    person: {
      grant_id,
      granted: { scope: granted.scope, resource: granted.resource },
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
