/** grant_type=authorization_code (RFC 6749 §4.1.3, RFC 7636 §4.5). */
import { z } from 'zod';
import { isPublic } from '../protocol/client-metadata.ts';
import { rowOf } from '../events/index.ts';
import { invalidGrant, invalidScope, invalidTarget, type Explanation, type OAuthError } from '../protocol/error.ts';
import { parseVerifier } from '../protocol/pkce.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { kindOf, listOf } from '../protocol/redaction.ts';
import { isRegisteredRedirectUri } from '../protocol/redirect-uri.ts';
import { narrowResource, parseResource } from '../protocol/resource.ts';
import * as authorizationCodes from '../store/authorization-codes.ts';
import * as grants from '../store/grants.ts';
import { readHandle } from '../store/handle.ts';
import { drawRefreshToken } from '../tokens/prepare.ts';
import { membershipsWanted } from '../tokens/memberships.ts';
import type { Authorization } from '../tokens/authorization.ts';
import { authorizationOf, closed, ended, openScopes, UNPROVEN, type Grant, type GrantContext } from './grant.ts';

const parameters = z.object({
  code: z.string(),
  redirect_uri: z.string().max(2000),
  code_verifier: z.string().optional(),
  resource: z.array(z.string()).optional(),
});

export const authorizationCode: Grant<z.infer<typeof parameters>> = {
  parameters,
  async read(context, { code, redirect_uri, code_verifier, resource: sent }) {
    const { deps, client, known, now } = context;
    const code_challenge = parseVerifier(code_verifier) ?? null;
    const resource = parseResource(sent);
    const key = readHandle(code);
    if (!key) throw invalidGrant(DESCRIPTION.unknown, { cause: 'not a code of ours', ...unknownCode(code) });

    const refresh = drawRefreshToken(deps, client, key.expires_bucket, now);
    // Where a client has lost an address, what went there is nobody's to redeem.
    const isRegistered = isRegisteredRedirectUri(redirect_uri, client.redirect_uris, client.application_type);
    const redemption = {
      code: key,
      client_id: client.client_id,
      proven: !isPublic(client),
      redirect_uri,
      code_challenge,
      resource,
      open_scopes: openScopes(context, resource),
      refresh_token: refresh,
      memberships: membershipsWanted(known),
      retried_after: secondsAfter(now, -deps.config.REFRESH_TOKEN_RETRY_WINDOW),
    };
    const authorized = (granted: authorizationCodes.GrantedByCode | undefined): Authorization | undefined =>
      granted &&
      authorizationOf(context, granted, {
        scope: granted.scope,
        resource: narrowResource(resource, granted.resource),
        nonce: granted.nonce,
        refresh_token: refresh?.refresh_token,
      });
    return {
      resource,
      spend: async (spending) =>
        isRegistered ? authorized(await authorizationCodes.redeem(deps.db, redemption, spending, now)) : undefined,
      look: async () =>
        isRegistered ? authorized(await authorizationCodes.look(deps.db, redemption, now)) : undefined,
      refusal: () => refusal(context, redemption, { code, code_verifier }),
    };
  },
};

type Reason = Exclude<authorizationCodes.CodeRefusal, 'ready'>;

/** For the caller: whether a code exists, or whose it is, is nobody else's affair. */
const DESCRIPTION: Record<Reason, string> = {
  unknown: 'the code is not valid',
  other_client: 'the code is not valid',
  unproven: 'the code is for a client that proves who it is',
  redirect_uri: 'redirect_uri is not the one of the authorization request',
  code_verifier: 'code_verifier does not answer the code_challenge',
  replay: 'the code was used before; everything it gave is revoked',
  repeated: 'the code was used before; everything it gave is revoked',
  expired: 'the code has expired',
  revoked: 'the authorization has ended',
  resource: 'a requested resource was not granted',
  scope: 'the requested resource knows nothing of the granted scope',
};

/** What the client sent that only its kind may be kept of. */
interface Presented {
  code: string;
  code_verifier: string | undefined;
}

