/** private_key_jwt (OpenID Connect Core §9, RFC 7523): the client signs an assertion for this server, short-lived, used once. */
import { jwtVerify } from 'jose';
import { endpoints } from '../../protocol/endpoint.ts';
import {
  checkAssertion,
  claimedSubject,
  CLIENT_ASSERTION_TYPE,
  CLOCK_LEEWAY,
  joseProblem,
  signingAlgsOf,
} from '../../protocol/jwt-assertion.ts';
import { numericDate, secondsAfter } from '../../protocol/numeric-date.ts';
import { invalidClient, invalidRequest } from '../../protocol/error.ts';
import { textOf } from '../../protocol/parameters.ts';
import { kindOf } from '../../protocol/redaction.ts';
import { profileOf } from '../../protocol/profile.ts';
import type { Client } from '../../store/clients.ts';
import * as replays from '../../store/replays.ts';
import type { Method, PresentedCredentials, Proof, ProofContext } from './method.ts';

/** A signed assertion in the body. */
export const privateKeyJwt: Method = {
  read,
  guessable: false,
  isUsedBy: ({ token_endpoint_auth_method }) => token_endpoint_auth_method === 'private_key_jwt',
  unused: 'the client does not use private_key_jwt',
  refusal: { check: 'client_assertion', expected: 'an assertion signed with a key of the client' },
};

/** @throws OAuthError invalid_request, invalid_client when it cannot be read */
function read({ parameters }: PresentedCredentials): Proof | undefined {
  const client_assertion = textOf(parameters, 'client_assertion');
  if (client_assertion === undefined) return undefined;
  const client_assertion_type = textOf(parameters, 'client_assertion_type');
  if (client_assertion_type !== CLIENT_ASSERTION_TYPE) {
    const detail = {
      check: 'client_assertion',
      expected: CLIENT_ASSERTION_TYPE,
      received: client_assertion_type,
    } as const;
    throw invalidRequest('client_assertion_type is not supported', detail);
  }
  const client_id = claimedSubject(client_assertion);
  if (client_id === undefined) {
    const detail = {
      check: 'client_assertion',
      expected: 'a JWT with a sub',
      received: kindOf(client_assertion),
    } as const;
    throw invalidClient('client_assertion is not a JWT with a sub', detail);
  }
  return { client_id, refute: (client, context) => refute(client, client_assertion, context) };
}

// RFC 7523bis: an assertion may say what it is; anything else it says it is, it is not.
const TYPS = [undefined, 'JWT', 'client-authentication+jwt'];

async function refute(client: Client, assertion: string, { deps, now }: ProofContext): Promise<string | undefined> {
  try {
    const { payload, protectedHeader } = await jwtVerify(assertion, deps.clientKeys.keysOf(client), {
      algorithms: signingAlgsOf(client.token_endpoint_auth_signing_alg),
      // Times are checked below, with our own leeway and bounds.
      clockTolerance: Number.MAX_SAFE_INTEGER,
      currentDate: now,
    });
    if (!TYPS.includes(protectedHeader.typ)) return `typ ${String(protectedHeader.typ)} is not an assertion's`;
    const { ISSUER, CLIENT_ASSERTION_AUDIENCE } = deps.config;
    // FAPI 2.0 Security Profile §5.3.2.1.
    const plain = CLIENT_ASSERTION_AUDIENCE === 'issuer' || profileOf(deps.config.PROFILE, client) !== null;
    const audiences = plain ? [ISSUER] : [ISSUER, `${ISSUER}${endpoints.token_endpoint}`];
    const claims = checkAssertion(payload, { client_id: client.client_id, audiences, plain, now: numericDate(now) });
    if (typeof claims === 'string') return claims;
    // Last, so that only an assertion that would have counted is used up. Kept as long as it could come again.
    const until = secondsAfter(new Date(claims.exp * 1000), 2 * CLOCK_LEEWAY);
    const fresh = await replays.claim(deps.db, `client_assertion ${client.client_id} ${claims.jti}`, until);
    return fresh ? undefined : 'the assertion was used before';
  } catch (error) {
    return joseProblem(error);
  }
}
