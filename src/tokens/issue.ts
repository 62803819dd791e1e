/**
 * Tokens: an Authorization in, a token response out; and what a presented token means. Whether to issue is decided
 * before.
 */
import type { Deps } from '../deps.ts';
import { secondsUntil } from '../protocol/numeric-date.ts';
import { narrowScope } from '../protocol/resource.ts';
import { formatScope, OPENID } from '../protocol/scope.ts';
import { issueAccessToken } from './access-token.ts';
import type { Authorization } from './authorization.ts';
import type { Seal } from './encryption.ts';
import { issueIdToken } from './id-token.ts';
import { rulesOf } from './terms.ts';

/** RFC 6749 §5.1, OpenID Connect Core §3.1.3.3. `scope` is always there (spec.md): what this answer gives. */
export interface TokenResponse {
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  scope: string;
  refresh_token?: string;
  id_token?: string;
}

type Needs = Pick<Deps, 'config' | 'db' | 'directory' | 'keys' | 'random'>;

/**
 * Makes the tokens of an authorization; `seal` encrypts its ID token. Runs after the grant has committed: signing holds
 * no transaction open.
 */
export async function issue(
  deps: Needs,
  authorization: Authorization,
  { seal }: { seal: Seal | undefined },
  now: Date,
): Promise<{ response: TokenResponse; jti: string }> {
  const { scope, resource, person, refresh_token } = authorization;
  const { access_token, jti, expires_at } = await issueAccessToken(deps, authorization, now);
  const response: TokenResponse = {
    access_token,
    token_type: 'Bearer',
    expires_in: secondsUntil(expires_at, now),
    scope: formatScope(narrowScope(scope, resource, await rulesOf(deps))),
  };
  if (refresh_token !== undefined) response.refresh_token = refresh_token;
  if (person && scope.includes(OPENID)) {
    response.id_token = await issueIdToken(deps, authorization, person, { access_token, seal }, now);
  }
  return { response, jti };
}
