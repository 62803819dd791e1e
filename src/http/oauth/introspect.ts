/** POST /introspect (RFC 7662). */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { authenticate } from '../../clients/authenticate.ts';
import type { Deps } from '../../deps.ts';
import { invalidClient } from '../../protocol/error.ts';
import { parseParameters } from '../../protocol/parameters.ts';
import { introspect as introspectToken } from '../../tokens/introspect.ts';
import { formOf, requesterOf, requireForm, route } from '../request.ts';
import { credentialsOf } from './credentials.ts';

const parameters = z.object({ token: z.string() });

export function introspect(app: FastifyInstance, deps: Deps): void {
  route(app, '/introspect', {
    async POST(request) {
      requireForm(request);
      const form = formOf(request);
      const now = deps.clock();
      const client = await authenticate(deps, credentialsOf(request, form), requesterOf(request), now);
      // §2.1: a client that proves nothing could be anybody, scanning for tokens.
      if (client.token_endpoint_auth_method === 'none') {
        throw invalidClient('introspection is only for confidential clients');
      }
      return introspectToken(deps, client, parseParameters(parameters, form).token, now);
    },
  });
}
