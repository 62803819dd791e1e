/** Software statements (RFC 7591 §2.3): signed metadata about a client's software, by an issuer that the operator trusts. */
import { decodeJwt, errors, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { endpoints } from '../protocol/endpoint.ts';
import { invalidSoftwareStatement, unapprovedSoftwareStatement } from '../protocol/error.ts';
import { ASSERTION_ALGS, CLOCK_LEEWAY, joseProblem } from '../protocol/jwt-assertion.ts';
import { numericDate } from '../protocol/numeric-date.ts';
import { isStorableValue } from '../protocol/plain-text.ts';
import { listOf } from '../protocol/redaction.ts';

type Needs = Pick<Deps, 'config' | 'clientKeys'>;

// RFC 7591 names none; a JWT that says it is something else, an access token perhaps, is that.
const TYPS = [undefined, 'JWT'];

// Strictly what a compact JWS is made of, since it is kept and shown as it came.
const compact = z
  .string()
  .max(16_000)
  .regex(/^[\w-]+\.[\w-]+\.[\w-]+$/);
const claims = z.looseObject({ iss: z.string(), iat: z.number().optional() });

/**
 * The claims of a statement whose issuer an operator trusts. Others cannot be judged, and count for nothing: a client
 * that brought one must not believe that it did.
 * @throws OAuthError invalid_software_statement, unapproved_software_statement
 */
export async function verifyStatement(
  { config, clientKeys }: Needs,
  statement: unknown,
  now: Date,
): Promise<Record<string, unknown>> {
  const { ISSUER, SOFTWARE_STATEMENT_ISSUERS } = config;
  const iss = claimedIssuer(statement);
  const trusted = SOFTWARE_STATEMENT_ISSUERS.find(({ issuer }) => issuer === iss);
  if (!trusted) {
    throw unapprovedSoftwareStatement('the issuer of software_statement is not trusted', {
      check: 'software_statement',
      expected: listOf(SOFTWARE_STATEMENT_ISSUERS.map(({ issuer }) => issuer)),
      received: iss,
    });
  }
  const source = { jwks: null, jwks_uri: trusted.jwks_uri, registered_by: 'operator' } as const;
  try {
    const { payload, protectedHeader } = await jwtVerify(statement as string, clientKeys.keysOf(source), {
      algorithms: [...ASSERTION_ALGS],
      issuer: iss,
      // RFC 7519 §4.1.3: whoever it names, we have to be among them.
      ...('aud' in decodeJwt(statement as string) && {
        audience: [ISSUER, `${ISSUER}${endpoints.registration_endpoint}`],
      }),
      clockTolerance: CLOCK_LEEWAY,
      currentDate: now,
    });
    if (!TYPS.includes(protectedHeader.typ)) throw invalid(`typ ${String(protectedHeader.typ)} is not a statement’s`);
    if (!isStorableValue(payload)) throw invalid('a claim holds half a character');
    const { iat } = claims.parse(payload);
    if (iat !== undefined && iat > numericDate(now) + CLOCK_LEEWAY) throw invalid('issued in the future');
    return payload;
  } catch (cause) {
    if (cause instanceof errors.JWTExpired)
      throw invalidSoftwareStatement('software_statement has expired', { cause, check: 'software_statement' });
    if (!(cause instanceof z.ZodError)) joseProblem(cause);
    throw invalidSoftwareStatement('software_statement is not valid', { cause, check: 'software_statement' });
  }
}

const invalid = (why: string): errors.JWTInvalid => new errors.JWTInvalid(why);

/** Who a statement says it is from, unproven. @throws OAuthError invalid_software_statement */
function claimedIssuer(statement: unknown): string {
  try {
    return claims.parse(decodeJwt(compact.parse(statement))).iss;
  } catch (cause) {
    throw invalidSoftwareStatement('software_statement must be a JWT with an iss', {
      cause,
      check: 'software_statement',
    });
  }
}
