/** Writes scopes, and the resources (RFC 8707) that know them. Every change leaves an audit event. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { changeOf } from '../events/change.ts';
import { record, type Actor } from '../events/index.ts';
import { MEMBERSHIP_CLAIMS } from '../protocol/claims.ts';
import { MAX_TOKEN_TTL } from '../protocol/client-metadata.ts';
import { ACCOUNT_SCOPE, accountApiOf } from '../protocol/account-api.ts';
import { adminApiOf, isAdminScope } from '../protocol/admin-api.ts';
import { translations } from '../protocol/localized.ts';
import { readableText } from '../protocol/plain-text.ts';
import { isResource } from '../protocol/resource.ts';
import { builtInScope, isBuiltInScope, isScopeToken } from '../protocol/scope.ts';
import { SIGNING_ALGS } from '../protocol/signing-alg.ts';
import { TOKEN_FORMATS } from '../protocol/token-format.ts';
import { ACCESS_TOKEN_TYPS } from '../protocol/token-type.ts';
import { notAllowed, unknownName } from '../protocol/write-error.ts';
import * as clients from '../store/clients.ts';
import * as consents from '../store/consents.ts';
import { transact, type Trx } from '../store/postgres/db.ts';
import * as endedNames from '../store/ended-names.ts';
import * as grants from '../store/grants.ts';
import * as resources from '../store/resources.ts';
import * as scopes from '../store/scopes.ts';

type Needs = Pick<Deps, 'config'>;

const scopeToken = z
  .string()
  .max(200)
  .refine(isScopeToken, 'must be a scope token (RFC 6749 §3.3)')
  .meta({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' });
const text = readableText(500).nullable();

/** A scope as it is written. */
export const scopeFields = z.strictObject({
  name: scopeToken,
  /** What the consent page says of it. */
  description: text.default(null),
  /** The same in other languages, by their tags (BCP 47). */
  descriptions: translations(readableText(500)).default({}),
  /** The claims about a person that it opens. */
  claims: z.array(readableText(200)).max(100).default([]),
  for_people: z.boolean().default(true),
  for_machines: z.boolean().default(true),
});

/** A resource as it is written. */
export const resourceFields = z.strictObject({
  resource: z.string().refine(isResource, 'must be an absolute URI without a fragment (RFC 8707 §2)'),
  name: text.default(null),
  /** The client as which the resource server itself introspects. */
  client_id: z.string().nullable().default(null),
  scope: z
    .array(
      scopeToken
        .refine((name) => !isAdminScope(name), 'is a scope of the admin API, and of nothing else')
        .refine((name) => name !== ACCOUNT_SCOPE, 'is the scope of the account API, and of nothing else'),
    )
    .max(200)
    .default([]),
  access_token_format: z.enum(TOKEN_FORMATS).nullable().default(null),
  access_token_ttl: z.int().min(1).max(MAX_TOKEN_TTL).nullable().default(null),
  access_token_signing_alg: z.enum(SIGNING_ALGS).nullable().default(null),
  /** Null is `at+jwt` (RFC 9068 §2.1). */
  access_token_typ: z.enum(ACCESS_TOKEN_TYPS).nullable().default(null),
  /** What its access tokens say of the person (RFC 9068 §2.2.3.1). */
  claims: z.array(z.enum(MEMBERSHIP_CLAIMS)).max(2).default([]),
});

export type ScopeChanges = Partial<Omit<scopes.Scope, 'name'>>;
export type ResourceChanges = Partial<Omit<resources.Resource, 'resource'>>;

/**
 * Creates a scope, or replaces what is named of it; the rest stays. Of a built-in one only the descriptions can change.
 * @throws ZodError, WriteError
 */
export async function putScope(
  trx: Trx,
  name: string,
  changes: ScopeChanges,
  by: Actor,
  now: Date,
): Promise<scopes.Scope> {
  const present = await scopes.findLocked(trx, name);
  const built_in = builtInScope(name);
  const scope = scopeFields.parse({ ...built_in, ...present, ...changes, name });
  if (isDeepStrictEqual(scope, present)) return scope;
  // Not what it is now: a scope of this name may be older than what the server means by it.
  if (
    built_in &&
    !isDeepStrictEqual(scope, { ...built_in, description: scope.description, descriptions: scope.descriptions })
  ) {
    throw notAllowed(`of the scope ${name} only the descriptions can change`);
  }
  await scopes.put(trx, scope);
  if (!present) await endedNames.begin(trx, 'scope', name, now);
  await record(trx, { event: 'scope_changed', detail: { name, ...changeOf(present, scope) } }, by, now);
  return scope;
}

