/**
 * grant_type=refresh_token (RFC 6749 §6): every use rotates, and a second use is an alarm (RFC 9700 §4.14.2). Its refusals are
 * rows in refusals.ts.
 */
import { z } from 'zod';
import { isPublic } from '../protocol/client.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { narrowResource, parseResource } from '../protocol/resource.ts';
import { profileOf } from '../protocol/profile.ts';
import { isSubset, parseScope } from '../protocol/scope.ts';
import type { GrantedToPerson } from '../store/grants.ts';
import { readHandle } from '../protocol/handle.ts';
import * as refreshTokens from '../store/refresh-tokens.ts';
import type { Authorization } from '../tokens/authorization.ts';
import { membershipRules } from '../tokens/memberships.ts';
import { rederiveSuccessor, drawSuccessor } from '../tokens/prepare.ts';
import {
  authorizationOf,
  openScopes,
  requestedOf,
  revokeReused,
  type GrantContext,
  type PersonGrant,
} from './grant.ts';
import { closedRefusal, refreshTokenRefusals, refuse } from './refusals.ts';

const parameters = z.object({
  refresh_token: z.string(),
  scope: z.string().max(4000).optional(),
  resource: z.array(z.string()).optional(),
  authorization_details: z.string().optional(),
});

export const refreshToken: PersonGrant<z.infer<typeof parameters>> = {
  owner: 'person',
  parameters,
  async read(context, sent) {
    const { deps, client, cnf, rules, now } = context;
    const { refresh_token } = sent;
    const scope = parseScope(sent.scope);
    const resource = parseResource(sent.resource);
    const authorization_details = requestedOf(sent.authorization_details);
    const key = readHandle(refresh_token);
    if (!key)
      throw refuse(
        refreshTokenRefusals.unknown,
        { cause: 'not a refresh token of ours' },
        { request: { refresh_token } },
      );

    const presented = { refresh_token, key };
    const successor = drawSuccessor(deps, client, presented, now);
    const rotation = {
      token: key,
      client_id: client.client_id,
      proven: !isPublic(client),
      cnf,
      scope,
      resource,
      open_scopes: openScopes(context, resource),
      successor,
      retry: successor.retry,
      memberships: membershipRules(rules),
      retried_after: secondsAfter(now, -deps.config.REFRESH_TOKEN_RETRY_WINDOW),
    };
    const authorized = (answer: Answer | undefined): Authorization | undefined =>
      answer &&
      authorizationOf(context, answer.granted, {
        scope: scope.length > 0 ? scope : answer.granted.scope,
        resource: narrowResource(resource, answer.granted.resource),
        authorization_details,
        // OpenID Connect Core §12.2: a refreshed ID token echoes no nonce.
        nonce: null,
        refresh_token: answer.refresh_token,
      });
    // FAPI 2.0 Security Profile §5.3.2.1: what only the client can use does not rotate.
    const stays = profileOf(deps.config.PROFILE, client) !== null;
    const spend = stays ? refreshTokens.reuse : refreshTokens.rotate;
    const next = stays ? refresh_token : successor.refresh_token;
    const rotated = (granted: GrantedToPerson | undefined): Authorization | undefined =>
      authorized(granted && { granted, refresh_token: next });
    return {
      resource,
      authorization_details,
      spend: async (spending) => rotated(await spend(deps.db, rotation, spending, now)),
      preview: async () => rotated(await refreshTokens.preview(deps.db, rotation, now)),
      repeat: async () => authorized(await sameAnswer(context, presented, rotation)),
      async refusal() {
        const request = { ...rotation, refresh_token, now };
        const found = await refreshTokens.explain(deps.db, rotation, now);
        if (!found) return refuse(refreshTokenRefusals.unknown, { cause: 'unknown' }, { request });
        const { why, grant_id, sub, scope: granted } = found;
        if (why === 'ready') return undefined;
        // RFC 9700 §4.14.2: two parties hold it, so one of them stole it.
        if (why === 'reuse') await revokeReused(context, grant_id, 'refresh_token_reuse');
        const closed = why === 'other_scope' ? closedRefusal(context, granted) : undefined;
        return closed ?? refuse(refreshTokenRefusals[why], { cause: why, sub }, { request, found });
      },
    };
  },
};

interface Answer {
  granted: GrantedToPerson;
  refresh_token: string;
}

/**
 * Within the retry window, a client whose network lost the answer gets the same successor, never a second one.
 * @throws OAuthError invalid_scope, invalid_target when it asks for more than was granted; nothing is revoked
 */
async function sameAnswer(
  context: GrantContext,
  presented: Parameters<typeof rederiveSuccessor>[1],
  rotation: refreshTokens.Rotation,
): Promise<Answer | undefined> {
  const { deps, now } = context;
  if (deps.config.REFRESH_TOKEN_RETRY_WINDOW === 0) return undefined;
  const retried = await refreshTokens.findRetry(deps.db, rotation, now);
  const refresh_token = retried && rederiveSuccessor(deps, presented, retried);
  if (!retried || refresh_token === undefined) return undefined;
  const request = { ...rotation, refresh_token: presented.refresh_token, now };
  if (!isSubset(rotation.scope, retried.scope))
    throw refuse(refreshTokenRefusals.scope, {}, { request, found: retried });
  narrowResource(rotation.resource, retried.resource);
  const scope = rotation.scope.length > 0 ? rotation.scope : retried.scope;
  if (!scope.some((name) => rotation.open_scopes.includes(name)))
    throw (
      closedRefusal(context, retried.scope) ?? refuse(refreshTokenRefusals.other_scope, {}, { request, found: retried })
    );
  return { granted: retried, refresh_token };
}
