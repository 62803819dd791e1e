/** at_hash (OpenID Connect Core §3.1.3.6): ties an access token to the ID token issued beside it. */
import { hash } from 'node:crypto';
import type { SigningAlg } from './signing-alg.ts';

const HASH: Record<SigningAlg, string> = {
  RS256: 'sha256',
  PS256: 'sha256',
  ES256: 'sha256',
  // Ed25519 hashes with SHA-512 inside, and at_hash follows the algorithm's own hash.
  EdDSA: 'sha512',
};

/** Left half of the hash that the ID token's algorithm uses, base64url. */
export function tokenHash(token: string, alg: SigningAlg): string {
  const digest = hash(HASH[alg], token, 'buffer');
  return digest.subarray(0, digest.length / 2).toString('base64url');
}
