/** DPoP proofs (RFC 9449 §4): what a proof has to say. Its signature, and whether it came before, is the affair of tokens/dpop.ts. */
import { z } from 'zod';
import { sha256 } from './handle.ts';
import { ASSERTION_ALGS, CLOCK_LEEWAY } from './jwt-assertion.ts';

/** What proofs may be signed with: asymmetric, as assertions are. */
export const DPOP_ALGS = ASSERTION_ALGS;
const DPOP_TYP = 'dpop+jwt';
/** Characters of a proof: room for the largest RSA key and its signature. */
export const MAX_PROOF = 6000;
/** Seconds that a proof counts after it was made, where clocks agree. */
const PROOF_LIFE = 60;
/** Seconds after its `iat` that a proof is refused for its age alone, so that it need not be remembered any longer. */
export const PROOF_KEPT = PROOF_LIFE + CLOCK_LEEWAY;

const text = z.string().min(1).max(4000);
// Base64url as RFC 7518 §6 wants it, so that one key has one thumbprint.
const number = text.regex(/^[A-Za-z0-9_-]+$/);
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** The public key in the header (§4.2), with what its thumbprint is made of alone; others may not be its secret half. */
const proofKey = z
  .looseObject({})
  .refine((key) => PRIVATE_MEMBERS.every((member) => !(member in key)), 'it holds a private key')
  .pipe(
    z.discriminatedUnion('kty', [
      z.object({ kty: z.literal('EC'), crv: z.enum(['P-256', 'P-384', 'P-521']), x: number, y: number }),
      z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: number }),
      z.object({ kty: z.literal('RSA'), n: number, e: number }),
    ]),
  );

/** The header, besides what the signature is checked with. */
export const proofHeader = z.object({ typ: z.literal(DPOP_TYP), alg: z.enum(DPOP_ALGS), jwk: proofKey });

const claims = z.object({
  jti: z.string().min(1).max(256),
  htm: z.string().max(20),
  htu: z.string().max(4000),
  iat: z.number(),
  exp: z.number().optional(),
  nbf: z.number().optional(),
  ath: z.string().optional(),
  nonce: z.string().max(1000).optional(),
});
export type ProofClaims = z.infer<typeof claims>;

/** What a proof is measured by (§4.3). */
export interface ExpectedProof {
  method: string;
  /** Where the request came in, as its sender knows it. */
  url: string;
  /** The token that is presented with it; undefined where none is. */
  access_token?: string | undefined;
  /** NumericDate. */
  now: number;
}

/** The claims of a proof that is for this request and made now; else what is wrong with it. Its nonce is not looked at. */
export function checkProof(payload: unknown, { method, url, access_token, now }: ExpectedProof): ProofClaims | string {
  const parsed = claims.safeParse(payload);
  if (!parsed.success) return `${String(parsed.error.issues[0]?.path[0])} is missing or malformed`;
  const { htm, htu, iat, exp, nbf, ath } = parsed.data;
  if (htm !== method) return 'htm is not the method of the request';
  const address = addressOf(htu);
  if (address === undefined || address !== addressOf(url)) return 'htu is not the address of the request';
  if (iat > now + CLOCK_LEEWAY) return 'it was made in the future';
  if (iat <= now - PROOF_KEPT) return 'it is too old';
  if (exp !== undefined && exp <= now - CLOCK_LEEWAY) return 'it has expired';
  if (nbf !== undefined && nbf > now + CLOCK_LEEWAY) return 'it is not valid yet';
  if (access_token !== undefined && ath !== athOf(access_token)) return 'ath is not the hash of the access token';
  return parsed.data;
}

/** The hash of an access token, in the proof that goes with it (§4.2). */
export const athOf = (access_token: string): string => sha256(access_token).toString('base64url');

/**
 * An address in the form in which two are compared (§4.3): without query and fragment, and normalized by syntax and scheme
 * (RFC 3986 §6.2.2, §6.2.3). Undefined of what no request could have come to.
 */
export function addressOf(uri: string): string | undefined {
  const url = URL.parse(uri);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined;
  // URL has put host, port and dots in order. Octets that need no escape are written without, others in capitals.
  const pathname = url.pathname.replaceAll(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCodePoint(Number.parseInt(escape.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : escape.toUpperCase();
  });
  return `${url.origin}${pathname}`;
}
