/** grant_type=refresh_token (RFC 6749 §6): every use rotates, and a second use is an alarm (RFC 9700 §4.14.2). */
import { z } from 'zod';
import { isPublic } from '../protocol/client-metadata.ts';
import { rowOf } from '../events/index.ts';
import { invalidGrant, invalidScope, invalidTarget, type Explanation, type OAuthError } from '../protocol/error.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { kindOf, listOf } from '../protocol/redaction.ts';
import { narrowResource, parseResource } from '../protocol/resource.ts';
import { isSubset, parseScope } from '../protocol/scope.ts';
import type { GrantedToPerson } from '../store/granted.ts';
import * as grants from '../store/grants.ts';
import { readHandle } from '../store/handle.ts';
import * as refreshTokens from '../store/refresh-tokens.ts';
import { deriveAgain, drawSuccessor } from '../tokens/prepare.ts';
import { membershipsWanted } from '../tokens/memberships.ts';
import type { Authorization } from '../tokens/authorization.ts';
import { authorizationOf, closed, ended, openScopes, UNPROVEN, type Grant, type GrantContext } from './grant.ts';

const parameters = z.object({
  refresh_token: z.string(),
  scope: z.string().max(4000).optional(),
  resource: z.array(z.string()).optional(),
});

export const refreshToken: Grant<z.infer<typeof parameters>> = {
  parameters,
  async read(context, { refresh_token, scope: sentScope, resource: sentResource }) {
    const { deps, client, known, now } = context;
    const scope = parseScope(sentScope);
    const resource = parseResource(sentResource);
    const key = readHandle(refresh_token);
    if (!key)
      throw invalidGrant(DESCRIPTION.unknown, { cause: 'not a refresh token of ours', ...unknownToken(refresh_token) });

    const presented = { refresh_token, key };
    const successor = drawSuccessor(deps, client, presented, now);
    const rotation = {
      token: key,
      client_id: client.client_id,
      proven: !isPublic(client),
      scope,
      resource,
      open_scopes: openScopes(context, resource),
      successor,
      retry: successor.retry,
      memberships: membershipsWanted(known),
      retried_after: secondsAfter(now, -deps.config.REFRESH_TOKEN_RETRY_WINDOW),
    };
    const authorized = (given: Given | undefined): Authorization | undefined =>
      given &&
      authorizationOf(context, given.granted, {
        scope: scope.length > 0 ? scope : given.granted.scope,
        resource: narrowResource(resource, given.granted.resource),
        // OpenID Connect Core §12.2: a refreshed ID token echoes no nonce.
        nonce: null,
        refresh_token: given.refresh_token,
      });
    const rotated = (granted: GrantedToPerson | undefined): Authorization | undefined =>
      authorized(granted && { granted, refresh_token: successor.refresh_token });
    return {
      resource,
      spend: async (spending) => rotated(await refreshTokens.rotate(deps.db, rotation, spending, now)),
      look: async () => rotated(await refreshTokens.look(deps.db, rotation, now)),
      again: async () => authorized(await sameAnswer(context, presented, rotation)),
      refusal: () => refusal(context, rotation, refresh_token),
    };
  },
};

interface Given {
  granted: GrantedToPerson;
  refresh_token: string;
}

/**
 * Within the retry window, a client whose network lost the answer gets the same successor, never a second one.
 * @throws OAuthError invalid_scope, invalid_target when it asks for more than was granted; nothing is revoked
 */
async function sameAnswer(
  context: GrantContext,
  presented: Parameters<typeof deriveAgain>[1],
  rotation: refreshTokens.Rotation,
): Promise<Given | undefined> {
  const { deps, now } = context;
  if (deps.config.REFRESH_TOKEN_RETRY_WINDOW === 0) return undefined;
  const retried = await refreshTokens.findRetry(deps.db, rotation, now);
  const refresh_token = retried && deriveAgain(deps, presented, retried);
  if (!retried || refresh_token === undefined) return undefined;
  if (!isSubset(rotation.scope, retried.scope))
    throw invalidScope(DESCRIPTION.scope, EXPLANATION.scope(retried, rotation, now));
  narrowResource(rotation.resource, retried.resource);
  const asked = rotation.scope.length > 0 ? rotation.scope : retried.scope;
  if (!asked.some((name) => rotation.open_scopes.includes(name))) {
    throw (
      closed(context, retried.scope) ??
      invalidScope(DESCRIPTION.other_scope, EXPLANATION.other_scope(retried, rotation, now))
    );
  }
  return { granted: retried, refresh_token };
}

