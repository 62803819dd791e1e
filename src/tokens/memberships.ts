/** The `groups` and `roles` claims: which of a person's memberships a client or a resource learns. */
import { MEMBERSHIP_CLAIMS, type PersonClaims } from '../protocol/claims.ts';
import type { Memberships, MembershipRules } from '../store/memberships.ts';
import type { Resource } from '../store/resources.ts';
import { perRules, type Rules } from './rules.ts';

/** The claims: names, each once. An empty claim is left out. */
export type MembershipClaims = { groups?: string[]; roles?: string[] };

/** A person, and their memberships where the statement read them. */
interface Member {
  claims: PersonClaims;
  memberships: Memberships | null;
}

type Resources = ReadonlyMap<string, Resource>;

/** The scopes that open one of these claims, and the resources that registered for one: only for these they are read. */
export const membershipRules = perRules(({ scopes, resources }): MembershipRules => {
  const opens = ({ claims }: { claims: readonly string[] }): boolean =>
    MEMBERSHIP_CLAIMS.some((claim) => claims.includes(claim));
  return {
    scope: [...scopes.values()].filter(opens).map(({ name }) => name),
    resource: [...resources.values()].filter(opens).map(({ resource }) => resource),
  };
});

/** Does a scope open one of these claims? */
export const opensMemberships = (scope: readonly string[], rules: Rules): boolean =>
  membershipRules(rules).scope.some((name) => scope.includes(name));

/**
 * What a client is told, in ID tokens and userinfo: every group, and the roles that are its own affair, at the whole server
 * and at the resources that are this client. A role at another resource would be taken for one of its own.
 */
export function membershipsFor(
  { client_id }: { client_id: string },
  member: Member,
  resources: Resources,
): MembershipClaims {
  const own = (uri: string | null): boolean => uri === null || resources.get(uri)?.client_id === client_id;
  const roles = member.memberships?.roles.filter(({ resource }) => own(resource)) ?? [];
  return claimsOf(
    groupsOf(member),
    roles.map(({ name }) => name),
  );
}

/**
 * What an access token for these resources says (RFC 9068 §2.2.3.1): what every one of them asks for, and of the roles
 * those that hold at every one. A role at one of several would be taken for a role at the others.
 */
export function membershipsAt(resource: readonly string[], member: Member, resources: Resources): MembershipClaims {
  const [groups, roles] = MEMBERSHIP_CLAIMS.map((claim) => isClaimRequested(claim, resource, resources));
  const assigned = member.memberships?.roles ?? [];
  const isAssigned = (name: string, uri: string): boolean =>
    assigned.some((role) => role.name === name && (role.resource === null || role.resource === uri));
  const names = assigned.map(({ name }) => name).filter((name) => resource.every((uri) => isAssigned(name, uri)));
  return claimsOf(groups ? groupsOf(member) : [], roles ? names : []);
}

const isClaimRequested = (
  claim: (typeof MEMBERSHIP_CLAIMS)[number],
  resource: readonly string[],
  resources: Resources,
): boolean => resource.length > 0 && resource.every((uri) => resources.get(uri)?.claims.includes(claim));

/** The groups of this server, and those that an operator wrote into the person's claims by name. */
const groupsOf = ({ claims, memberships }: Member): string[] => [
  ...(claims.groups ?? []),
  ...(memberships?.groups ?? []),
];

const claimsOf = (groups: readonly string[], roles: readonly string[]): MembershipClaims => ({
  ...(groups.length > 0 && { groups: [...new Set(groups)] }),
  ...(roles.length > 0 && { roles: [...new Set(roles)] }),
});
