/** What a grant is given and what it must return. */
import type { z } from 'zod';
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import type { Client } from '../store/clients.ts';
import type { Explanation } from '../protocol/error.ts';
import type { GrantedToPerson } from '../store/authorization-codes.ts';
import type { Grant as StoredGrant } from '../store/grants.ts';
import type { Authorization } from '../tokens/authorization.ts';
import { claimsFor, requestedClaims } from '../users/claims.ts';
import { membershipsAt, membershipsFor } from '../tokens/memberships.ts';

export type GrantDeps = Pick<
  Deps,
  'config' | 'db' | 'directory' | 'keys' | 'clientKeys' | 'random' | 'secrets' | 'log' | 'metrics' | 'tokenSizes'
>;

/** Where a token request stands once the shared phases have passed. */
export interface GrantContext {
  deps: GrantDeps;
  client: Client;
  by: Requester;
  now: Date;
}

/** One way to obtain tokens: its parameters, and how they become an Authorization. It never sees HTTP. */
export interface Grant<P> {
  parameters: z.ZodType<P>;
  /** @throws OAuthError */
  authorize(context: GrantContext, parameters: P): Promise<Authorization>;
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

/** The Authorization of a person's grant. */
export async function authorizationOf(
  { deps, client }: Pick<GrantContext, 'deps' | 'client'>,
  granted: GrantedToPerson,
  narrowed: Pick<Authorization, 'scope' | 'resource' | 'refresh_token' | 'giveBack'> & { nonce: string | null },
): Promise<Authorization> {
  const { resource, nonce, refresh_token, giveBack } = narrowed;
  const { grant_id, sub, sid, auth_time, acr, amr, expires_at } = granted;
  const known = await deps.directory.scopes();
  const resources = await deps.directory.resources();
  // What was deleted while this request was on its way is not given.
  const scope = narrowed.scope.filter((name) => known.has(name));
  const told = { ...granted, ...membershipsFor(client, granted, resources) };
  const claims = claimsFor(told, scope, known);
  const requested_claims = requestedClaims(told, granted.requested_claims?.id_token, known);
  const access_token_claims = membershipsAt(resource, granted, resources);
  return {
    client,
    sub,
    scope,
    resource,
    person: {
      grant_id,
      grant_expires_at: expires_at,
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
    giveBack,
  };
}
