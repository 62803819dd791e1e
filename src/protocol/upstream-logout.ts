/** Logout tokens that a provider sends (OpenID Connect Back-Channel Logout §2.4, §2.6): what they must say. */
import { z } from 'zod';
import { CLOCK_LEEWAY } from './jwt-assertion.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** Seconds for which one counts, whatever it says of itself: §2.4 asks for two minutes at most. */
const MAX_LIFE = 600;

/**
 * Is it typed as a logout token (§2.4)? Untyped ones (`JWT`, or nothing) are taken of a provider that has no other, where an operator says
 * so: nothing else then tells them from other tokens but their claims (ASVS 5.0 V10.5.5).
 */
export function isLogoutTyp(typ: string | undefined, untyped: boolean): boolean {
  const named = (typ ?? 'JWT').toLowerCase().replace(/^application\//, '');
  return named === 'logout+jwt' || (untyped && named === 'jwt');
}

const name = z.string().min(1).max(255);
const claims = z.object({
  iss: z.string(),
  aud: z.union([z.string(), z.array(z.string()).max(20)]),
  iat: z.number(),
  exp: z.number(),
  jti: z.string().min(1).max(512),
  events: z.object({ [EVENT]: z.record(z.string(), z.unknown()) }),
  sub: name.optional(),
  sid: name.optional(),
  // With one it would be an ID token.
  nonce: z.never().optional(),
});

/** What is to end there, and how long the token could come again. */
export interface LogoutClaims {
  jti: string;
  sub?: string | undefined;
  sid?: string | undefined;
  /** NumericDate. */
  until: number;
}

/** Why verified claims end nothing (§2.6), or what they end. `now` is a NumericDate. */
export function checkLogoutToken(
  payload: unknown,
  { issuer, client_id, now }: { issuer: string; client_id: string; now: number },
): LogoutClaims | string {
  const parsed = claims.safeParse(payload);
  if (!parsed.success) return `${String(parsed.error.issues[0]?.path[0])} is missing, malformed, or may not be there`;
  const { iss, aud, iat, exp, jti, sub, sid } = parsed.data;
  if (iss !== issuer) return 'iss is another provider';
  if (![aud].flat().includes(client_id)) return 'aud is another client';
  if (iat > now + CLOCK_LEEWAY) return 'it was issued in the future';
  const until = Math.min(exp, iat + MAX_LIFE) + CLOCK_LEEWAY;
  if (until <= now) return 'it has expired';
  if (sub === undefined && sid === undefined) return 'neither sub nor sid is there';
  return { jti, sub, sid, until };
}
