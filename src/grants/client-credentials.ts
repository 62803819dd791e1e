/** grant_type=client_credentials (RFC 6749 §4.4): the client acts for itself. Nothing is spent, no refresh token issued. */
import { z } from 'zod';
import { requestedDetails } from '../clients/details.ts';
import { adminApiOf, isAdminScope } from '../protocol/admin-api.ts';
import { invalidScope, type OAuthError } from '../protocol/error.ts';
import { parseResource, requireRegistered, scopeAt } from '../protocol/resource.ts';
import { listOf } from '../protocol/redaction.ts';
import { isSubset, parseScope, scopeForMachine, scopeOf } from '../protocol/scope.ts';
import type { MachineGrant } from './grant.ts';

const parameters = z.object({
  scope: z.string().max(4000).optional(),
  resource: z.array(z.string()).optional(),
  authorization_details: z.string().optional(),
});

export const clientCredentials: MachineGrant<z.infer<typeof parameters>> = {
  owner: 'machine',
  parameters,
  async read(
    { deps, client, cnf, rules },
    { scope: sentScope, resource: sentResource, authorization_details: sentDetails },
  ) {
    const requested = parseScope(sentScope);
    const open = scopeForMachine(requested, scopeOf(client), rules.scopes);
    const resource = parseResource(sentResource);
    requireRegistered(resource, rules.resources, deps.config.ISSUER);
    // RFC 9396 §6: what the client asks for itself, it is registered for.
    const details = requestedDetails(sentDetails, client, rules.types, resource);
    // A scope that was asked for is granted whole or refused; without one it is what the resource knows (RFC 8707 §2.2).
    const scope = scopeAt(open, resource, rules);
    const received = (): string => `${listOf(requested)} at ${listOf(resource)}`;
    if (!isSubset(requested, scope)) {
      const admin = requested.filter((name) => isAdminScope(name) && !scope.includes(name));
      if (admin.length > 0) throw onlyAtAdminApi(admin, resource, deps.config.ISSUER);
      const detail = { check: 'scope', expected: listOf(scope), received: received() } as const;
      throw invalidScope('a requested scope is not known to the resource', detail);
    }
    // RFC 6749 §3.3: where no scope is left the request fails; an empty scope has no syntax.
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
    const authorization_details = sentDetails === undefined ? undefined : details;
    return { client, sub: client.client_id, scope, resource, authorization_details, cnf, person: null };
  },
};

/** The refusal of admin scopes at another resource; it names the one to ask for. */
function onlyAtAdminApi(scope: readonly string[], resource: readonly string[], issuer: string): OAuthError {
  const expected = `resource=${adminApiOf(issuer)} alone`;
  const detail = { check: 'scope', expected, received: `${listOf(scope)} at ${listOf(resource)}` } as const;
  return invalidScope(`scope of the admin API is given with ${expected}`, detail);
}
