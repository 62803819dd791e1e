/** Memberships of a person: read within the statements that read the person, and only where a scope or resource needs them. */
import { prepared, type Prepared } from './postgres/prepared.ts';

/** Groups by name, and roles with where they hold: at a resource, or (null) at the whole server. Direct and by groups. */
export interface Memberships {
  groups: string[];
  roles: Array<{ resource: string | null; name: string }>;
}

/**
 * So many writers at most wait for one person or group at once. A statement that waited has counted before: by no more than this
 * its count is behind, and whoever is so near to a bound is counted again, now that nobody else can add anything.
 */
export const MOST_AT_ONCE = 500;

/** For which grants memberships are read. */
export interface MembershipRules {
  /** With one of these scopes. */
  scope: readonly string[];
  /** For one of these resources. */
  resource: readonly string[];
}

/**
 * The memberships of the person of a grant `g`; null, and not read, where neither scope nor resource nor claims ask for them.
 */
export const membershipsIfRequested = ({ scope, resource }: MembershipRules): Prepared => prepared`
    case when g.scope && ${scope}::text[] or g.resource && ${resource}::text[]
        or g.requested_claims -> 'id_token' ?| array['groups', 'roles']
      then memberships_of(g.sub) end as memberships`;
