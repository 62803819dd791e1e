/** grant_type=client_credentials (RFC 6749 §4.4): the client acts for itself. Nothing is written, no refresh token given. */
import { z } from 'zod';
import { isPublic } from '../protocol/client-metadata.ts';
import { unauthorizedClient } from '../protocol/error.ts';
import { parseResource, requireKnown } from '../protocol/resource.ts';
import { parseScope, scopeForMachine } from '../protocol/scope.ts';
import type { Grant } from './grant.ts';

const parameters = z.object({
  scope: z.string().max(4000).optional(),
  resource: z.array(z.string()).optional(),
});

export const clientCredentials: Grant<z.infer<typeof parameters>> = {
  parameters,
  async authorize({ deps, client }, { scope: sentScope, resource: sentResource }) {
    // §4.4: only clients that can keep a secret.
    if (isPublic(client)) {
      throw unauthorizedClient('client_credentials is only for confidential clients');
    }
    const scope = scopeForMachine(parseScope(sentScope), client.scope, await deps.directory.scopes());
    const resource = parseResource(sentResource);
    requireKnown(resource, await deps.directory.resources(), deps.config.ISSUER);
    // A client's sub is its client_id; no person can have it (RFC 9700 §4.15).
    return { client, sub: client.client_id, scope, resource, person: null };
  },
};
