/** GET and POST /userinfo (OpenID Connect Core §5.3, RFC 6750 §2). */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../deps.ts';
import { invalidRequest, invalidToken } from '../../protocol/error.ts';
import { claimedClient } from '../../tokens/verify.ts';
import { userinfo as userinfoOf } from '../../users/userinfo.ts';
import { noted } from '../refusal.ts';
import { formOf, queryOf, requireForm, route, textOf } from '../request.ts';
import { allowClientOrigin, preflight } from './cors.ts';

export function userinfo(app: FastifyInstance, deps: Deps): void {
  const challenge = `Bearer realm="${deps.config.ISSUER}"`;

  const readToken = (request: FastifyRequest, reply: FastifyReply): string | undefined => {
    try {
      return presentedToken(request);
    } catch (error) {
      // RFC 6750 §3: whoever presents no token that could be looked at is challenged, too.
      reply.header('www-authenticate', `${challenge}, error="invalid_request"`);
      throw error;
    }
  };

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const token = readToken(request, reply);
    if (token === undefined) {
      // RFC 6750 §3.1: a request without any token is told how, and no error.
      const detail = {
        check: 'bearer',
        expected: 'Authorization: Bearer with an access token',
        received: 'none',
      } as const;
      noted(deps, request, invalidToken('there is no access token', detail), 401);
      return reply.code(401).header('www-authenticate', challenge).send();
    }
    const client_id = request.headers.origin === undefined ? undefined : await claimedClient(deps, token);
    await allowClientOrigin(deps, request, reply, client_id);
    const claims = await userinfoOf(deps, token, deps.clock());
    return typeof claims === 'string' ? reply.type('application/jwt').send(claims) : claims;
  };
  preflight(app, '/userinfo', 'GET, POST');
  route(app, '/userinfo', { GET: answer, POST: answer });
}

/** The token from the header or a form body, never from the query (RFC 9700 §4.3.2). One method at a time (RFC 6750 §2). */
function presentedToken(request: FastifyRequest): string | undefined {
  if (queryOf(request)['access_token'] !== undefined) {
    throw invalidRequest('an access token does not belong in a URL', { check: 'bearer' });
  }
  const { authorization } = request.headers;
  const header = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (authorization !== undefined && header === undefined)
    throw invalidRequest('the Authorization header is not Bearer', { check: 'bearer' });
  if (request.method !== 'POST' || request.headers['content-type'] === undefined) return header;
  requireForm(request);
  const body = textOf(formOf(request), 'access_token');
  if (header !== undefined && body !== undefined)
    throw invalidRequest('use one method to present the token, not two', { check: 'bearer' });
  return header ?? body;
}
