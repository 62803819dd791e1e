/** What clients may ask for: scopes, and the resources (RFC 8707) that know them. Every change leaves an audit event. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { record, type Actor } from '../events/index.ts';
import { MEMBERSHIP_CLAIMS } from '../protocol/claims.ts';
import { MAX_TOKEN_TTL } from '../protocol/client-metadata.ts';
import { isResource } from '../protocol/resource.ts';
import { isScopeToken, OPENID } from '../protocol/scope.ts';
import { SIGNING_ALGS } from '../protocol/signing-alg.ts';
import * as clients from '../store/clients.ts';
import { transact } from '../store/db.ts';
import * as resources from '../store/resources.ts';
import * as scopes from '../store/scopes.ts';

type Needs = Pick<Deps, 'config' | 'db'>;

/** Every flow of OpenID Connect asks for this scope, so it stays. */
export class ScopeProtected extends Error {}

/** A resource names a client that there is not. */
export class ClientUnknown extends Error {}

const scopeToken = z.string().max(200).refine(isScopeToken, 'must be a scope token (RFC 6749 §3.3)');
const text = z.string().min(1).max(500).nullable();

const scopeFields = z.strictObject({
  name: scopeToken,
  /** What the consent page says of it. */
  description: text.default(null),
  /** The claims about a person that it opens. */
  claims: z.array(z.string().min(1).max(200)).max(100).default([]),
  for_people: z.boolean().default(true),
  for_machines: z.boolean().default(true),
});

const resourceFields = z.strictObject({
  resource: z.string().refine(isResource, 'must be an absolute URI without a fragment (RFC 8707 §2)'),
  name: text.default(null),
  /** The client as which the resource server itself introspects. */
  client_id: z.string().nullable().default(null),
  scope: z.array(scopeToken).max(200).default([]),
  access_token_format: z.enum(['jwt', 'opaque']).nullable().default(null),
  access_token_ttl: z.int().min(1).max(MAX_TOKEN_TTL).nullable().default(null),
  access_token_signing_alg: z.enum(SIGNING_ALGS).nullable().default(null),
  /** What its access tokens say of the person (RFC 9068 §2.2.3.1). */
  claims: z.array(z.enum(MEMBERSHIP_CLAIMS)).max(2).default([]),
});

export type ScopeChanges = Partial<Omit<scopes.Scope, 'name'>>;
export type ResourceChanges = Partial<Omit<resources.Resource, 'resource'>>;

/** Creates a scope, or replaces what is named of it; the rest stays. @throws ZodError */
export function putScope(
  deps: Needs,
  name: string,
  changes: ScopeChanges,
  by: Actor,
  now: Date,
): Promise<scopes.Scope> {
  return transact(deps.db, async (trx) => {
    const present = await scopes.find(trx, name);
    const scope = scopeFields.parse({ ...present, ...changes, name });
    if (isDeepStrictEqual(scope, present)) return scope;
    await scopes.put(trx, scope);
    await record(trx, { event: 'scope_changed', detail: { name } }, by, now);
    return scope;
  });
}

/** Deletes a scope; nobody is granted it from then on. False when there is none. @throws ScopeProtected */
export function removeScope(deps: Needs, name: string, by: Actor, now: Date): Promise<boolean> {
  if (name === OPENID) throw new ScopeProtected(`the scope ${OPENID} cannot be deleted`);
  return transact(deps.db, async (trx) => {
    if (!(await scopes.remove(trx, name))) return false;
    await record(trx, { event: 'scope_changed', detail: { name } }, by, now);
    return true;
  });
}

/** Creates a resource, or replaces what is named of it; the rest stays. @throws ZodError, ClientUnknown */
export function putResource(
  deps: Needs,
  name: string,
  changes: ResourceChanges,
  by: Actor,
  now: Date,
): Promise<resources.Resource> {
  return transact(deps.db, async (trx) => {
    const present = await resources.find(trx, name);
    const resource = resourceFields.parse({ ...present, ...changes, resource: name });
    const alg = resource.access_token_signing_alg;
    if (alg !== null && !deps.config.SIGNING_ALGS.includes(alg)) {
      const message = `must be one of SIGNING_ALGS: ${deps.config.SIGNING_ALGS.join(', ')}`;
      throw new z.ZodRealError([{ code: 'custom', path: ['access_token_signing_alg'], message, input: alg }]);
    }
    if (isDeepStrictEqual(resource, present)) return resource;
    const { client_id } = resource;
    if (client_id !== null && !(await clients.find(trx, client_id))) {
      throw new ClientUnknown(`there is no client ${client_id}`);
    }
    await resources.put(trx, resource);
    await record(trx, { event: 'resource_changed', detail: { name } }, by, now);
    return resource;
  });
}

/** Deletes a resource: nobody can ask for it, and what was granted before has no scope there. False when there is none. */
export function removeResource(deps: Needs, name: string, by: Actor, now: Date): Promise<boolean> {
  return transact(deps.db, async (trx) => {
    if (!(await resources.remove(trx, name))) return false;
    await record(trx, { event: 'resource_changed', detail: { name } }, by, now);
    return true;
  });
}