/** Names the reason of a failed claim; a replay ends what the code gave. */
async function refusal(
  context: GrantContext,
  redemption: authorizationCodes.Redemption,
  presented: Presented,
): Promise<OAuthError | undefined> {
  const { deps, client, by, now } = context;
  const found = await authorizationCodes.explain(deps.db, redemption, now);
  if (!found) return invalidGrant(DESCRIPTION.unknown, { cause: 'unknown', ...unknownCode(presented.code) });
  const { why, grant_id, sub } = found;
  if (why === 'ready') return lostAddress(context, redemption);
  if (why === 'replay' || why === 'repeated') {
    // RFC 6749 §4.1.2. An alarm, unless it came so soon that its client may not have had an answer: then nobody holds what
    // ends here, and the client asks for a new code.
    const event = { event: `code_${why}`, client_id: client.client_id, detail: { gid: grant_id } } as const;
    await grants.revokeNoting(deps.db, grant_id, client.client_id, event.event, rowOf(event, by, now), now);
  }
  const detail = { cause: why, sub, ...EXPLANATION[why](found, redemption, presented, now) };
  if (why === 'scope') return closed(context, found.scope) ?? invalidScope(DESCRIPTION[why], detail);
  return why === 'resource' ? invalidTarget(DESCRIPTION[why], detail) : invalidGrant(DESCRIPTION[why], detail);
}

/** The refusal of a code whose redirect URI its client has lost; undefined where it has not. */
function lostAddress(
  { client }: GrantContext,
  { redirect_uri }: authorizationCodes.Redemption,
): OAuthError | undefined {
  if (isRegisteredRedirectUri(redirect_uri, client.redirect_uris, client.application_type)) return undefined;
  const expected = listOf(client.redirect_uris);
  const detail = { check: 'code_redirect_uri', expected, received: redirect_uri } as const;
  return invalidGrant('redirect_uri is not registered for this client any more', detail);
}

const unknownCode = (code: string): Explanation => ({
  check: 'code',
  expected: 'a code of this server, not older than its authorization can live',
  received: kindOf(code),
});

const usedBefore = ({ used_at }: authorizationCodes.FoundCode): Explanation => ({
  check: 'code_replay',
  expected: 'a code that nobody redeemed before',
  received: `a code redeemed at ${used_at?.toISOString()}`,
});

/** For the operator: what would have passed, and what came instead. */
const EXPLANATION: Record<
  Reason,
  (found: authorizationCodes.FoundCode, asked: authorizationCodes.Redemption, sent: Presented, now: Date) => Explanation
> = {
  unknown: (_found, _asked, { code }) => unknownCode(code),
  unproven: () => UNPROVEN,
  other_client: ({ client_id }, asked) => ({
    check: 'code_client',
    expected: `client ${client_id}, to whom the code was issued`,
    received: `client ${asked.client_id}`,
  }),
  redirect_uri: ({ redirect_uri }, asked) => ({
    check: 'code_redirect_uri',
    expected: redirect_uri,
    received: asked.redirect_uri,
  }),
  code_verifier: ({ has_challenge }, _asked, { code_verifier }) => ({
    check: 'code_verifier',
    expected: has_challenge ? 'the verifier of the code_challenge' : 'none, since there was no code_challenge',
    received:
      code_verifier === undefined ? 'none' : `a verifier of ${code_verifier.length} characters for another challenge`,
  }),
  replay: usedBefore,
  repeated: usedBefore,
  expired: ({ expires_at }, _asked, _sent, now) => ({
    check: 'code_expiry',
    expected: `redeemed before ${expires_at.toISOString()}`,
    received: `redeemed at ${now.toISOString()}`,
  }),
  revoked: ended,
  resource: ({ resource }, asked) => ({
    check: 'resource',
    expected: listOf(resource),
    received: listOf(asked.resource),
  }),
  scope: ({ scope }, asked) => ({
    check: 'scope',
    expected: `of what the resource knows, one: ${listOf(asked.open_scopes)}`,
    received: `granted: ${listOf(scope)}`,
  }),
};
