/** POST /token (RFC 6749 §3.2). */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../deps.ts';
import { exchange } from '../../grants/index.ts';
import { limited } from '../rate-limit.ts';
import { formOf, requesterOf, requireForm, route } from '../request.ts';
import { allowClientOrigin, preflight } from './cors.ts';
import { credentialsOf, namedClient } from './credentials.ts';

export function token(app: FastifyInstance, deps: Deps): void {
  preflight(app, '/token', 'POST');
  route(app, '/token', {
    options: limited(app, deps.config.TOKEN_RATE_LIMIT),
    async POST(request, reply) {
      requireForm(request);
      const parameters = formOf(request);
      const credentials = credentialsOf(request, parameters);
      await allowClientOrigin(deps, request, reply, namedClient(credentials));
      return exchange(deps, { parameters, credentials, by: requesterOf(request), now: deps.clock() });
    },
  });
}
