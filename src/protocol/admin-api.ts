/** The admin API as clients meet it: where it is, and the scopes that are power over it and mean nothing elsewhere. */

/** Where the API is, under the issuer. */
export const ADMIN_PATH = '/admin/v1';

/** The resource (RFC 8707) that its access tokens are for, alone. */
export const adminApiOf = (issuer: string): string => `${issuer}${ADMIN_PATH}`;

/** What the scopes of the API are about: `clients` gives `clients:read` and `clients:write`. */
export const ADMIN_SUBJECTS = [
  'clients',
  'users',
  'groups',
  'roles',
  'scopes',
  'resources',
  'grants',
  'sessions',
  'tokens',
  'keys',
  'audit',
  'settings',
  'upstreams',
  'authorization_types',
] as const;

/** Every scope of the API. */
export const ADMIN_SCOPES: ReadonlySet<string> = new Set(
  ADMIN_SUBJECTS.flatMap((subject) => [`${subject}:read`, `${subject}:write`]),
);

/** Is it power over the admin API? */
export const isAdminScope = (name: string): boolean => ADMIN_SCOPES.has(name);

/** Are these resources the admin API, and nothing beside it? */
export const isAdminApi = (resource: readonly string[], issuer: string): boolean =>
  resource.length === 1 && resource[0] === adminApiOf(issuer);

/** Whether an address, as a request names it, is the admin API's or below it: also one that no route can read. */
export function atAdminApi(issuer: string): (address: string) => boolean {
  const base = new URL(adminApiOf(issuer)).pathname;
  return (address) => address === base || address.startsWith(`${base}/`);
}
