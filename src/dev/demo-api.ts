/**
 * The demo API of development mode: notes that it shows to people who showed two factors in the last five minutes. It does what any API would:
 * it checks the signature of the access token with the published keys, and says what is missing (RFC 9470).
 */
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose';
import type { Deps } from '../deps.ts';
import { endpoints } from '../protocol/endpoint.ts';

type Needs = Pick<Deps, 'clock' | 'config' | 'fetch'>;

/** What the API asks for. */
const ACR_VALUES = '2';
const MAX_AGE = 300;

/** An answer of the API, and what a client asks for to come back with. */
export interface ApiAnswer {
  status: number;
  challenge?: string;
  body: object;
  step_up?: { acr_values: string; max_age: string };
}

/** Answers whoever presents this token. */
export async function demoApi({ config, fetch, clock }: Needs, token: string | undefined): Promise<ApiAnswer> {
  if (token === undefined) return { status: 401, challenge: 'Bearer', body: {} };
  const { ISSUER: issuer } = config;
  const jwks = await fetch(`${issuer}${endpoints.jwks_uri}`, { trusted: true });
  const keys = createLocalJWKSet(JSON.parse(jwks.text) as JSONWebKeySet);
  const currentDate = clock();
  const verified = await jwtVerify(token, keys, { issuer, audience: issuer, typ: 'at+jwt', currentDate }).catch(
    () => undefined,
  );
  if (!verified) {
    return { status: 401, challenge: 'Bearer error="invalid_token"', body: { error: 'invalid_token' } };
  }
  const { acr, auth_time } = verified.payload as JWTPayload & { acr?: string; auth_time?: number };
  const age = currentDate.getTime() / 1000 - (auth_time ?? 0);
  if (acr === ACR_VALUES && age <= MAX_AGE) {
    return { status: 200, body: { notes: ['The gate opens to whoever shows two keys.'] } };
  }
  // RFC 9470 §3: what would have been enough.
  const error = 'insufficient_user_authentication';
  const error_description = 'two factors, shown in the last five minutes, are needed';
  return {
    status: 401,
    challenge: `Bearer error="${error}", error_description="${error_description}", acr_values="${ACR_VALUES}", max_age="${MAX_AGE}"`,
    body: { error, error_description },
    step_up: { acr_values: ACR_VALUES, max_age: String(MAX_AGE) },
  };
}
