/** The authorization details (RFC 9396) that a client may ask for, and those it may still have. */
import {
  invalidDetails,
  isFor,
  parseDetails,
  placeProblem,
  type AuthorizationDetail,
} from '../protocol/authorization-details.ts';
import type { AuthorizationType } from '../store/authorization-types.ts';
import type { Client } from '../store/clients.ts';
import { formProblem, type DetailsSchema } from './details-schema.ts';

type Types = ReadonlyMap<string, AuthorizationType>;
type Holder = Pick<Client, 'authorization_details_types'>;

/** Is a type open to a client? */
const isOpen = (name: string, { authorization_details_types }: Holder, types: Types): boolean =>
  types.has(name) && (authorization_details_types ?? []).includes(name);

/**
 * The details that a request asks for: each of a type that there is and that the client may ask for, in its form, for resources that
 * are asked for. Nothing is dropped: what cannot be had is refused. @throws OAuthError invalid_authorization_details
 */
export function requestedDetails(
  sent: string | undefined,
  client: Holder,
  types: Types,
  resource: readonly string[],
): readonly AuthorizationDetail[] {
  const details = parseDetails(sent);
  for (const detail of details) {
    const type = types.get(detail.type);
    if (!type || !isOpen(detail.type, client, types)) {
      throw invalidDetails('the client cannot ask for authorization_details of this type', {
        expected: `of ${(client.authorization_details_types ?? []).filter((name) => types.has(name)).join(', ') || 'none'}`,
        received: detail.type,
      });
    }
    const [malformed, misplaced] = [formProblem(type, detail), placeProblem(detail, type, resource)];
    if (malformed !== undefined) {
      const shown = { expected: 'the form of the type', received: malformed };
      throw invalidDetails(`the authorization_details do not have the form of their type: ${malformed}`, shown);
    }
    if (misplaced !== undefined) {
      const expected = `resource=${type.resource.join(' or ') || 'each location'}`;
      const received = resource.join(' ') || 'no resource';
      throw invalidDetails(`the authorization_details ${misplaced}`, { expected, received });
    }
  }
  return details;
}

/**
 * Of what was granted, what the client may still have: of a type that there still is, that is no other of its name, that the client may
 * still ask for, and whose form it still has.
 */
export const openDetails = (
  granted: readonly AuthorizationDetail[],
  client: Holder,
  types: Types,
  since: Date,
): readonly AuthorizationDetail[] =>
  granted.filter((detail) => {
    const type = types.get(detail.type);
    return type !== undefined && isOpen(detail.type, client, types) && type.created_at <= since && fits(type, detail);
  });

function fits(type: { name: string; schema: DetailsSchema }, detail: AuthorizationDetail): boolean {
  try {
    return formProblem(type, detail) === undefined;
  } catch {
    // A schema that this version cannot read lets nothing through.
    return false;
  }
}

/** Those for these resources. */
export const detailsAt = (
  details: readonly AuthorizationDetail[],
  types: Types,
  resource: readonly string[],
): readonly AuthorizationDetail[] =>
  details.filter((detail) => isFor(detail, types.get(detail.type) ?? { resource: [] }, resource));
