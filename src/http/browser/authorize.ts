/**
 * GET and POST /authorize (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1). No CORS: nobody but a browser's window comes
 * here.
 */
import type { FastifyInstance } from 'fastify';
import { authorize as authorizeRequest } from '../../authorize/index.ts';
import { endpoints } from '../../protocol/endpoint.ts';
import { listedParameters } from '../../protocol/form-encoding.ts';
import { limited } from '../rate-limit.ts';
import { formOf, queryOf, requireForm, route } from '../request.ts';
import { browserOf, hashOf, isAtIssuer, type Context } from './context.ts';
import { deliver } from './deliver.ts';
import { sessionsOf } from './signed-in.ts';

export function authorize(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  route(app, endpoints.authorization_endpoint, {
    // Whoever comes, a row is written for them.
    options: limited(app, deps.config, 'AUTHORIZE_RATE_LIMIT', ['GET', 'POST']),
    async GET(request, reply) {
      const now = deps.clock();
      const parameters = queryOf(request, listedParameters);
      // At another name of this host the cookie would be lost on the way: the first page at the issuer binds instead.
      const hash = isAtIssuer(context, request) ? hashOf(browserOf(context, request, reply)) : null;
      const browser = { sessions: await sessionsOf(context, request, now), hash };
      return deliver(context, request, reply, await authorizeRequest(deps, parameters, browser, now));
    },
    // Another site's form: SameSite kept our cookies at home, so a GET of ours decides.
    async POST(request, reply) {
      requireForm(request);
      const browser = { sessions: [], hash: null };
      const parameters = formOf(request, listedParameters);
      return deliver(context, request, reply, await authorizeRequest(deps, parameters, browser, deps.clock()));
    },
  });
}
