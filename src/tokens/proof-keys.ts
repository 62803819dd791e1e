/** The keys of DPoP proofs, read once: whoever sends proofs sends the same header each time. */
import { calculateJwkThumbprint, decodeProtectedHeader, importJWK } from 'jose';
import { LRUCache } from 'lru-cache';
import { proofHeader } from '../protocol/dpop.ts';

/** The key that a header holds. */
export interface ProofKey {
  alg: string;
  key: Awaited<ReturnType<typeof importJWK>>;
  /** Its SHA-256 thumbprint (RFC 7638). */
  jkt: string;
}

/** The keys by the header that they came in. */
export interface ProofKeys {
  /** The key of a proof; a text where there is none, which says why. @throws what jose does of a key that is none */
  keyOf(proof: string): Promise<ProofKey | string>;
}

const MAX_KEYS = 10_000;
/** Characters of all headers together. */
const MAX_SIZE = 8 * 1024 * 1024;

/** An empty memory. */
export function createProofKeys(): ProofKeys {
  const kept = new LRUCache<string, ProofKey>({ max: MAX_KEYS, maxSize: MAX_SIZE });
  return {
    async keyOf(proof) {
      const header = proof.slice(0, proof.indexOf('.'));
      const known = kept.get(header);
      if (known) return known;
      const parsed = proofHeader.safeParse(decodeProtectedHeader(proof));
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        return `${issue?.path.join('.') || 'the header'}: ${issue?.message}`;
      }
      const { alg, jwk } = parsed.data;
      const key = { alg, key: await importJWK(jwk, alg), jkt: await calculateJwkThumbprint(jwk) };
      if (header !== '') kept.set(header, key, { size: header.length });
      return key;
    },
  };
}