type Reason = Exclude<refreshTokens.RefreshRefusal, 'ready'>;

const DESCRIPTION: Record<Reason, string> = {
  unknown: 'the refresh token is not valid',
  other_client: 'the refresh token is not valid',
  unproven: 'the refresh token is for a client that proves who it is',
  scope: 'a requested scope was not granted',
  other_scope: 'the requested resource knows nothing of the scope',
  resource: 'a requested resource was not granted',
  reuse: 'the refresh token was used before; the authorization is revoked',
  expired: 'the refresh token has expired',
  revoked: 'the authorization has ended',
};

/** Names the reason of a failed rotation; a reuse is an alarm, and ends the authorization. */
async function refusal(
  context: GrantContext,
  rotation: refreshTokens.Rotation,
  refresh_token: string,
): Promise<OAuthError | undefined> {
  const { deps, client, by, now } = context;
  const found = await refreshTokens.explain(deps.db, rotation, now);
  if (!found) return invalidGrant(DESCRIPTION.unknown, { cause: 'unknown', ...unknownToken(refresh_token) });
  const { why, grant_id, sub } = found;
  if (why === 'ready') return undefined;
  if (why === 'reuse') {
    const event = { event: 'refresh_token_reuse', client_id: client.client_id, detail: { gid: grant_id } } as const;
    await grants.revokeNoting(deps.db, grant_id, client.client_id, event.event, rowOf(event, by, now), now);
  }
  const detail = { cause: why, sub, ...EXPLANATION[why](found, rotation, now) };
  if (why === 'other_scope') return closed(context, found.scope) ?? invalidScope(DESCRIPTION[why], detail);
  if (why === 'scope') return invalidScope(DESCRIPTION[why], detail);
  return why === 'resource' ? invalidTarget(DESCRIPTION[why], detail) : invalidGrant(DESCRIPTION[why], detail);
}

const unknownToken = (refresh_token: string): Explanation => ({
  check: 'refresh_token',
  expected: 'a refresh token of this server, not older than its authorization can live',
  received: kindOf(refresh_token),
});

type Found = Pick<refreshTokens.FoundToken, 'client_id' | 'scope' | 'resource' | 'expires_at'> &
  Partial<Pick<refreshTokens.FoundToken, 'used_at' | 'revoked_at' | 'revoked_for'>>;

/** For the operator: what would have passed, and what came instead. */
const EXPLANATION: Record<Reason, (found: Found, asked: refreshTokens.Rotation, now: Date) => Explanation> = {
  unknown: () => ({ check: 'refresh_token' }),
  unproven: () => UNPROVEN,
  other_client: ({ client_id }, asked) => ({
    check: 'refresh_token_client',
    expected: `client ${client_id}, to whom the token was issued`,
    received: `client ${asked.client_id}`,
  }),
  scope: ({ scope }, asked) => ({ check: 'scope', expected: listOf(scope), received: listOf(asked.scope) }),
  other_scope: ({ scope }, asked) => ({
    check: 'scope',
    expected: `of what the resource knows, one: ${listOf(asked.open_scopes)}`,
    received: listOf(asked.scope.length > 0 ? asked.scope : scope),
  }),
  resource: ({ resource }, asked) => ({
    check: 'resource',
    expected: listOf(resource),
    received: listOf(asked.resource),
  }),
  reuse: ({ used_at }) => ({
    check: 'refresh_token_reuse',
    expected: 'the newest refresh token of its authorization',
    received: `one that was used at ${used_at?.toISOString()}`,
  }),
  expired: ({ expires_at }, _asked, now) => ({
    check: 'refresh_token_expiry',
    expected: `used before ${expires_at.toISOString()}`,
    received: `used at ${now.toISOString()}`,
  }),
  revoked: ended,
};
