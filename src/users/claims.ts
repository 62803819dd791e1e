/** What is said of a person: which claims a scope opens, and their values. */
import { pickClaims, type Claims } from '../protocol/claims.ts';
import { numericDate } from '../protocol/numeric-date.ts';
import type { Scope } from '../store/scopes.ts';
import type { User } from '../store/users.ts';

type Person = Pick<User, 'username' | 'email' | 'email_verified' | 'claims' | 'updated_at'>;

/** The claims about a person that `scope` opens (OpenID Connect Core §5.4), values as of now. */
export function claimsFor(person: Person, scope: readonly string[], known: ReadonlyMap<string, Scope>): Claims {
  const all: Claims = {
    ...person.claims,
    preferred_username: person.username,
    updated_at: numericDate(person.updated_at),
    ...(person.email !== null && { email: person.email, email_verified: person.email_verified }),
  };
  if ('phone_number' in all) all['phone_number_verified'] ??= false;
  else delete all['phone_number_verified'];
  const names = scope.flatMap((name) => known.get(name)?.claims ?? []);
  return pickClaims(all, new Set(names));
}
