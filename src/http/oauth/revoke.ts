/** POST /revoke (RFC 7009). */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { authenticate } from '../../clients/authenticate.ts';
import type { Deps } from '../../deps.ts';
import { parseParameters } from '../../protocol/parameters.ts';
import { revoke as revokeToken } from '../../tokens/revoke.ts';
import { formOf, requesterOf, requireForm, route } from '../request.ts';
import { allowClientOrigin, preflight } from './cors.ts';
import { credentialsOf, namedClient } from './credentials.ts';

const parameters = z.object({ token: z.string() });

export function revoke(app: FastifyInstance, deps: Deps): void {
  preflight(app, '/revoke', 'POST');
  route(app, '/revoke', {
    async POST(request, reply) {
      requireForm(request);
      const form = formOf(request);
      const credentials = credentialsOf(request, form);
      await allowClientOrigin(deps, request, reply, namedClient(credentials));
      const by = requesterOf(request);
      const now = deps.clock();
      const client = await authenticate(deps, credentials, by, now);
      await revokeToken(deps, client, parseParameters(parameters, form).token, by, now);
      // §2.2: 200 for an unknown token too; there is nothing the client could do about it. The body says nothing, but some
      // clients (simple-oauth2) fail on an answer that is not JSON.
      return reply.code(200).send({});
    },
  });
}
