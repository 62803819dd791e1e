/** The public keys of clients: registered by value, or fetched from where the client publishes them and kept for minutes. */
import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Deps } from '../deps.ts';
import { publicJwks } from '../protocol/jwks.ts';
import type { Client } from '../store/clients.ts';

/** Where somebody's keys are: by value, or at an address, and whether an operator named it. */
export type KeySource = Pick<Client, 'jwks' | 'jwks_uri' | 'registered_by'>;

/** The keys that clients sign with. */
export interface ClientKeys {
  /** Finds the key of a signature. An unknown `kid` makes us look again, but not more often than every half minute. */
  keysOf(source: KeySource): JWTVerifyGetKey;
}

const TTL_MS = 300_000;
const AGAIN_MS = 30_000;
const MAX_SETS = 1000;

type KeySet = JWTVerifyGetKey;

/** Keys over the guarded outbound client. `now` is in milliseconds, monotonic. */
export function createClientKeys(fetch: Deps['fetch'], now: () => number): ClientKeys {
  const sets = new LRUCache<string, KeySet>({ max: MAX_SETS, perf: { now }, ttl: TTL_MS, ttlResolution: 0 });
  // The last attempt of each address, whatever became of it: strangers with made-up kids cause one fetch in half a minute,
  // and a set that works stays while another one is fetched.
  const attempts = new LRUCache<string, Promise<KeySet>>({
    max: MAX_SETS,
    perf: { now },
    ttl: AGAIN_MS,
    ttlResolution: 0,
  });

  const attempt = (uri: string, trusted: boolean): Promise<KeySet> => {
    // What a stranger could not fetch says nothing about what an operator may.
    const key = `${trusted} ${uri}`;
    const last = attempts.get(key);
    if (last) return last;
    const fetched = load(fetch, uri, trusted).then((set) => {
      sets.set(uri, set);
      return set;
    });
    fetched.catch(() => undefined);
    attempts.set(key, fetched);
    return fetched;
  };

  return {
    keysOf:
      ({ jwks, jwks_uri, registered_by }) =>
      async (header, token) => {
        if (jwks !== null) return createLocalJWKSet(jwks)(header, token);
        if (jwks_uri === null) throw new errors.JWKSNoMatchingKey();
        const trusted = registered_by === 'operator';
        const set = sets.get(jwks_uri) ?? (await attempt(jwks_uri, trusted));
        try {
          return await set(header, token);
        } catch (error) {
          // The client may have rotated since: OpenID Connect Core §10.1.1.
          const newer = error instanceof errors.JWKSNoMatchingKey ? await attempt(jwks_uri, trusted) : set;
          if (newer === set) throw error;
          return newer(header, token);
        }
      },
  };
}

/** @throws JWKSNoMatchingKey when there is no set to look in, whatever the reason: it is in the cause */
async function load(fetch: Deps['fetch'], uri: string, trusted: boolean): Promise<KeySet> {
  try {
    const headers = { accept: 'application/jwk-set+json, application/json' };
    const { status, text } = await fetch(uri, { headers, trusted });
    if (status !== 200) throw new Error(`${uri} answered ${status}`);
    return createLocalJWKSet(publicJwks.parse(JSON.parse(text)));
  } catch (cause) {
    throw new errors.JWKSNoMatchingKey(`${uri} gave no keys`, { cause });
  }
}
