/** What tokens say of the groups and roles of a person, and to whom. */
import { MEMBERSHIP_CLAIMS, type PersonClaims } from '../protocol/claims.ts';
import type { Memberships, MembershipsWanted } from '../store/memberships.ts';
import type { Resource } from '../store/resources.ts';
import type { Known } from './terms.ts';

/** The claims: names, each once. One that is empty is left out. */
export type MembershipClaims = { groups?: string[]; roles?: string[] };

/** A person with their memberships, as far as somebody wants to know them. */
interface Member {
  claims: PersonClaims;
  memberships: Memberships | null;
}

type Resources = ReadonlyMap<string, Resource>;

/** The scopes that open one of these claims, and the resources that ask for one. */
export function membershipsWanted({ scopes, resources }: Pick<Known, 'scopes' | 'resources'>): MembershipsWanted {
  const opens = ({ claims }: { claims: readonly string[] }): boolean =>
    MEMBERSHIP_CLAIMS.some((claim) => claims.includes(claim));
  return {
    scope: [...scopes.values()].filter(opens).map(({ name }) => name),
    resource: [...resources.values()].filter(opens).map(({ resource }) => resource),
  };
}

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
  return told(
    groupsOf(member),
    roles.map(({ name }) => name),
  );
}

/**
 * What an access token for these resources says (RFC 9068 §2.2.3.1): what every one of them asks for, and of the roles
 * those that hold at every one. A role at one of several would be taken for a role at the others.
 */
export function membershipsAt(resource: readonly string[], member: Member, resources: Resources): MembershipClaims {
  const [groups, roles] = MEMBERSHIP_CLAIMS.map((claim) => areAsked(claim, resource, resources));
  const held = member.memberships?.roles ?? [];
  const holds = (name: string, uri: string): boolean =>
    held.some((role) => role.name === name && (role.resource === null || role.resource === uri));
  const names = held.map(({ name }) => name).filter((name) => resource.every((uri) => holds(name, uri)));
  return told(groups ? groupsOf(member) : [], roles ? names : []);
}

const areAsked = (
  claim: (typeof MEMBERSHIP_CLAIMS)[number],
  resource: readonly string[],
  resources: Resources,
): boolean => resource.length > 0 && resource.every((uri) => resources.get(uri)?.claims.includes(claim));

/** The groups here, and those that are only names among the person's claims. */
const groupsOf = ({ claims, memberships }: Member): string[] => [
  ...(claims.groups ?? []),
  ...(memberships?.groups ?? []),
];

const told = (groups: readonly string[], roles: readonly string[]): MembershipClaims => ({
  ...(groups.length > 0 && { groups: [...new Set(groups)] }),
  ...(roles.length > 0 && { roles: [...new Set(roles)] }),
});
