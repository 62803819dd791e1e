/** POST /par (RFC 9126). No CORS: a client that can keep nothing from its browser gains nothing by it. */
import type { FastifyInstance } from 'fastify';
import { push } from '../../authorize/pushed.ts';
import type { Deps } from '../../deps.ts';
import { endpoints } from '../../protocol/endpoint.ts';
import { confirmationOf } from '../../tokens/holder.ts';
import { authenticatedDoor } from './client-request.ts';

export function par(app: FastifyInstance, deps: Deps): void {
  const door = { cors: false, limit: 'AUTHORIZE_RATE_LIMIT' } as const;
  authenticatedDoor(
    app,
    deps,
    endpoints.pushed_authorization_request_endpoint,
    door,
    async ({ client, parameters, now, ...request }, reply) => {
      const cnf = await confirmationOf(deps, client, request, now);
      return reply.code(201).send(await push(deps, client, parameters, cnf, now));
    },
  );
}
