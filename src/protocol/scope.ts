/** Scope (RFC 6749 §3.3): the syntax, and who gets which of what was asked for. Pure; the rows come in as arguments. */
import { ACCOUNT_SCOPE } from './account-api.ts';
import { isAdminScope } from './admin-api.ts';
import { invalidScope } from './error.ts';
import { listOf } from './redaction.ts';

/** What the rules need to know of a scope row. */
export interface ScopeRule {
  name: string;
  /** May a person consent to it? */
  for_people: boolean;
  /** May a client have it for itself (client_credentials)? */
  for_machines: boolean;
}

/** What a scope opens. */
export interface ClaimsRule {
  /** The claims about a person. */
  claims: readonly string[];
}

export const OPENID = 'openid';
export const OFFLINE_ACCESS = 'offline_access';

/** Is it one that the server itself gives a meaning? */
export const isBuiltInScope = (name: string): boolean => isOfPeople(name) || isAdminScope(name);

const isOfPeople = (name: string): boolean => name === OPENID || name === ACCOUNT_SCOPE;

/** What one of those is, whoever writes it down; undefined of any other name. */
export const builtInScope = (name: string): (ScopeRule & { claims: string[] }) | undefined =>
  isBuiltInScope(name)
    ? { name, claims: [], for_people: isOfPeople(name), for_machines: !isOfPeople(name) }
    : undefined;

const SCOPE_TOKEN = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

/** Is it one token of a scope (RFC 6749 Appendix A.4)? */
export const isScopeToken = (text: string): boolean => SCOPE_TOKEN.test(text);

/** The tokens of a scope parameter, each once, in the order given. @throws OAuthError invalid_scope */
export function parseScope(text: string | undefined): string[] {
  if (text === undefined) return [];
  const tokens = text.split(' ').filter((token) => token !== '');
  for (const token of tokens) {
    if (isScopeToken(token)) continue;
    const expected = 'names of printable ASCII without quotes or backslashes, one space between two';
    throw invalidScope('the scope parameter is malformed', { check: 'scope', expected, received: text });
  }
  return [...new Set(tokens)];
}

/** Tokens as the parameter has them. */
export const formatScope = (tokens: readonly string[]): string => tokens.join(' ');

/** Is each of the part in the whole? */
export const isSubset = (part: readonly string[], whole: readonly string[]): boolean =>
  part.every((token) => whole.includes(token));

/** Is it about the person and this authorization, not about an API? */
export const isIdentityScope = (name: string, known: ReadonlyMap<string, ClaimsRule>): boolean =>
  name === OPENID || name === OFFLINE_ACCESS || (known.get(name)?.claims ?? []).length > 0;

/** What of a client says which scope it may have. */
export interface ScopeHolder {
  scope: readonly string[];
  may_administer: boolean;
}

/** Whom a scope is asked for: a person, or the client itself. */
export type ScopeOwner = 'person' | 'machine';

/** The scope that a client is registered for, but for power over the admin API that nobody gave it on purpose. */
export const scopeOf = ({ scope, may_administer }: ScopeHolder): readonly string[] =>
  may_administer ? scope : scope.filter((name) => !isAdminScope(name));

/** Of these names those that may be had for a person: no consent gives power over the admin API. */
const openToPeople = (names: readonly string[], known: ReadonlyMap<string, ScopeRule>): string[] =>
  names.filter((name) => known.get(name)?.for_people === true && !isAdminScope(name));

/** Of these names those that a client may have for itself. */
const openToMachines = (names: readonly string[], known: ReadonlyMap<string, ScopeRule>): string[] =>
  names.filter((name) => known.get(name)?.for_machines === true);

/** Everything that a client could be given today. */
export const scopeOpenTo = (client: ScopeHolder, known: ReadonlyMap<string, ScopeRule>, owner: ScopeOwner): string[] =>
  (owner === 'person' ? openToPeople : openToMachines)(scopeOf(client), known);

/**
 * The scope of an authorization request: unknown and unregistered tokens are dropped (the answer says what is left,
 * RFC 6749 §3.3); none sent means the client's own without openid and offline_access.
 * @throws OAuthError invalid_scope when nothing is left
 */
export function scopeForPerson(
  requested: readonly string[],
  allowed: readonly string[],
  known: ReadonlyMap<string, ScopeRule>,
): string[] {
  const grantable = openToPeople(allowed, known);
  const scope =
    requested.length > 0
      ? requested.filter((name) => grantable.includes(name))
      : grantable.filter((name) => name !== OPENID && name !== OFFLINE_ACCESS);
  if (scope.length === 0) {
    const detail = { check: 'scope', expected: listOf(grantable), received: listOf(requested) } as const;
    throw invalidScope('none of the requested scope is open to this client', detail);
  }
  return scope;
}

/**
 * The scope of a client_credentials request: exactly what was asked, or all the client's scopes for machines.
 * @throws OAuthError invalid_scope for anything unregistered or meant for people
 */
export function scopeForMachine(
  requested: readonly string[],
  allowed: readonly string[],
  known: ReadonlyMap<string, ScopeRule>,
): string[] {
  const grantable = openToMachines(allowed, known);
  if (requested.length === 0) return grantable;
  for (const name of requested) {
    if (grantable.includes(name)) continue;
    const detail = { check: 'scope', expected: listOf(grantable), received: listOf(requested) } as const;
    throw invalidScope('a requested scope is not open to this client in this grant', detail);
  }
  return [...requested];
}
