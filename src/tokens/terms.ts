/** The terms of an access token: its format, life and algorithm, from the resource, else the client, else the server. */
import type { Deps } from '../deps.ts';
import type { SigningAlg } from '../protocol/signing-alg.ts';
import { typFor, type AccessTokenTyp } from '../protocol/token-type.ts';
import type { Client } from '../store/clients.ts';
import type { TokenFormat } from '../store/clients-table.ts';
import type { KnownResource } from '../store/resources.ts';
import type { KnownScope } from '../store/scopes.ts';

export interface Terms {
  format: TokenFormat;
  /** Seconds. */
  ttl: number;
  /** Of a JWT. */
  typ: AccessTokenTyp;
  /** Of a JWT. Null is the server's choice: nobody counts on it. */
  alg: SigningAlg | null;
}

/** The scopes and resources there are: by them scope is narrowed to where a token goes. */
export interface Known {
  issuer: string;
  /** By name. */
  scopes: ReadonlyMap<string, KnownScope>;
  /** By identifier. */
  resources: ReadonlyMap<string, KnownResource>;
}

export const rulesOf = async ({ config, directory }: Pick<Deps, 'config' | 'directory'>): Promise<Known> => ({
  issuer: config.ISSUER,
  scopes: await directory.scopes(),
  resources: await directory.resources(),
});

/** With several resources the strictest wins: opaque before JWT, the shortest life, the type of RFC 9068. */
export function termsOf(
  { config }: Pick<Deps, 'config'>,
  client: Client,
  resource: readonly string[],
  { resources }: Pick<Known, 'resources'>,
): Terms {
  const rows = resource.map((uri) => resources.get(uri)).filter((row) => row !== undefined);
  const formats = rows.map((row) => row.access_token_format).filter((format) => format !== null);
  const lives = rows.map((row) => row.access_token_ttl).filter((ttl) => ttl !== null);
  const alg = rows.find((row) => row.access_token_signing_alg !== null)?.access_token_signing_alg;
  return {
    typ: typFor(resource.map((uri) => (uri === config.ISSUER ? null : resources.get(uri)?.access_token_typ))),
    format: formats.includes('opaque') ? 'opaque' : (formats[0] ?? client.access_token_format ?? 'jwt'),
    ttl: Math.min(...lives, ...(lives.length > 0 ? [] : [client.access_token_ttl ?? config.ACCESS_TOKEN_TTL])),
    alg: alg ?? null,
  };
}

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
