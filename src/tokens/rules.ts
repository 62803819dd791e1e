/**
 * The rules: all registered scopes, resources and types of authorization details, by which the scope of a token is narrowed to where it goes. They change
 * seldom, so what follows from them alone is computed once (`perRules`) and not at every request.
 */
import type { Deps } from '../deps.ts';
import { scopeOpenTo, type ScopeOwner } from '../protocol/scope.ts';
import type { AuthorizationType } from '../store/authorization-types.ts';
import type { Client } from '../store/clients.ts';
import type { KnownResource } from '../store/resources.ts';
import type { KnownScope } from '../store/scopes.ts';

export interface Rules {
  issuer: string;
  /** By name. */
  scopes: ReadonlyMap<string, KnownScope>;
  /** By identifier. */
  resources: ReadonlyMap<string, KnownResource>;
  /** Types of authorization details (RFC 9396), by name. */
  types: ReadonlyMap<string, AuthorizationType>;
}

interface CachedRules {
  issuer: string;
  resources: Promise<unknown>;
  types: Promise<unknown>;
  rules: Promise<Rules>;
}

/** Keyed by the directory's promise, which stays the same for seconds. */
const cached = new WeakMap<Promise<unknown>, CachedRules>();

/** The current rules: the same object until the directory reads a row anew. */
export function rulesOf({ config, directory }: Pick<Deps, 'config' | 'directory'>): Promise<Rules> {
  const issuer = config.ISSUER;
  const [scopes, resources, types] = [directory.scopes(), directory.resources(), directory.types()];
  const before = cached.get(scopes);
  if (before?.resources === resources && before.types === types && before.issuer === issuer) return before.rules;
  const rules = Promise.all([scopes, resources, types]).then(([byName, byUri, byType]) => ({
    issuer,
    scopes: byName,
    resources: byUri,
    types: byType,
  }));
  cached.set(scopes, { issuer, resources, types, rules });
  return rules;
}

/** Memoises a function of the rules alone. */
export function perRules<T extends object>(work: (rules: Rules) => T): (rules: Rules) => T {
  const done = new WeakMap<Rules, T>();
  return (rules) => {
    let result = done.get(rules);
    if (result === undefined) done.set(rules, (result = work(rules)));
    return result;
  };
}

const openByClient = perRules((_known) => ({
  person: new WeakMap<Client, readonly string[]>(),
  machine: new WeakMap<Client, readonly string[]>(),
}));

/** Every scope that is open to a client now, for a person or for itself. */
export function openTo(client: Client, rules: Rules, owner: ScopeOwner): readonly string[] {
  const byClient = openByClient(rules)[owner];
  let open = byClient.get(client);
  if (open === undefined) byClient.set(client, (open = scopeOpenTo(client, rules.scopes, owner)));
  return open;
}
