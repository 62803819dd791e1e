/** POST /par (RFC 9126). No CORS: a client that can keep nothing from its browser gains nothing by it. */
import type { FastifyInstance } from 'fastify';
import { push } from '../../authorize/pushed.ts';
import { authenticate } from '../../clients/authenticate.ts';
import type { Deps } from '../../deps.ts';
import { limited } from '../rate-limit.ts';
import { formOf, requesterOf, requireForm, route } from '../request.ts';
import { credentialsOf } from './credentials.ts';

export function par(app: FastifyInstance, deps: Deps): void {
  route(app, '/par', {
    options: limited(app, deps.config.TOKEN_RATE_LIMIT),
    async POST(request, reply) {
      requireForm(request);
      const form = formOf(request);
      const now = deps.clock();
      const client = await authenticate(deps, credentialsOf(request, form), requesterOf(request), now);
      return reply.code(201).send(await push(deps, client, form, now));
    },
  });
}
