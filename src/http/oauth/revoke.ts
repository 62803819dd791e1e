/** POST /revoke (RFC 7009). */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Deps } from '../../deps.ts';
import { endpoints } from '../../protocol/endpoint.ts';
import { parseParameters } from '../../protocol/parameters.ts';
import { revoke as revokeToken } from '../../tokens/revoke.ts';
import { authenticatedDoor } from './client-request.ts';

const schema = z.object({ token: z.string() });

export function revoke(app: FastifyInstance, deps: Deps): void {
  authenticatedDoor(
    app,
    deps,
    endpoints.revocation_endpoint,
    { cors: true },
    async ({ client, parameters, by, now }, reply) => {
      await revokeToken(deps, client, parseParameters(schema, parameters).token, by, now);
      // §2.2: 200 for an unknown token too; there is nothing the client could do about it. The body says nothing, but some
      // clients (simple-oauth2) fail on an answer that is not JSON.
      return reply.code(200).send({});
    },
  );
}
