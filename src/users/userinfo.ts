/** What userinfo answers (OpenID Connect Core §5.3): the claims a live access token opens. */
import type { Deps } from '../deps.ts';
import type { Claims } from '../protocol/claims.ts';
import { insufficientScope, invalidToken } from '../protocol/error.ts';
import { OPENID } from '../protocol/scope.ts';
import * as users from '../store/users.ts';
import { subjectFor } from '../tokens/subject.ts';
import { userinfoFor } from '../tokens/userinfo-token.ts';
import { BUILT_IN_CLIENT, verifyAccessToken } from '../tokens/verify.ts';
import { claimsFor, requestedClaims } from './claims.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'directory' | 'keys' | 'clientKeys'>;

/** The claims, or the JWT that holds them. @throws OAuthError invalid_token, insufficient_scope, temporarily_unavailable */
export async function userinfo(deps: Needs, access_token: string, now: Date): Promise<Claims | string> {
  const token = await verifyAccessToken(deps, access_token, now);
  if (!token) throw invalidToken('the access token is not valid');
  // A token for another resource is that resource's, not ours.
  if (!token.aud.includes(deps.config.ISSUER)) throw invalidToken('the access token is for another audience');
  if (!token.scope.includes(OPENID)) throw insufficientScope('the access token lacks openid', { scope: OPENID });
  const user = await users.find(deps.db, token.sub);
  if (!user || user.disabled_at !== null) throw invalidToken('the access token is not valid');
  const known = await deps.directory.scopes();
  const requested = requestedClaims(user, token.requested_claims?.userinfo, known);
  const claims = { ...claimsFor(user, token.scope, known), ...requested };
  const client = await deps.directory.client(token.client_id);
  // The token of POST /login is our own, and no client's.
  if (token.client_id === BUILT_IN_CLIENT) return { ...claims, sub: user.sub };
  // Deleted this very moment: nobody else is told the real subject.
  if (!client) throw invalidToken('the access token is not valid');
  return userinfoFor(deps, client, { ...claims, sub: subjectFor(deps, client, user.sub) }, now);
}
