/** What is said of a person: which claims a scope opens or a request names, and their values. */
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
export const claimsOpenedBy = (scope: Iterable<string>, known: Scopes): Set<string> =>
  new Set([...scope].flatMap((name) => known.get(name)?.claims ?? []));

/** The claims about a person that `scope` opens, values as of now. */
export const claimsFor = (person: Person, scope: readonly string[], known: Scopes): Claims =>
  pickClaims(allOf(person), claimsOpenedBy(scope, known));

/**
 * The claims about a person that were asked for by name (§5.5): those that the client's scope could tell it today, each only
 * with a value that was asked for, where one was.
 */
export function requestedClaims(
  person: Person,
  requests: ClaimRequests | undefined,
  tellable: ReadonlySet<string>,
): Claims {
  if (requests === undefined) return {};
  const all = allOf(person);
  const names = Object.entries(requests).flatMap(([name, { value, values }]) => {
    const wanted = (one: unknown): boolean => isDeepStrictEqual(one, all[name]);
    const fits = (value === undefined || wanted(value)) && (values === undefined || values.some(wanted));
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
