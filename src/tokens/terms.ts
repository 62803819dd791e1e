/** The terms of an access token: its format, life and algorithm, from the resource, else the client, else the server. */
import type { Deps } from '../deps.ts';
import { FAPI_ALGS, FAPI_CODE_TTL, profileOf } from '../protocol/profile.ts';
import type { SigningAlg } from '../protocol/signing-alg.ts';
import type { TokenFormat } from '../protocol/token-format.ts';
import { typFor, type AccessTokenTyp } from '../protocol/token-type.ts';
import type { Client } from '../store/clients.ts';
import { rulesOf, type Rules } from './rules.ts';

export interface Terms {
  format: TokenFormat;
  /** Seconds. */
  ttl: number;
  /** Of a JWT. */
  typ: AccessTokenTyp;
  /** Of a JWT. Null is the server's default, which no resource or client has asked for and which may change. */
  alg: SigningAlg | null;
}

/** With several resources the strictest wins: opaque before JWT, the shortest life, the type of RFC 9068. */
export function termsOf(
  { config }: Pick<Deps, 'config'>,
  client: Client,
  resource: readonly string[],
  { resources }: Pick<Rules, 'resources'>,
): Terms {
  const rows = resource.map((uri) => resources.get(uri)).filter((row) => row !== undefined);
  const formats = rows.map((row) => row.access_token_format).filter((format) => format !== null);
  const lives = rows.map((row) => row.access_token_ttl).filter((ttl) => ttl !== null);
  const alg = rows.find((row) => row.access_token_signing_alg !== null)?.access_token_signing_alg;
  return {
    typ: typFor(resource.map((uri) => (uri === config.ISSUER ? null : resources.get(uri)?.access_token_typ))),
    format: formats.includes('opaque') ? 'opaque' : (formats[0] ?? client.access_token_format ?? 'jwt'),
    ttl: Math.min(...lives, ...(lives.length > 0 ? [] : [client.access_token_ttl ?? config.ACCESS_TOKEN_TTL])),
    alg: alg ?? profiledAlg(config, client),
  };
}

/** FAPI 2.0 Security Profile §5.4.1: of a client with a profile no token is signed with RS256, whatever the server's default is. */
function profiledAlg(
  { PROFILE, ACCESS_TOKEN_SIGNING_ALG, SIGNING_ALGS }: Deps['config'],
  client: Client,
): SigningAlg | null {
  if (FAPI_ALGS.includes(ACCESS_TOKEN_SIGNING_ALG) || profileOf(PROFILE, client) === null) return null;
  return SIGNING_ALGS.find((alg) => FAPI_ALGS.includes(alg)) ?? null;
}

/** Seconds that a code of this client lives. */
export const codeLife = ({ config }: Pick<Deps, 'config'>, client: Client): number =>
  profileOf(config.PROFILE, client) === null
    ? config.AUTHORIZATION_CODE_TTL
    : Math.min(config.AUTHORIZATION_CODE_TTL, FAPI_CODE_TTL);

/**
 * Seconds that a grant lives: as long as it can be refreshed, else until the access token of its one redemption has
 * expired. `wait` is how long that redemption may take to come.
 */
export async function grantLife(
  deps: Pick<Deps, 'config' | 'directory'>,
  client: Client,
  resource: readonly string[],
  wait: number,
): Promise<number> {
  if (!client.grant_types.includes('refresh_token')) {
    return wait + termsOf(deps, client, resource, await rulesOf(deps)).ttl;
  }
  return Math.max(wait, client.refresh_token_ttl ?? deps.config.REFRESH_TOKEN_TTL);
}
