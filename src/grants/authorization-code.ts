/**
 * grant_type=authorization_code (RFC 6749 §4.1.3, RFC 7636 §4.5): a code is redeemed once, by the client it was issued to, with
 * the redirect_uri of its request and the verifier of its challenge. Its refusals are rows in refusals.ts.
 */
import { z } from 'zod';
import { isPublic } from '../protocol/client.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { parseVerifier } from '../protocol/pkce.ts';
import { isRegisteredRedirectUri } from '../protocol/redirect-uri.ts';
import { narrowResource, parseResource } from '../protocol/resource.ts';
import * as authorizationCodes from '../store/authorization-codes.ts';
import { readHandle } from '../protocol/handle.ts';
import type { Authorization } from '../tokens/authorization.ts';
import { membershipRules } from '../tokens/memberships.ts';
import { drawRefreshToken } from '../tokens/prepare.ts';
import { authorizationOf, openScopes, requestedOf, revokeReused, type PersonGrant } from './grant.ts';
import { closedRefusal, codeRefusals, refuse } from './refusals.ts';

const parameters = z.object({
  code: z.string(),
  redirect_uri: z.string().max(2000),
  code_verifier: z.string().optional(),
  resource: z.array(z.string()).optional(),
  authorization_details: z.string().optional(),
});

export const authorizationCode: PersonGrant<z.infer<typeof parameters>> = {
  owner: 'person',
  parameters,
  async read(context, sent) {
    const { deps, client, cnf, rules, now } = context;
    const { redirect_uri } = sent;
    // RFC 7636 §4.6: the challenge that this verifier answers.
    const code_challenge = parseVerifier(sent.code_verifier) ?? null;
    const resource = parseResource(sent.resource);
    const authorization_details = requestedOf(sent.authorization_details);
    const code = readHandle(sent.code);
    if (!code) throw refuse(codeRefusals.unknown, { cause: 'not a code of ours' }, { request: { sent } });

    const refresh_token = drawRefreshToken(deps, client, code.expires_bucket, now);
    // What has to match, and what is issued if it does: the store compares and spends in one statement.
    const redemption = {
      code,
      client_id: client.client_id,
      proven: !isPublic(client),
      cnf,
      redirect_uri,
      code_challenge,
      resource,
      open_scopes: openScopes(context, resource),
      refresh_token,
      memberships: membershipRules(rules),
      retried_after: secondsAfter(now, -deps.config.REFRESH_TOKEN_RETRY_WINDOW),
    };
    // A code that was sent to an address which the client has lost since may be in somebody else's hands.
    const isRegistered = isRegisteredRedirectUri(redirect_uri, client.redirect_uris, client.application_type);
    const authorized = (granted: authorizationCodes.GrantedByCode | undefined): Authorization | undefined =>
      granted &&
      authorizationOf(context, granted, {
        scope: granted.scope,
        resource: narrowResource(resource, granted.resource),
        authorization_details,
        nonce: granted.nonce,
        refresh_token: refresh_token?.refresh_token,
      });
    return {
      resource,
      authorization_details,
      spend: async (spending) =>
        isRegistered ? authorized(await authorizationCodes.redeem(deps.db, redemption, spending, now)) : undefined,
      preview: async () =>
        isRegistered ? authorized(await authorizationCodes.preview(deps.db, redemption, now)) : undefined,
      async refusal() {
        const request = { ...redemption, sent, redirect_uris: client.redirect_uris, now };
        const found = await authorizationCodes.explain(deps.db, redemption, now);
        if (!found) return refuse(codeRefusals.unknown, { cause: 'unknown' }, { request });
        const { why, grant_id, sub, scope } = found;
        if (why === 'ready') return isRegistered ? undefined : refuse(codeRefusals.redirect_uri_lost, {}, { request });
        // RFC 6749 §4.1.2: the authorization ends. A replay is an alarm; `repeated` came so soon that the client may never
        // have had the answer, and asks for a new code.
        if (why === 'replay' || why === 'repeated') await revokeReused(context, grant_id, `code_${why}`);
        const closed = why === 'scope' ? closedRefusal(context, scope) : undefined;
        return closed ?? refuse(codeRefusals[why], { cause: why, sub }, { request, found });
      },
    };
  },
};
