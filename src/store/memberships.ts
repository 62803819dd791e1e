/** What a person belongs to: read within the statements that read the person, and only where somebody wants to know. */
import { sql, type RawBuilder } from 'kysely';

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

/** The memberships of the person in this column, as an expression. The function costs nothing where it is not called. */
export const membershipsOf = (sub: RawBuilder<unknown>): RawBuilder<Memberships> =>
  sql<Memberships>`memberships_of(${sub})`;

/** The memberships of a grant's person, null where nobody wants them: then nothing is read. */
export const membershipsIfWanted = (
  grant: string,
  { scope, resource }: MembershipsWanted,
): RawBuilder<Memberships | null> => {
  const column = (name: string): RawBuilder<unknown> => sql.ref(`${grant}.${name}`);
  return sql<Memberships | null>`
    case when ${column('scope')} && ${scope}::text[] or ${column('resource')} && ${resource}::text[]
        or ${column('requested_claims')} -> 'id_token' ?| array['groups', 'roles']
      then ${membershipsOf(column('sub'))} end`;
};
