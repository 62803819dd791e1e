/**
 * Tokens: an Authorization in, a token response out; and what a presented token means. Whether to issue is decided
 * before.
 */
import type { Config } from '../config.ts';
import type { Deps } from '../deps.ts';
import { secondsUntil } from '../protocol/numeric-date.ts';
import { narrowScope } from '../protocol/resource.ts';
import { formatScope, OPENID } from '../protocol/scope.ts';
import type { OpaqueToken } from '../store/access-tokens.ts';
import type { Client } from '../store/clients.ts';
import { makeAccessToken } from './access-token.ts';
import type { Authorization } from './authorization.ts';
import type { Seal } from './encryption.ts';
import { issueIdToken } from './id-token.ts';
import { termsOf, type Known } from './terms.ts';

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

/** What is made of an authorization. */
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
 * Makes the tokens of an authorization: no transaction is open meanwhile, and nothing is written. @throws TokenTooLarge
 */
export async function issue(
  deps: Needs,
  authorization: Authorization,
  { known, seal }: Sealing & { known: Known },
  now: Date,
): Promise<Issued> {
  const { scope, resource, person, refresh_token } = authorization;
  const { access_token, jti, expires_at, row } = await makeAccessToken(deps, authorization, known, now);
  const response: TokenResponse = {
    access_token,
    token_type: 'Bearer',
    expires_in: secondsUntil(expires_at, now),
    scope: formatScope(narrowScope(scope, resource, known)),
  };
  if (refresh_token !== undefined) response.refresh_token = refresh_token;
  if (person && scope.includes(OPENID)) {
    response.id_token = await issueIdToken(deps, authorization, person, { access_token, seal }, now);
    deps.tokenSizes.check(authorization.client.client_id, 'id_token', response.id_token);
  }
  return { response, jti, row };
}

/**
 * Can nothing fail that makes tokens for this client, whatever was granted within `roomFor` it and not for one of
 * `opaqueOf`? Then they can be made after what was presented is spent.
 */
export function canBeMadeLater(
  { config, keys }: Pick<Deps, 'config' | 'keys'>,
  client: Client,
  { known, resource, seal }: Sealing & { known: Known; resource: readonly string[] },
  now: Date,
): boolean {
  if (seal || client.subject_type === 'pairwise') return false;
  if (termsOf({ config }, client, resource, known).format === 'opaque') return false;
  const wanted = new Set([client.id_token_signed_response_alg, config.ACCESS_TOKEN_SIGNING_ALG]);
  for (const { access_token_signing_alg: alg } of known.resources.values()) if (alg !== null) wanted.add(alg);
  return [...wanted].every((alg) => keys.canSign(alg, now)) && roomFor(config, client) !== 0;
}

/** The resources that take opaque tokens only. */
export const opaqueOf = ({ resources }: Known): string[] =>
  [...resources.values()].filter((row) => row.access_token_format === 'opaque').map((row) => row.resource);

/** Bytes of a JWT that are neither about its person nor named here: its header, its signature, and claims of our own. */
const FIXED_BYTES = 2000;

/**
 * So many bytes may what is told of a person have, written as JSON, for no token to be too large for certain: of its
 * characters three are four in a JWT. Null when no token can be too large.
 */
export function roomFor(
  { TOKEN_SIZE_MAX, ISSUER }: Pick<Config, 'TOKEN_SIZE_MAX' | 'ISSUER'>,
  { client_id }: Pick<Client, 'client_id'>,
): number | null {
  if (TOKEN_SIZE_MAX === 0) return null;
  return Math.max(0, Math.floor((TOKEN_SIZE_MAX * 3) / 4) - FIXED_BYTES - 2 * (ISSUER.length + client_id.length));
}
