/** What a person belongs to: read within the statements that read the person, and only where somebody wants to know. */
import { prepared, type Prepared } from './prepared.ts';

/** Groups by name, and roles with where they hold: at a resource, or (null) at the whole server. Direct and by groups. */
export interface Memberships {
  groups: string[];
  roles: Array<{ resource: string | null; name: string }>;
}

/** For which grants memberships are read. */
export interface MembershipsWanted {
  /** With one of these scopes. */
  scope: readonly string[];
  /** For one of these resources. */
  resource: readonly string[];
}

/**
 * The memberships of the person of a grant `g`, null where nobody wants them: then nothing is read. The function costs nothing
 * where it is not called.
 */
export const membershipsIfWanted = ({ scope, resource }: MembershipsWanted): Prepared => prepared`
    case when g.scope && ${scope}::text[] or g.resource && ${resource}::text[]
        or g.requested_claims -> 'id_token' ?| array['groups', 'roles']
      then memberships_of(g.sub) end as memberships`;
