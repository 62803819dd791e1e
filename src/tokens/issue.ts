/** Issues tokens: an Authorization in, a token response out. Whether to issue is decided before, by the grant. */
import type { Config } from '../config.ts';
import type { Deps } from '../deps.ts';
import type { AuthorizationDetail } from '../protocol/authorization-details.ts';
import { tokenTypeOf, type TokenType } from '../protocol/confirmation.ts';
import { secondsUntil } from '../protocol/numeric-date.ts';
import { narrowScope } from '../protocol/resource.ts';
import { formatScope, OPENID } from '../protocol/scope.ts';
import type { OpaqueToken } from '../store/access-tokens.ts';
import type { Client } from '../store/clients.ts';
import { makeAccessToken } from './access-token.ts';
import type { Authorization } from './authorization.ts';
import type { Seal } from './encryption.ts';
import { issueIdToken } from './id-token.ts';
import { perRules, type Rules } from './rules.ts';
import { termsOf } from './terms.ts';

/** RFC 6749 §5.1, OpenID Connect Core §3.1.3.3. `scope` is always there (docs/specification.md): what this answer gives. */
export interface TokenResponse {
  access_token: string;
  token_type: TokenType;
  /** Seconds. */
  expires_in: number;
  scope: string;
  /** RFC 9396 §7: those of the access token. It is there where any were granted, and empty where none are left. */
  authorization_details?: readonly AuthorizationDetail[];
  refresh_token?: string;
  id_token?: string;
}

/** The tokens made for an authorization. */
export interface Issued {
  response: TokenResponse;
  jti: string;
  /** Of an opaque access token, to be written in the statement that spends what it is given for. */
  row: OpaqueToken | null;
}

/** What encrypts the ID token; undefined where nothing does. */
export interface Sealing {
  seal: Seal | undefined;
}

type Needs = Pick<Deps, 'config' | 'keys' | 'random' | 'tokenSizes'>;

/**
 * Makes the tokens of an authorization: no transaction is open meanwhile, and nothing is written.
 * @throws OAuthError invalid_scope when one is too large
 */
export async function issue(
  deps: Needs,
  authorization: Authorization,
  { rules, seal }: Sealing & { rules: Rules },
  now: Date,
): Promise<Issued> {
  const { scope, resource, authorization_details, cnf, person, refresh_token } = authorization;
  const { access_token, jti, expires_at, row } = await makeAccessToken(deps, authorization, rules, now);
  const response: TokenResponse = {
    access_token,
    token_type: tokenTypeOf(cnf),
    expires_in: secondsUntil(expires_at, now),
    scope: formatScope(narrowScope(scope, resource, rules)),
  };
  if (authorization_details) response.authorization_details = authorization_details;
  if (refresh_token !== undefined) response.refresh_token = refresh_token;
  if (person && scope.includes(OPENID)) {
    response.id_token = await issueIdToken(deps, authorization, person, { access_token, seal }, now);
    deps.tokenSizes.check(authorization.client.client_id, 'id_token', response.id_token);
  }
  return { response, jti, row };
}

/**
 * Is it certain that making tokens for this client cannot fail? Then what was presented is spent first, and the tokens are
 * made afterwards. It holds for claims within `claimsRoomFor` it and for none of the `opaqueResources`.
 */
export function canIssueAfterSpending(
  { config, keys }: Pick<Deps, 'config' | 'keys'>,
  client: Client,
  { rules, resource, seal }: Sealing & { rules: Rules; resource: readonly string[] },
  now: Date,
): boolean {
  if (seal || client.subject_type === 'pairwise') return false;
  const { format, alg: wanted } = termsOf({ config }, client, resource, rules);
  if (format === 'opaque') return false;
  const ours = wanted ?? config.ACCESS_TOKEN_SIGNING_ALG;
  const others = [client.id_token_signed_response_alg, ...resourceAlgs(rules)].filter((alg) => alg !== ours);
  return [ours, ...others].every((alg) => keys.canSign(alg, now)) && claimsRoomFor(config, client) !== 0;
}

/** The signing algorithms that single resources registered. */
const resourceAlgs = perRules(({ resources }) => [
  ...new Set([...resources.values()].flatMap((row) => row.access_token_signing_alg ?? [])),
]);

/** The resources that take opaque tokens only. */
export const opaqueResources = perRules(({ resources }): readonly string[] =>
  [...resources.values()].filter((row) => row.access_token_format === 'opaque').map((row) => row.resource),
);

/** Bytes of a JWT besides the person's claims, the issuer and the client: header, signature and our own claims. */
const FIXED_BYTES = 2000;

/**
 * Bytes of JSON that the claims about a person may have for the token to be within TOKEN_SIZE_MAX for certain: base64url
 * makes four characters of three bytes. Null when no limit is configured.
 */
export function claimsRoomFor(
  { TOKEN_SIZE_MAX, ISSUER }: Pick<Config, 'TOKEN_SIZE_MAX' | 'ISSUER'>,
  { client_id }: Pick<Client, 'client_id'>,
): number | null {
  if (TOKEN_SIZE_MAX === 0) return null;
  return Math.max(0, Math.floor((TOKEN_SIZE_MAX * 3) / 4) - FIXED_BYTES - 2 * (ISSUER.length + client_id.length));
}
