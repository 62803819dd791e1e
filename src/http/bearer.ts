/** Bearer tokens (RFC 6750): reading one from the Authorization header, and the challenge where there is none. */
import type { FastifyRequest } from 'fastify';

/** The token in the header (§2.1): undefined without the header, null for another scheme or no token after it. */
export function bearerOf({ headers: { authorization } }: FastifyRequest): string | null | undefined {
  if (authorization === undefined) return undefined;
  return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? null;
}

/** What WWW-Authenticate says after the realm (§3). */
export type Challenge = Readonly<{
  error?: string;
  error_description?: string;
  scope?: string | undefined;
  /** RFC 9470 §3. */
  acr_values?: string;
  max_age?: string;
}>;

/** The value of WWW-Authenticate. */
export function bearerChallenge(issuer: string, challenge: Challenge = {}): string {
  const parameters = Object.entries({ realm: issuer, ...challenge }).filter(([, value]) => value !== undefined);
  return `Bearer ${parameters.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}
