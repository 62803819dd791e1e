/**
 * Who may: an access token of ours, for this API, of a client that acts for itself, with the scope that the operation
 * names.
 */
import type { FastifyRequest } from 'fastify';
import { ADMIN_PATH, Problem } from '../../admin/index.ts';
import type { Deps } from '../../deps.ts';
import { BUILT_IN_CLIENT, verifyAccessToken } from '../../tokens/verify.ts';

/** On whose behalf a request is carried out. */
export interface Principal {
  client_id: string;
}

/** A refusal with what RFC 6750 §3 has to say in WWW-Authenticate. */
export class Challenged extends Problem {
  /** The parameters after the realm: `error="invalid_token"`; empty when no token came. */
  readonly challenge: string;
  constructor(code: 'unauthorized' | 'forbidden', detail: string, challenge: string) {
    super(code, detail);
    this.challenge = challenge;
  }
}

const invalidToken = (detail: string): Challenged => new Challenged('unauthorized', detail, 'error="invalid_token"');

/** @throws Problem unauthorized or forbidden; both look alike for what exists and what does not */
export async function authorizeOperator(deps: Deps, request: FastifyRequest, scope: string): Promise<Principal> {
  const { authorization } = request.headers;
  if (authorization === undefined) throw new Challenged('unauthorized', 'send an access token as Bearer', '');
  const presented = /^bearer +(\S+)$/i.exec(authorization)?.[1];
  if (presented === undefined) {
    throw new Challenged('unauthorized', 'the Authorization header is not Bearer', 'error="invalid_request"');
  }
  const token = await verifyAccessToken(deps, presented, deps.clock());
  if (!token) throw invalidToken('the access token is not valid');
  if (!token.aud.includes(`${deps.config.ISSUER}${ADMIN_PATH}`)) {
    throw invalidToken('the access token is for another audience');
  }
  // People act through their own pages: no consent of theirs gives a client power over the service.
  const ofPerson = token.gid !== undefined || token.client_id === BUILT_IN_CLIENT || token.sub !== token.client_id;
  if (ofPerson || !token.scope.includes(scope)) {
    const detail = ofPerson ? "a person's access token is not accepted here" : `the access token lacks ${scope}`;
    throw new Challenged('forbidden', detail, `error="insufficient_scope", scope="${scope}"`);
  }
  return { client_id: token.client_id };
}
