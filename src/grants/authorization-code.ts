/** grant_type=authorization_code (RFC 6749 §4.1.3, RFC 7636 §4.5). */
import { z } from 'zod';
import { record } from '../events/index.ts';
import { invalidGrant, invalidScope, invalidTarget, type OAuthError } from '../protocol/error.ts';
import { parseVerifier } from '../protocol/pkce.ts';
import { narrowResource, parseResource, scopesOpenAt } from '../protocol/resource.ts';
import * as authorizationCodes from '../store/authorization-codes.ts';
import { transact } from '../store/db.ts';
import { readHandle } from '../store/handle.ts';
import { drawRefreshToken } from '../tokens/prepare.ts';
import { rulesOf } from '../tokens/terms.ts';
import { authorizationOf, type Grant, type GrantContext } from './grant.ts';

const parameters = z.object({
  code: z.string().max(512),
  redirect_uri: z.string().max(2000),
  code_verifier: z.string().optional(),
  resource: z.array(z.string()).optional(),
});

export const authorizationCode: Grant<z.infer<typeof parameters>> = {
  parameters,
  async authorize(context, { code, redirect_uri, code_verifier, resource: sent }) {
    const { deps, client, now } = context;
    const code_challenge = parseVerifier(code_verifier) ?? null;
    const resource = parseResource(sent);
    const key = readHandle(code);
    if (!key) throw invalidGrant(DESCRIPTION.unknown, { cause: 'not a code of ours' });

    const refresh = drawRefreshToken(deps, client, key.expires_bucket, now);
    const redemption = {
      code: key,
      client_id: client.client_id,
      redirect_uri,
      code_challenge,
      resource,
      open_scopes: scopesOpenAt(resource, await rulesOf(deps)),
      refresh_token: refresh,
    };
    const granted = await authorizationCodes.redeem(deps.db, redemption, now);
    if (!granted) throw await refusal(context, redemption);
    return authorizationOf(context, granted, {
      scope: granted.scope,
      resource: narrowResource(resource, granted.resource),
      nonce: granted.nonce,
      refresh_token: refresh?.refresh_token,
    });
  },
};

/** For the caller: whether a code exists, or whose it is, is nobody else's affair. */
const DESCRIPTION: Record<authorizationCodes.CodeRefusal, string> = {
  unknown: 'the code is not valid',
  other_client: 'the code is not valid',
  redirect_uri: 'redirect_uri is not the one of the authorization request',
  code_verifier: 'code_verifier does not answer the code_challenge',
  replay: 'the code was used before; everything it gave is revoked',
  expired: 'the code has expired',
  revoked: 'the authorization has ended',
  resource: 'a requested resource was not granted',
  scope: 'the requested resource knows nothing of the granted scope',
};

/** Names the reason of a failed claim; a replay is alarmed in the transaction that revokes. */
function refusal(context: GrantContext, redemption: authorizationCodes.Redemption): Promise<OAuthError> {
  const { deps, client, by, now } = context;
  return transact(deps.db, async (trx) => {
    const { why, grant_id } = await authorizationCodes.explain(trx, redemption, now);
    if (why === 'replay') {
      const { client_id } = client;
      await record(trx, { event: 'code_replay', client_id, detail: { gid: grant_id } }, by, now);
    }
    if (why === 'scope') return invalidScope(DESCRIPTION[why]);
    return why === 'resource' ? invalidTarget(DESCRIPTION[why]) : invalidGrant(DESCRIPTION[why], { cause: why });
  });
}
