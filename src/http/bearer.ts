/** Access tokens in the Authorization header (RFC 6750 §2.1, RFC 9449 §7.1), and the challenge where one is missing or refused. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import type { TokenType } from '../protocol/confirmation.ts';
import { DPOP_ALGS } from '../protocol/dpop.ts';
import { currentNonce, usesNonces } from '../tokens/dpop-nonce.ts';
import type { ProvenRequest } from '../tokens/dpop.ts';
import type { Presentation } from '../tokens/holder.ts';
import { certificateOf } from './certificate.ts';

/** The Bearer token in the header: undefined without the header, null for another scheme or no token after it. */
export function bearerOf(request: FastifyRequest): string | null | undefined {
  const presented = tokenIn(request);
  return presented?.type === 'DPoP' ? null : presented && presented.access_token;
}

/** The access token in the header, by the scheme it is presented with: undefined and null as of `bearerOf`. */
function tokenIn({
  headers: { authorization },
}: FastifyRequest): Pick<Presentation, 'type' | 'access_token'> | null | undefined {
  if (authorization === undefined) return undefined;
  const [, scheme, access_token] = /^(bearer|dpop) +(\S+)$/i.exec(authorization) ?? [];
  if (scheme === undefined || access_token === undefined) return null;
  return { type: typeOf(scheme), access_token };
}

const typeOf = (scheme: string): TokenType => (scheme.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer');

/** The same with what its sender proves beside it. */
export function presentationOf(deps: Pick<Deps, 'config'>, request: FastifyRequest): Presentation | null | undefined {
  const presented = tokenIn(request);
  return presented && { ...presented, ...provenRequestOf(deps, request) };
}

/** What a request proves, @throws OAuthError. A DPoP proof is about it at the address by which the issuer is known, whatever a proxy made of it. */
export function provenRequestOf(deps: Pick<Deps, 'config'>, request: FastifyRequest): ProvenRequest {
  const { headers, method, url } = request;
  const { dpop } = headers;
  return {
    dpop: [dpop].flat()[0] === undefined ? undefined : String(dpop),
    method,
    url: `${new URL(deps.config.ISSUER).origin}${url}`,
    certificate: certificateOf(deps, request),
  };
}

/** Gives whoever uses nonces in DPoP proofs the next one (RFC 9449 §8.2), before anything is decided. */
export function offerNonce(
  deps: Pick<Deps, 'clock' | 'secrets'>,
  { headers: { dpop } }: FastifyRequest,
  reply: FastifyReply,
): void {
  if (typeof dpop === 'string' && usesNonces(dpop)) giveNonce(deps, reply);
}

/** Gives a nonce to whoever has to send one. */
export const giveNonce = (deps: Pick<Deps, 'clock' | 'secrets'>, reply: FastifyReply): void =>
  void reply.header('dpop-nonce', currentNonce(deps, deps.clock()));

/** What WWW-Authenticate says after the realm (§3). */
export type Challenge = Readonly<{
  error?: string;
  error_description?: string;
  scope?: string | undefined;
  /** RFC 9470 §3. */
  acr_values?: string;
  max_age?: string;
}>;

/**
 * The value of WWW-Authenticate: for the scheme that the request came with. Whoever came with no token, or with one that
 * is bound, hears of both (RFC 9449 §7.2).
 */
export function challengeOf(
  issuer: string,
  { headers: { authorization } }: FastifyRequest,
  challenge: Challenge = {},
  { bound = authorization === undefined }: { bound?: boolean | undefined } = {},
): string {
  const proven = `algs="${DPOP_ALGS.join(' ')}"`;
  const parameters = Object.entries({ realm: issuer, ...challenge }).filter(([, value]) => value !== undefined);
  const said = parameters.map(([name, value]) => `${name}="${value}"`).join(', ');
  if (/^dpop /i.test(authorization ?? '')) return `DPoP ${said}, ${proven}`;
  return `Bearer ${said}${bound ? `, DPoP ${proven}` : ''}`;
}
