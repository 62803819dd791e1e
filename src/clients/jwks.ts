/** The public keys of clients: registered by value, or fetched from where the client publishes them and kept for minutes. */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Deps } from '../deps.ts';
import { publicJwks } from '../protocol/jwks.ts';
import type { Client } from '../store/clients.ts';

export interface ClientKeys {
  /** Finds the key of a signature. An unknown `kid` makes us look again, but not more often than every half minute. */
  keysOf(client: Client): JWTVerifyGetKey;
}

const TTL_MS = 300_000;
const AGAIN_MS = 30_000;
const MAX_SETS = 1000;

interface Fetched {
  find: JWTVerifyGetKey;
  at: number;
}

/** Keys over the guarded outbound client. `now` is in milliseconds, monotonic. */
export function createClientKeys(fetch: Deps['fetch'], now: () => number): ClientKeys {
  const sets = new LRUCache<string, Fetched>({
    max: MAX_SETS,
    perf: { now },
    ttl: TTL_MS,
    ttlResolution: 0,
    fetchMethod: async (uri) => {
      const { status, text } = await fetch(uri, { headers: { accept: 'application/jwk-set+json, application/json' } });
      if (status !== 200) throw new Error(`${uri} answered ${status}`);
      const jwks = publicJwks.parse(JSON.parse(text)) as unknown as JSONWebKeySet;
      return { find: createLocalJWKSet(jwks), at: now() };
    },
  });

  return {
    keysOf:
      ({ jwks, jwks_uri }) =>
      async (header, token) => {
        if (jwks !== null) return createLocalJWKSet(jwks)(header, token);
        if (jwks_uri === null) throw new errors.JWKSNoMatchingKey();
        const fetched = await load(sets, jwks_uri, false);
        try {
          return await fetched.find(header, token);
        } catch (error) {
          // The client may have rotated since: OpenID Connect Core §10.1.1.
          if (!(error instanceof errors.JWKSNoMatchingKey) || now() - fetched.at < AGAIN_MS) throw error;
          return (await load(sets, jwks_uri, true)).find(header, token);
        }
      },
  };
}

/** @throws JWKSNoMatchingKey when there is no set to look in, whatever the reason: it is in the cause */
async function load(sets: LRUCache<string, Fetched>, uri: string, forceRefresh: boolean): Promise<Fetched> {
  try {
    return (await sets.fetch(uri, { forceRefresh }))!;
  } catch (cause) {
    throw new errors.JWKSNoMatchingKey(`${uri} gave no keys`, { cause });
  }
}
