/** Claims about a person: which of them a scope opens or a request names, and their values. */
import { isDeepStrictEqual } from 'node:util';
import type { ClaimRequests } from '../protocol/claims-request.ts';
import { pickClaims, type Claims } from '../protocol/claims.ts';
import { numericDate } from '../protocol/numeric-date.ts';
import type { Scope } from '../store/scopes.ts';
import type { User } from '../store/users.ts';
import type { MembershipClaims } from '../tokens/memberships.ts';

type Person = Pick<User, 'username' | 'email' | 'email_verified' | 'claims' | 'updated_at'> & Partial<MembershipClaims>;

type Scopes = ReadonlyMap<string, Scope>;

/** The names of the claims that `scope` opens (OpenID Connect Core §5.4). */
export const claimsOpenedBy = (scope: Iterable<string>, scopes: Scopes): Set<string> =>
  new Set([...scope].flatMap((name) => scopes.get(name)?.claims ?? []));

/** The claims about a person that `scope` opens, values as of now. */
export const claimsFor = (person: Person, scope: readonly string[], scopes: Scopes): Claims =>
  pickClaims(allOf(person), claimsOpenedBy(scope, scopes));

/**
 * The claims about a person that were asked for by name (§5.5): those that the client could be given today by a scope that is
 * `open` to it, each only with a value that was asked for, where one was.
 */
export function requestedClaims(
  person: Person,
  requests: ClaimRequests | undefined,
  open: readonly string[],
  scopes: Scopes,
): Claims {
  if (requests === undefined) return {};
  const tellable = claimsOpenedBy(open, scopes);
  const all = allOf(person);
  const names = Object.entries(requests).flatMap(([name, { value, values }]) => {
    const equals = (one: unknown): boolean => isDeepStrictEqual(one, all[name]);
    const fits = (value === undefined || equals(value)) && (values === undefined || values.some(equals));
    return tellable.has(name) && fits ? [name] : [];
  });
  return pickClaims(all, names);
}

function allOf(person: Person): Claims {
  const all: Claims = {
    ...person.claims,
    ...(person.groups && { groups: person.groups }),
    ...(person.roles && { roles: person.roles }),
    preferred_username: person.username,
    updated_at: numericDate(person.updated_at),
    ...(person.email !== null && { email: person.email, email_verified: person.email_verified }),
  };
  if ('phone_number' in all) all['phone_number_verified'] ??= false;
  else delete all['phone_number_verified'];
  return all;
}
