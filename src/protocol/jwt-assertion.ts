/** JWT assertions by which clients authenticate (RFC 7523 §3, OpenID Connect Core §9): what they must say. */
import { decodeJwt, errors } from 'jose';
import { z } from 'zod';

export const CLIENT_ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** What others may sign with: asymmetric only. RFC 9864's name of EdDSA is accepted beside the old one. */
export const ASSERTION_ALGS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

/**
 * The algorithms that count where a client registered one, or none, in particular. RFC 9864: `EdDSA` and `Ed25519` name
 * one signature, for the only curve we take.
 */
export function signingAlgsOf(registered: string | null): string[] {
  if (registered === null) return [...ASSERTION_ALGS];
  const edwards = ['EdDSA', 'Ed25519'];
  return edwards.includes(registered) ? edwards : [registered];
}

/**
 * Why a JWT of somebody else's cannot be verified or decrypted, for the log: it, or a key of theirs that cannot be imported
 * or is too short, is their affair. @throws anything else: that is a defect of ours
 */
export function joseProblem(error: unknown): string {
  const theirs = error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException;
  if (theirs) return `${error.name}: ${error.message}`;
  throw error;
}

/** Seconds an assertion may be valid from now, at most. */
const ASSERTION_MAX_LIFE = 300;
/** Seconds that two clocks may differ. */
export const CLOCK_LEEWAY = 60;

const claims = z.object({
  iss: z.string().max(200),
  sub: z.string().max(200),
  aud: z.union([z.string().max(2000), z.array(z.string().max(2000)).max(1)]),
  exp: z.number(),
  nbf: z.number().optional(),
  iat: z.number().optional(),
  jti: z.string().min(1).max(256),
});
export type AssertionClaims = z.infer<typeof claims>;

/** The client an assertion claims to be from, unproven; undefined when it is no JWT. */
export function claimedSubject(assertion: string): string | undefined {
  try {
    const { sub } = decodeJwt(assertion);
    return typeof sub === 'string' && sub !== '' ? sub : undefined;
  } catch {
    return undefined;
  }
}

/** What an assertion is measured by. */
export interface Expected {
  client_id: string;
  /** Who we are: the issuer, and where it is still allowed the token endpoint. */
  audiences: readonly string[];
  /** Must `aud` be a plain string (FAPI 2.0 §5.3.2.1)? */
  plain: boolean;
  /** NumericDate. */
  now: number;
}

/** Why verified claims do not authenticate this client, or the claims when they do. */
export function checkAssertion(
  payload: unknown,
  { client_id, audiences, plain, now }: Expected,
): AssertionClaims | string {
  const parsed = claims.safeParse(payload);
  if (!parsed.success) return `${String(parsed.error.issues[0]?.path[0])} is missing or malformed`;
  const { iss, sub, aud, exp, nbf, iat } = parsed.data;
  if (iss !== client_id || sub !== client_id) return 'iss and sub must be the client_id';
  if (plain && typeof aud !== 'string') return 'aud must be one string';
  const [audience] = [aud].flat();
  if (audience === undefined || !audiences.includes(audience)) return 'aud is not this server';
  if (exp <= now - CLOCK_LEEWAY) return 'it has expired';
  if (exp > now + ASSERTION_MAX_LIFE + CLOCK_LEEWAY) return `exp is more than ${ASSERTION_MAX_LIFE} seconds ahead`;
  if (nbf !== undefined && nbf > now + CLOCK_LEEWAY) return 'it is not valid yet';
  if (iat !== undefined && iat > now + CLOCK_LEEWAY) return 'it was issued in the future';
  return parsed.data;
}
