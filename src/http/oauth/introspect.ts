/** POST /introspect (RFC 7662). No CORS: it answers APIs, not pages. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Deps } from '../../deps.ts';
import { isPublic } from '../../protocol/client.ts';
import { endpoints } from '../../protocol/endpoint.ts';
import { invalidClient } from '../../protocol/error.ts';
import { parseParameters } from '../../protocol/parameters.ts';
import { introspect as introspectToken } from '../../tokens/introspect.ts';
import { authenticatedDoor } from './client-request.ts';

const schema = z.object({ token: z.string() });

export function introspect(app: FastifyInstance, deps: Deps): void {
  authenticatedDoor(app, deps, endpoints.introspection_endpoint, { cors: false }, ({ client, parameters, now }) => {
    // §2.1: a client that proves nothing could be anybody, scanning for tokens.
    if (isPublic(client))
      throw invalidClient('introspection is only for confidential clients', {
        check: 'confidential_client',
        expected: 'a client with a secret or a key',
        received: 'token_endpoint_auth_method none',
      });
    return introspectToken(deps, client, parseParameters(schema, parameters).token, now);
  });
}
