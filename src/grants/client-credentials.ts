/** grant_type=client_credentials (RFC 6749 §4.4): the client acts for itself. Nothing is spent, no refresh token given. */
import { z } from 'zod';
import { adminApiOf, isAdminScope } from '../protocol/admin-api.ts';
import { isPublic } from '../protocol/client-metadata.ts';
import { invalidScope, unauthorizedClient, type OAuthError } from '../protocol/error.ts';
import { parseResource, requireKnown, scopeAt } from '../protocol/resource.ts';
import { listOf } from '../protocol/redaction.ts';
import { isSubset, parseScope, scopeForMachine, scopeOf } from '../protocol/scope.ts';
import * as accessTokens from '../store/access-tokens.ts';
import type { Grant } from './grant.ts';

const parameters = z.object({
  scope: z.string().max(4000).optional(),
  resource: z.array(z.string()).optional(),
});

export const clientCredentials: Grant<z.infer<typeof parameters>> = {
  parameters,
  async read({ deps, client, known }, { scope: sentScope, resource: sentResource }) {
    // §4.4: only clients that can keep a secret.
    if (isPublic(client)) {
      throw unauthorizedClient('client_credentials is only for confidential clients', {
        check: 'confidential_client',
        expected: 'a client with a secret or a key',
        received: 'token_endpoint_auth_method none',
      });
    }
    const requested = parseScope(sentScope);
    const open = scopeForMachine(requested, scopeOf(client), known.scopes);
    const resource = parseResource(sentResource);
    requireKnown(resource, known.resources, deps.config.ISSUER);
    // What was asked for is given or refused; what was not is as much as the resource knows (RFC 8707 §2.2).
    const scope = scopeAt(open, resource, known);
    const received = (): string => `${listOf(requested)} at ${listOf(resource)}`;
    if (!isSubset(requested, scope)) {
      const admin = requested.filter((name) => isAdminScope(name) && !scope.includes(name));
      if (admin.length > 0) throw onlyAtAdminApi(admin, resource, deps.config.ISSUER);
      const detail = { check: 'scope', expected: listOf(scope), received: received() } as const;
      throw invalidScope('a requested scope is not known to the resource', detail);
    }
    // RFC 6749 §3.3: without a scope to begin with the request fails; an empty one could not even be written.
    if (scope.length === 0) {
      const admin = open.filter(isAdminScope);
      if (admin.length > 0) throw onlyAtAdminApi(admin, resource, deps.config.ISSUER);
      const detail = {
        check: 'scope',
        expected: `of ${listOf(client.scope)}, one for machines`,
        received: received(),
      } as const;
      throw invalidScope('the client is registered for no scope that it could have here', detail);
    }
    // A client's sub is its client_id; no person can have it (RFC 9700 §4.15).
    const authorization = { client, sub: client.client_id, scope, resource, person: null };
    return {
      resource,
      look: async () => authorization,
      async spend({ made }) {
        if (made?.access_token) await accessTokens.insert(deps.db, made.access_token);
        return authorization;
      },
      refusal: async () => undefined,
    };
  },
};

/** Power over the admin API, asked for elsewhere: what to ask for instead. */
function onlyAtAdminApi(scope: readonly string[], resource: readonly string[], issuer: string): OAuthError {
  const expected = `resource=${adminApiOf(issuer)} alone`;
  const detail = { check: 'scope', expected, received: `${listOf(scope)} at ${listOf(resource)}` } as const;
  return invalidScope(`scope of the admin API is given with ${expected}`, detail);
}
