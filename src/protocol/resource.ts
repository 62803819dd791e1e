/** Resource indicators (RFC 8707): the syntax, narrowing, and which scope means something where. */
import { ACCOUNT_SCOPE, accountApiOf, isAccountApi } from './account-api.ts';
import { adminApiOf, isAdminApi, isAdminScope } from './admin-api.ts';
import { invalidTarget } from './error.ts';
import { listOf } from './redaction.ts';
import { isIdentityScope, isSubset, type ClaimsRule } from './scope.ts';
import { isUriText, MAX_URI } from './uri.ts';

const MAX_RESOURCES = 10;

/** An absolute URI without a fragment (§2). */
export const isResource = (uri: string): boolean =>
  uri.length <= MAX_URI && isUriText(uri) && !uri.includes('#') && URL.canParse(uri);

/** The values of a request's parameter, each once. @throws OAuthError invalid_target */
export function parseResource(values: readonly string[] | undefined): string[] {
  const resource = [...new Set(values ?? [])];
  if (resource.length > MAX_RESOURCES) {
    const received = String(resource.length);
    throw invalidTarget('too many resources', { check: 'resource', expected: `at most ${MAX_RESOURCES}`, received });
  }
  for (const uri of resource) {
    if (!isResource(uri)) {
      const detail = { check: 'resource', expected: 'an absolute URI without a fragment', received: uri } as const;
      throw invalidTarget('resource must be an absolute URI without a fragment', detail);
    }
  }
  return resource;
}

/** The resources of one token: those asked for, which must lie within the grant's, else all of the grant's (§2.2). */
export function narrowResource(requested: readonly string[], granted: readonly string[]): string[] {
  if (requested.length === 0) return [...granted];
  if (!isSubset(requested, granted)) {
    const detail = { check: 'resource', expected: listOf(granted), received: listOf(requested) } as const;
    throw invalidTarget('a requested resource was not granted', detail);
  }
  return [...requested];
}

/** @throws OAuthError invalid_target for a resource that is neither registered nor ourselves */
export function requireRegistered(
  resource: readonly string[],
  known: ReadonlyMap<string, unknown>,
  issuer: string,
): void {
  const unknown = resource.filter((uri) => uri !== issuer && !known.has(uri));
  if (unknown.length === 0) return;
  const expected = listOf([issuer, ...known.keys()]);
  throw invalidTarget('the resource is not known', { check: 'resource', expected, received: listOf(unknown) });
}

/** The resources without the server itself and its own APIs: those that have rows. */
export const withoutOwn = (resource: readonly string[], issuer: string): string[] =>
  resource.filter((uri) => uri !== issuer && uri !== adminApiOf(issuer) && uri !== accountApiOf(issuer));

/** What has to be known to say which scope means something where. */
export interface ResourceRules {
  issuer: string;
  /** By name. */
  scopes: ReadonlyMap<string, ClaimsRule>;
  /** By identifier, with the scopes each knows. */
  resources: ReadonlyMap<string, { scope: readonly string[] }>;
}

/**
 * The scope of an access token for these resources: what one of them knows (RFC 9068 §2.2.3: each has to mean something to
 * the audience). A resource that lists no scope takes any, and so do we, for whom a token without a resource is. One that
 * was deleted knows none. Power over the admin API, or over a person's account, is only in tokens for that API alone, whatever other
 * resources say they know.
 */
export function scopeAt(
  scope: readonly string[],
  resource: readonly string[],
  { issuer, resources }: Omit<ResourceRules, 'scopes'>,
): string[] {
  const [atAdmin, atAccount] = [isAdminApi(resource, issuer), isAccountApi(resource, issuer)];
  const allowed = scope.filter((name) => (name === ACCOUNT_SCOPE ? atAccount : atAdmin || !isAdminScope(name)));
  if (resource.length === 0 || resource.some((uri) => takesAny(uri, issuer, resources))) return allowed;
  const listed = listedBy(resource, resources);
  return allowed.filter((name) => listed.has(name));
}

/**
 * Every scope that a request for these resources could be given something by; null when that is any. For the store, where a
 * request that nothing would be left of is refused before it spends anything.
 */
export function scopesOpenAt(
  resource: readonly string[],
  { issuer, scopes, resources }: ResourceRules,
): string[] | null {
  if (resource.length === 0 || resource.some((uri) => takesAny(uri, issuer, resources))) return null;
  const identity = [...scopes.keys()].filter((name) => isIdentityScope(name, scopes));
  return [...identity, ...listedBy(resource, resources)];
}

const takesAny = (uri: string, issuer: string, resources: ResourceRules['resources']): boolean =>
  uri === issuer || resources.get(uri)?.scope.length === 0;
const listedBy = (resource: readonly string[], resources: ResourceRules['resources']): Set<string> =>
  new Set(resource.flatMap((uri) => resources.get(uri)?.scope ?? []));

/**
 * The scope of a request or an answer for these resources: that of its access token, and what opens the person's identity
 * to the client itself, in the ID token, wherever the access token goes.
 */
export function narrowScope(scope: readonly string[], resource: readonly string[], rules: ResourceRules): string[] {
  const there = scopeAt(scope, resource, rules);
  if (there.length === scope.length) return there;
  const served = new Set(there);
  return scope.filter((name) => served.has(name) || isIdentityScope(name, rules.scopes));
}

/**
 * The scope of an authorization for these resources: what one of them at least knows by itself. Tokens for several at once have less
 * (`scopeAt`), those for each alone have their part (RFC 8707 §2.2).
 */
export function scopeForAny(scope: readonly string[], resource: readonly string[], rules: ResourceRules): string[] {
  if (resource.length < 2) return narrowScope(scope, resource, rules);
  const known = new Set(resource.flatMap((uri) => narrowScope(scope, [uri], rules)));
  return scope.filter((name) => known.has(name));
}
