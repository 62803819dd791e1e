/** GET and POST /userinfo (OpenID Connect Core §5.3, RFC 6750 §2). */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../deps.ts';
import { endpoints } from '../../protocol/endpoint.ts';
import { invalidRequest, invalidToken } from '../../protocol/error.ts';
import { textOf } from '../../protocol/parameters.ts';
import { claimedClient } from '../../tokens/unverified.ts';
import { userinfo as userinfoOf } from '../../users/userinfo.ts';
import type { Presentation } from '../../tokens/holder.ts';
import { challengeOf, offerNonce, presentationOf, provenRequestOf } from '../bearer.ts';
import { noted } from '../refusal.ts';
import { formOf, queryOf, requireForm } from '../request.ts';
import { allowClientOrigin, crossOriginRoute } from '../cors.ts';

export function userinfo(app: FastifyInstance, deps: Deps): void {
  const { ISSUER } = deps.config;

  const readToken = (request: FastifyRequest, reply: FastifyReply): Presentation | undefined => {
    try {
      return presentedToken(deps, request);
    } catch (error) {
      // RFC 6750 §3: whoever presents no token that could be looked at is challenged, too.
      reply.header('www-authenticate', challengeOf(ISSUER, request, { error: 'invalid_request' }));
      throw error;
    }
  };

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    offerNonce(deps, request, reply);
    const presented = readToken(request, reply);
    if (presented === undefined) {
      // RFC 6750 §3.1: a request without any token is told how, and no error.
      const detail = {
        check: 'bearer',
        expected: 'Authorization: Bearer with an access token',
        received: 'none',
      } as const;
      noted(deps, request, invalidToken('there is no access token', detail), 401);
      return reply.code(401).header('www-authenticate', challengeOf(ISSUER, request)).send();
    }
    const { access_token } = presented;
    const client_id = request.headers.origin === undefined ? undefined : await claimedClient(deps, access_token);
    await allowClientOrigin(deps, request, reply, client_id);
    const claims = await userinfoOf(deps, presented, deps.clock());
    return typeof claims === 'string' ? reply.type('application/jwt').send(claims) : claims;
  };
  crossOriginRoute(app, endpoints.userinfo_endpoint, { GET: answer, POST: answer });
}

/** The token from the header or a form body, never from the query (RFC 9700 §4.3.2). One method at a time (RFC 6750 §2). */
function presentedToken(deps: Pick<Deps, 'config'>, request: FastifyRequest): Presentation | undefined {
  if (queryOf(request)['access_token'] !== undefined) {
    throw invalidRequest('an access token does not belong in a URL', { check: 'bearer' });
  }
  const header = presentationOf(deps, request);
  if (header === null) throw invalidRequest('the Authorization header is not Bearer or DPoP', { check: 'bearer' });
  if (request.method !== 'POST' || request.headers['content-type'] === undefined) return header;
  requireForm(request);
  const body = textOf(formOf(request), 'access_token');
  if (header !== undefined && body !== undefined)
    throw invalidRequest('use one method to present the token, not two', { check: 'bearer' });
  if (header || body === undefined) return header;
  return { type: 'Bearer', access_token: body, ...provenRequestOf(deps, request) };
}