/**
 * Deletes a scope: nobody is granted it from then on, and no client, grant, consent or token has it any more, also when
 * another is made of its name. A grant that had no other ends. Resources go on naming it, which gives nothing: one that named
 * no other would take any. False when there is none. @throws WriteError
 */
export async function removeScope(trx: Trx, name: string, by: Actor, now: Date): Promise<boolean> {
  // Every flow of OpenID Connect needs it, or the admin API does.
  if (isBuiltInScope(name)) throw notAllowed(`the scope ${name} cannot be deleted`);
  const before = await scopes.find(trx, name);
  if (!(await scopes.remove(trx, name))) return false;
  await endedNames.end(trx, 'scope', name, now);
  const clients_changed = await clients.dropScope(trx, name, now);
  await consents.dropScope(trx, name);
  const grants_changed = await grants.dropScope(trx, name, now);
  const detail = { name, clients_changed, grants_changed, ...changeOf(before, undefined) };
  await record(trx, { event: 'scope_deleted', detail }, by, now);
  return true;
}

/**
 * Creates a resource, or replaces what is named of it; the rest stays. The server itself is none to be registered: tokens
 * for it and for its admin API are on its own terms. @throws ZodError, WriteError
 */
export async function putResource(
  trx: Trx,
  { config }: Needs,
  name: string,
  changes: ResourceChanges,
  by: Actor,
  now: Date,
): Promise<resources.Resource> {
  const { ISSUER } = config;
  if (name === ISSUER || name === adminApiOf(ISSUER) || name === accountApiOf(ISSUER)) {
    throw invalidMember('resource', name, 'must be an API of yours: this is the server itself');
  }
  const present = await resources.findLocked(trx, name);
  const resource = resourceFields.parse({ ...present, ...changes, resource: name });
  const alg = resource.access_token_signing_alg;
  if (alg !== null && alg !== present?.access_token_signing_alg && !config.SIGNING_ALGS.includes(alg)) {
    const message = `must be one of SIGNING_ALGS: ${config.SIGNING_ALGS.join(', ')}`;
    throw invalidMember('access_token_signing_alg', alg, message);
  }
  if (isDeepStrictEqual(resource, present)) return resource;
  const { client_id } = resource;
  if (client_id !== null && !(await clients.find(trx, client_id))) {
    throw unknownName('client_id', `there is no client ${client_id}`);
  }
  await resources.put(trx, resource);
  if (!present) await endedNames.begin(trx, 'resource', name, now);
  await record(trx, { event: 'resource_changed', detail: { name, ...changeOf(present, resource) } }, by, now);
  return resource;
}

/** An API and the scopes that it knows, written together: for whoever brings one along. @throws as the two above */
export const putApi = (
  deps: Needs & Pick<Deps, 'db'>,
  name: string,
  { scopes: known, ...changes }: Omit<ResourceChanges, 'scope'> & { scopes: Readonly<Record<string, ScopeChanges>> },
  by: Actor,
  now: Date,
): Promise<resources.Resource> =>
  transact(deps.db, async (trx) => {
    for (const [scope, what] of Object.entries(known)) await putScope(trx, scope, what, by, now);
    return putResource(trx, deps, name, { ...changes, scope: Object.keys(known) }, by, now);
  });

const invalidMember = (member: string, input: string, message: string): z.ZodError =>
  new z.ZodRealError([{ code: 'custom', path: [member], message, input }]);

/**
 * Deletes a resource: nobody can ask for it, and tokens for it are dead, also when another is made of its name. Grants lose it, and one that was for no other
 * ends, since without any it would be for us. False when there is none.
 */
export async function removeResource(trx: Trx, name: string, by: Actor, now: Date): Promise<boolean> {
  const before = await resources.find(trx, name);
  if (!(await resources.remove(trx, name))) return false;
  await endedNames.end(trx, 'resource', name, now);
  await consents.dropResource(trx, name);
  const grants_changed = await grants.dropResource(trx, name, now);
  const detail = { name, grants_changed, ...changeOf(before, undefined) };
  await record(trx, { event: 'resource_deleted', detail }, by, now);
  return true;
}
