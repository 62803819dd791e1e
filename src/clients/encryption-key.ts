/** The key of a client that something is encrypted to: chosen from its set, tried once, kept as long as the set. */
import { CompactEncrypt, importJWK, type CryptoKey, type JWK } from 'jose';
import type { EncryptionAlg } from '../protocol/encryption-alg.ts';
import { encryptionKeysOf, type PublicJwks } from '../protocol/jwks.ts';

/** A public key of a client, and the name the client gave it. */
export interface EncryptionKey {
  kid: string | undefined;
  key: CryptoKey;
}

type Found = Promise<EncryptionKey | undefined>;
const cache = new WeakMap<PublicJwks, Map<EncryptionAlg, Found>>();

/** The first key of the set that really encrypts with `alg`; undefined when there is none. */
export function encryptionKeyOf(jwks: PublicJwks, alg: EncryptionAlg): Found {
  const byAlg = cache.get(jwks) ?? new Map<EncryptionAlg, Found>();
  cache.set(jwks, byAlg);
  const found = byAlg.get(alg) ?? find(jwks, alg);
  byAlg.set(alg, found);
  return found;
}

async function find(jwks: PublicJwks, alg: EncryptionAlg): Found {
  for (const jwk of encryptionKeysOf(jwks, alg)) {
    try {
      const key = (await importJWK(jwk as JWK, alg)) as CryptoKey;
      // Tried before anything is spent: short keys and points off the curve fail here.
      await new CompactEncrypt(new Uint8Array()).setProtectedHeader({ alg, enc: 'A128GCM' }).encrypt(key);
      return { kid: typeof jwk['kid'] === 'string' ? jwk['kid'] : undefined, key };
    } catch {
      // Not usable, whatever it says of itself: perhaps the next one is.
    }
  }
  return undefined;
}
