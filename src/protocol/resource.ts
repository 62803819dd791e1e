/** Resource indicators (RFC 8707): the syntax, and narrowing. */
import { invalidTarget } from './error.ts';
import { isSubset } from './scope.ts';

const MAX_RESOURCES = 10;

/** An absolute URI without a fragment (§2). */
export const isResource = (uri: string): boolean =>
  /^[\x21-\x7E]{1,2000}$/.test(uri) && !uri.includes('#') && URL.canParse(uri);

/** The values of a request's parameter, each once. @throws OAuthError invalid_target */
export function parseResource(values: readonly string[] | undefined): string[] {
  const resource = [...new Set(values ?? [])];
  if (resource.length > MAX_RESOURCES) throw invalidTarget('too many resources');
  for (const uri of resource) {
    if (!isResource(uri)) throw invalidTarget('resource must be an absolute URI without a fragment');
  }
  return resource;
}

/** The resources of one token: those asked for, which must lie within the grant's, else all of the grant's (§2.2). */
export function narrowResource(requested: readonly string[], granted: readonly string[]): string[] {
  if (requested.length === 0) return [...granted];
  if (!isSubset(requested, granted)) throw invalidTarget('a requested resource was not granted');
  return [...requested];
}

/** @throws OAuthError invalid_target for a resource that is neither registered nor ourselves */
export function requireKnown(resource: readonly string[], known: ReadonlyMap<string, unknown>, issuer: string): void {
  if (resource.some((uri) => uri !== issuer && !known.has(uri))) throw invalidTarget('the resource is not known');
}
