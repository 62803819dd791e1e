/** Authorization of operators: an access token for this API, of a client that acts for itself, with the operation's scope. */
import type { FastifyRequest } from 'fastify';
import type { Deps } from '../../deps.ts';
import { adminApiOf, isAdminApi } from '../../protocol/admin-api.ts';
import type { Explanation } from '../../protocol/error.ts';
import { isOfPerson } from '../../tokens/presented-token.ts';
import { describePresented } from '../../tokens/unverified.ts';
import { verifyPresented } from '../../tokens/verify.ts';
import { presentationOf } from '../bearer.ts';
import { Challenged } from '../problem.ts';

/** On whose behalf a request is carried out. */
export interface Principal {
  client_id: string;
  /** What its token has. */
  scope: readonly string[];
}

/** Who was found to ask; undefined before that. */
export const principalOf = (request: FastifyRequest): Principal | undefined =>
  (request as { principal?: Principal | null }).principal ?? undefined;

const invalidToken = (detail: string, why: Explanation): Challenged =>
  new Challenged('unauthorized', detail, { error: 'invalid_token' }, why);

/** @throws Problem unauthorized or forbidden; both look alike for what exists and what does not */
export async function authorizeOperator(deps: Deps, request: FastifyRequest, scope: string): Promise<Principal> {
  const presented = presentationOf(deps, request);
  if (presented === undefined) {
    // RFC 6750 §3.1: without any token, no error.
    throw new Challenged(
      'unauthorized',
      'send an access token as Bearer or DPoP',
      {},
      { check: 'bearer', received: 'none' },
    );
  }
  if (presented === null) {
    const why = { check: 'bearer', received: 'another scheme, or no token after it' } as const;
    throw new Challenged(
      'unauthorized',
      'the Authorization header is not Bearer or DPoP',
      { error: 'invalid_request' },
      why,
    );
  }
  const now = deps.clock();
  const token = await verifyPresented(deps, presented, now);
  if (!token)
    throw invalidToken('the access token is not valid', { received: describePresented(presented.access_token, now) });
  const { ISSUER } = deps.config;
  const { client_id, aud, scope: token_scope } = token;
  // RFC 9700 §2.3: one that others are sent too would let each of them act here.
  if (!isAdminApi(aud, ISSUER)) {
    const api = adminApiOf(ISSUER);
    const wanted = aud.includes(api) ? `${api} alone` : api;
    const why = { check: 'access_token_audience', expected: wanted, received: aud.join(' '), client_id } as const;
    throw invalidToken(`the access token is for another audience: ask for one with resource=${wanted}`, why);
  }
  // People act through their own pages: no consent of theirs gives a client power over the service.
  const ofPerson = isOfPerson(token);
  if (ofPerson || !token_scope.includes(scope)) {
    const detail = ofPerson ? "a person's access token is not accepted here" : `the access token lacks ${scope}`;
    const expected = ofPerson ? 'a token of a client that acts for itself' : scope;
    const received = ofPerson ? 'a token of a person' : token_scope.join(' ');
    const why = { expected, received, client_id };
    throw new Challenged('forbidden', detail, { error: 'insufficient_scope', scope }, why);
  }
  return { client_id, scope: token_scope };
}
