/** The public keys of clients: registered by value, or fetched from where the client publishes them and kept for minutes. */
import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Deps } from '../deps.ts';
import type { EncryptionAlg } from '../protocol/encryption-alg.ts';
import { holdsCertificate, publicJwks, type PublicJwks } from '../protocol/jwks.ts';
import type { Client } from '../store/clients.ts';
import { encryptionKeyOf, type EncryptionKey } from './encryption-key.ts';

/** Where somebody's keys are: by value, or at an address, and whether an operator named it. */
type KeySource = Pick<Client, 'jwks' | 'jwks_uri' | 'registered_by'>;

/** The keys that clients sign with. */
export interface ClientKeys {
  /** Finds the key of a signature. An unknown `kid` makes us look again, but not more often than every half minute. */
  keysOf(source: KeySource): JWTVerifyGetKey;
  /** Is a certificate (DER) the first one in the x5c of one of the keys (RFC 8705 §2.2)? */
  hasCertificate(source: KeySource, der: Buffer): Promise<boolean>;
  /** The key to encrypt to; undefined when there is none that fits, or the set cannot be had. */
  encryptionKeyOf(source: KeySource, alg: EncryptionAlg): Promise<EncryptionKey | undefined>;
}

const TTL_MS = 300_000;
const AGAIN_MS = 30_000;
const MAX_ATTEMPTS = 200;
/** Characters of all the sets that are kept: others choose how long each is. */
const MAX_SIZE = 16 * 1024 * 1024;

/**
 * RFC 7517 §8.5, OpenID Connect Core §10.1.1, and what servers say of files that they do not know. A page is no key set,
 * though somebody may have had it say something that reads like one.
 */
const MEDIA_TYPES: ReadonlySet<string> = new Set([
  'application/jwk-set+json',
  'application/json',
  'application/octet-stream',
  'binary/octet-stream',
  'text/plain',
  '',
]);

interface KeySet {
  jwks: PublicJwks;
  size: number;
  verifying: JWTVerifyGetKey;
}

const verifiers = new WeakMap<PublicJwks, JWTVerifyGetKey>();

/** The keys of a set, each imported once as long as the set is kept. */
function verifyingWith(jwks: PublicJwks): JWTVerifyGetKey {
  const verifying = verifiers.get(jwks) ?? createLocalJWKSet(jwks);
  verifiers.set(jwks, verifying);
  return verifying;
}

/** Keys over the guarded outbound client. `now` is in milliseconds, monotonic. */
export function createClientKeys(fetch: Deps['fetch'], now: () => number): ClientKeys {
  const sets = new LRUCache<string, KeySet>({
    maxSize: MAX_SIZE,
    sizeCalculation: ({ size }, key) => size + key.length,
    perf: { now },
    ttl: TTL_MS,
    ttlResolution: 0,
  });
  // The last attempt of each address, whatever became of it: strangers with made-up kids cause one fetch in half a minute,
  // and a set that works stays while another one is fetched.
  const attempts = new LRUCache<string, Promise<KeySet>>({
    max: MAX_ATTEMPTS,
    perf: { now },
    ttl: AGAIN_MS,
    ttlResolution: 0,
  });

  // Apart by trust: an address of an operator's client may be in the private network, one of a stranger's may not.
  const cacheKey = (uri: string, trusted: boolean): string => `${trusted} ${uri}`;

  const attempt = (uri: string, trusted: boolean): Promise<KeySet> => {
    const key = cacheKey(uri, trusted);
    const last = attempts.get(key);
    if (last) return last;
    const fetched = load(fetch, uri, trusted).then((set) => {
      sets.set(key, set);
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
        if (jwks !== null) return verifyingWith(jwks)(header, token);
        if (jwks_uri === null) throw new errors.JWKSNoMatchingKey();
        const trusted = registered_by === 'operator';
        const set = sets.get(cacheKey(jwks_uri, trusted)) ?? (await attempt(jwks_uri, trusted));
        try {
          return await set.verifying(header, token);
        } catch (error) {
          // The client may have rotated since: OpenID Connect Core §10.1.1.
          const newer = error instanceof errors.JWKSNoMatchingKey ? await attempt(jwks_uri, trusted) : set;
          if (newer === set) throw error;
          return newer.verifying(header, token);
        }
      },
    async hasCertificate({ jwks, jwks_uri, registered_by }, der) {
      if (jwks !== null) return holdsCertificate(jwks, der);
      if (jwks_uri === null) return false;
      const trusted = registered_by === 'operator';
      try {
        const set = sets.get(cacheKey(jwks_uri, trusted)) ?? (await attempt(jwks_uri, trusted));
        // The client may have published it since.
        return holdsCertificate(set.jwks, der) || holdsCertificate((await attempt(jwks_uri, trusted)).jwks, der);
      } catch (error) {
        if (error instanceof errors.JWKSNoMatchingKey) return false;
        throw error;
      }
    },
    async encryptionKeyOf({ jwks, jwks_uri, registered_by }, alg) {
      if (jwks !== null) return encryptionKeyOf(jwks, alg);
      if (jwks_uri === null) return undefined;
      const trusted = registered_by === 'operator';
      try {
        const set = sets.get(cacheKey(jwks_uri, trusted)) ?? (await attempt(jwks_uri, trusted));
        const found = await encryptionKeyOf(set.jwks, alg);
        // The client may have published one since.
        return found ?? (await encryptionKeyOf((await attempt(jwks_uri, trusted)).jwks, alg));
      } catch (error) {
        if (error instanceof errors.JWKSNoMatchingKey) return undefined;
        throw error;
      }
    },
  };
}

/** @throws JWKSNoMatchingKey when there is no set to look in, whatever the reason: it is in the cause */
async function load(fetch: Deps['fetch'], uri: string, trusted: boolean): Promise<KeySet> {
  try {
    const headers = { accept: 'application/jwk-set+json, application/json' };
    const { status, media_type, text } = await fetch(uri, { headers, trusted });
    if (status !== 200) throw new Error(`${uri} answered ${status}`);
    if (!MEDIA_TYPES.has(media_type)) throw new Error(`${uri} answered with ${media_type}`);
    const jwks = publicJwks.parse(JSON.parse(text));
    return { jwks, size: text.length, verifying: verifyingWith(jwks) };
  } catch (cause) {
    throw new errors.JWKSNoMatchingKey(`${uri} gave no keys`, { cause });
  }
}
