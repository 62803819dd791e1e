/** Reads a presented access token: a JWT by its signature, an opaque one by its row. Whether it counts is decided in verify.ts. */
import { errors, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import type { PublishedKey } from '../keys/index.ts';
import type { AuthorizationDetail } from '../protocol/authorization-details.ts';
import type { ClaimsRequest } from '../protocol/claims-request.ts';
import { confirmation, type Confirmation } from '../protocol/confirmation.ts';
import { numericDate } from '../protocol/numeric-date.ts';
import { parseScope } from '../protocol/scope.ts';
import { SIGNING_ALGS } from '../protocol/signing-alg.ts';
import type { TokenFormat } from '../protocol/token-format.ts';
import { isAccessToken } from '../protocol/token-type.ts';
import type { LiveToken } from '../store/access-tokens.ts';

/** The content of an access token. Times are NumericDates. `sub` is the real one, never the pairwise one. */
export interface PresentedToken {
  format: TokenFormat;
  sub: string;
  client_id: string;
  scope: string[];
  aud: string[];
  jti: string;
  iat: number;
  exp: number;
  gid?: string | undefined;
  auth_time?: number | undefined;
  acr?: string | undefined;
  amr?: string[] | undefined;
  /** What its holder has to prove; a bearer token has none. */
  cnf?: Confirmation | undefined;
  /** What exactly it is for (RFC 9396 §9.1). */
  authorization_details?: readonly AuthorizationDetail[] | undefined;
  /** The claims that were asked for by name, for userinfo alone. */
  requested_claims?: ClaimsRequest | null | undefined;
  /** The sector of its client's `sub`, as the grant noted it. */
  sector?: string | null | undefined;
  /** RFC 9068 §2.2.3.1: of a JWT as it says, of an opaque token as of now. */
  groups?: string[] | undefined;
  roles?: string[] | undefined;
}

const jwtClaims = z.object({
  sub: z.string(),
  client_id: z.string(),
  scope: z.string().optional(),
  aud: z.union([z.string(), z.array(z.string())]),
  jti: z.string(),
  iat: z.number(),
  exp: z.number(),
  gid: z.string().optional(),
  auth_time: z.number().optional(),
  acr: z.string().optional(),
  amr: z.array(z.string()).optional(),
  cnf: confirmation.optional(),
  // We signed it: its form was looked at before.
  authorization_details: z.array(z.custom<AuthorizationDetail>()).optional(),
  groups: z.array(z.string()).optional(),
  roles: z.array(z.string()).optional(),
});

/** Checks signature, type, issuer and expiry, nothing that needs the store. `sub` is as the token says it. */
export async function readAccessTokenJwt(
  deps: Pick<Deps, 'config' | 'keys' | 'verdicts'>,
  token: string,
  now: Date,
): Promise<Readonly<PresentedToken> | undefined> {
  const { keys, verdicts } = deps;
  const verdict = verdicts.find(token);
  if (verdict) {
    const counts =
      verdict.token.exp > numericDate(now) && (await keys.find(verdict.kid, now))?.public_key === verdict.key;
    if (counts) return verdict.token;
    verdicts.forget(token);
  }
  const read = await readSignedJwt(deps, token, now);
  if (read?.expired !== false) return undefined;
  const { kid, public_key: key } = read.signed_with;
  verdicts.keep(token, { kid, key, token: read.claims });
  return read.claims;
}

/**
 * The same for a token that may have expired; `retired` also takes the signature of a key that counts no longer. For
 * saying what a token was, never for letting anybody in.
 */
export async function readSignedJwt(
  { config, keys }: Pick<Deps, 'config' | 'keys'>,
  token: string,
  now: Date,
  { retired = false }: { retired?: boolean } = {},
): Promise<{ claims: PresentedToken; expired: boolean; signed_with: PublishedKey } | undefined> {
  let found: PublishedKey | undefined;
  let typ: string | undefined;
  const read = (payload: unknown, expired: boolean) => {
    const { aud: audience, scope, ...claims } = jwtClaims.parse(payload);
    const aud = [audience].flat();
    // RFC 9068 §4: before anything that it says counts.
    if (!isAccessToken(typ, aud, config.ISSUER)) return undefined;
    const token = { format: 'jwt' as const, ...claims, scope: parseScope(scope), aud };
    return { claims: token, expired, signed_with: found! };
  };
  try {
    const { payload } = await jwtVerify(
      token,
      async ({ kid = '', alg, typ: stated }) => {
        typ = stated;
        found = await keys.find(kid, now, { retired });
        // The key decides the algorithm, never the token (RFC 8725 §3.1).
        if (found?.alg !== alg) throw new errors.JWKSNoMatchingKey();
        return found.public_key;
      },
      { issuer: config.ISSUER, algorithms: [...SIGNING_ALGS], currentDate: now },
    );
    return read(payload, false);
  } catch (error) {
    // Its signature and issuer were right: expiry is looked at last.
    if (error instanceof errors.JWTExpired && jwtClaims.safeParse(error.payload).success) {
      return read(error.payload, true);
    }
    if (error instanceof errors.JOSEError || error instanceof z.ZodError) return undefined;
    throw error;
  }
}

/** A live row as a token, without what it tells its resource of memberships. */
export const tokenOf = (row: LiveToken): PresentedToken => ({
  format: 'opaque',
  sub: row.sub,
  client_id: row.client_id,
  scope: row.scope,
  aud: row.aud,
  jti: row.jti,
  iat: numericDate(row.created_at),
  exp: numericDate(row.expires_at),
  gid: row.grant_id ?? undefined,
  auth_time: row.auth_time ? numericDate(row.auth_time) : undefined,
  acr: row.acr ?? undefined,
  amr: row.amr ?? undefined,
  cnf: row.cnf ?? undefined,
  authorization_details: row.authorization_details ?? undefined,
  requested_claims: row.requested_claims,
  sector: row.granted?.sector,
});

/** Is it a person's? A machine's subject is its client, which no person can be (RFC 9700 §4.15). */
export const isOfPerson = ({ client_id, sub, gid }: Pick<PresentedToken, 'client_id' | 'sub' | 'gid'>): boolean =>
  gid !== undefined || sub !== client_id;
