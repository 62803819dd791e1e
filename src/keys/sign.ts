/** Signatures of JWTs (RFC 7515 §5.1, §7.1) by our own keys. */
import { constants, sign, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { SigningAlg } from '../protocol/signing-alg.ts';

const signElsewhere = promisify(sign);

/** RFC 7518 §3.3–3.5, RFC 8037 §3.1. On a curve it takes less than the way to another thread; RSA would hold up others. */
const SIGNATURES: Record<SigningAlg, (input: Buffer, key: KeyObject) => Buffer | Promise<Buffer>> = {
  RS256: (input, key) => signElsewhere('sha256', input, key),
  // RFC 7518 §3.5: the salt is as long as the hash.
  PS256: (input, key) =>
    signElsewhere('sha256', input, {
      key,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    }),
  // Node makes R and S side by side too, but takes as long again for it.
  ES256: (input, key) => sideBySide(sign('sha256', input, key)),
  EdDSA: (input, key) => sign(null, input, key),
};

/** RFC 7518 §3.4: R and S of P-256, 32 bytes each, out of the SEQUENCE of two INTEGERs (RFC 3279 §2.2.3). */
function sideBySide(der: Buffer): Buffer {
  const both = Buffer.alloc(64);
  // Each INTEGER has its length before it, no zeros in front but one that keeps it positive.
  for (let n = 1, at = 2; n <= 2; n += 1) {
    const end = at + 2 + der[at + 1]!;
    const digits = der.subarray(Math.max(at + 2, end - 32), end);
    digits.copy(both, n * 32 - digits.length);
    at = end;
  }
  return both;
}

/** Signs JWTs with one key. */
export type Signer = (claims: object, typ: string | undefined) => Promise<string>;

/** A signer for this key. The headers, of which there are few, it makes once. */
export function createSigner(key: { kid: string; alg: SigningAlg; private_key: KeyObject }): Signer {
  const { kid, alg, private_key } = key;
  const headers = new Map<string | undefined, string>();
  return async (claims, typ) => {
    let header = headers.get(typ);
    if (header === undefined) headers.set(typ, (header = encode({ typ, alg, kid })));
    const input = `${header}.${encode(claims)}`;
    const signature = await SIGNATURES[alg](Buffer.from(input), private_key);
    return `${input}.${signature.toString('base64url')}`;
  };
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
