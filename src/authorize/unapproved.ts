/**
 * Clients that nobody approved (RFC 9700 §4.11.2): where registration is open, anybody has a client, and with it an address
 * that a link to this server would lead to. Whoever is sent there without having done anything decides that alone.
 */
import type { Deps } from '../deps.ts';
import type { OAuthError } from '../protocol/error.ts';
import type { ResponseTarget } from '../protocol/authorization-request.ts';
import type { Client } from '../store/clients.ts';
import * as consents from '../store/consents.ts';
import { respond, type Delivery } from './response-modes.ts';

/** A refusal on its way to the client; `needs_confirmation` where a page has to come first, and the person to go on from it. */
export interface DeliveredRefusal {
  answer: Delivery;
  refusal: OAuthError;
  needs_confirmation: boolean;
}

/** Did an operator, or one of these people, ever let this client have anything? */
export async function isApproved(
  { db }: Pick<Deps, 'db'>,
  { client_id, registered_by, skip_consent }: Client,
  people: ReadonlyArray<{ sub: string }>,
): Promise<boolean> {
  if (registered_by === 'operator' || skip_consent) return true;
  const subs = people.map(({ sub }) => sub);
  return subs.length > 0 && consents.isFromAny(db, client_id, subs);
}

/**
 * The refusal as it travels to the client. `exempt`: the person acted (signed in, or refused), or nobody was asked (prompt=none),
 * which RFC 9700 exempts. It claims nothing: whoever does, does it after this. @throws OAuthError for a page (`respond`)
 */
export async function deliverRefusal(
  deps: Pick<Deps, 'clientKeys' | 'config' | 'db' | 'keys'>,
  client: Client,
  target: ResponseTarget,
  refusal: OAuthError,
  { people, exempt }: { people: ReadonlyArray<{ sub: string }>; exempt: boolean },
  now: Date,
): Promise<DeliveredRefusal> {
  const needs_confirmation = !exempt && !(await isApproved(deps, client, people));
  return { answer: await respond(deps, client, target, refusal, now), refusal, needs_confirmation };
}
