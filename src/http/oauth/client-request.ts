/**
 * The requests of clients that prove who they are: every phase before the door's own work, in one order, so that no door can
 * forget one.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authenticate } from '../../clients/authenticate.ts';
import type { PresentedCredentials } from '../../clients/auth-methods/method.ts';
import type { Deps } from '../../deps.ts';
import type { Requester } from '../../events/index.ts';
import type { Client } from '../../store/clients.ts';
import type { ProvenRequest } from '../../tokens/dpop.ts';
import { offerNonce, provenRequestOf } from '../bearer.ts';
import { limited, type VolumeLimit } from '../rate-limit.ts';
import { formOf, requesterOf, requireForm, route } from '../request.ts';
import { allowClientOrigin, crossOriginRoute } from '../cors.ts';
import { namedClient } from './credentials.ts';

/** What a client sent, and who it says it is: not proven yet. */
export interface ClientRequest extends PresentedCredentials, ProvenRequest {
  by: Requester;
  now: Date;
}

/** What a client sent that has proven who it is. */
export interface AuthenticatedRequest extends Omit<ClientRequest, 'headers'> {
  client: Client;
}

/** How a door differs from the others before its own work. */
export interface ClientDoor {
  /** May pages at the client's origins read the answers? */
  cors: boolean;
  /** POSTs a minute and address; without it there is no limit. */
  limit?: VolumeLimit;
}

/** Opens a door to clients that have proven who they are. */
export const authenticatedDoor = (
  app: FastifyInstance,
  deps: Deps,
  url: string,
  door: ClientDoor,
  answer: (request: AuthenticatedRequest, reply: FastifyReply) => unknown,
): void =>
  clientDoor(app, deps, url, door, async (request, reply) => {
    const { headers: _credentials, ...rest } = request;
    const client = await authenticate(deps, request, rest.by, rest.now);
    return answer({ ...rest, client }, reply);
  });

/** Opens a door whose flow authenticates the client itself: the token endpoint's, which owns that phase. */
export function clientDoor(
  app: FastifyInstance,
  deps: Deps,
  url: string,
  { cors, limit }: ClientDoor,
  answer: (request: ClientRequest, reply: FastifyReply) => unknown,
): void {
  const open = cors ? crossOriginRoute : route;
  open(app, url, {
    ...(limit && { options: limited(app, deps.config, limit) }),
    POST: async (request, reply) => answer(await read(deps, request, reply, cors), reply),
  });
}

async function read(deps: Deps, request: FastifyRequest, reply: FastifyReply, cors: boolean): Promise<ClientRequest> {
  requireForm(request);
  const { headers } = request;
  const parameters = formOf(request);
  // Before the client is authenticated: a page has to be able to read a refusal, too.
  const isOfPage = headers.origin !== undefined;
  if (cors) await allowClientOrigin(deps, request, reply, isOfPage ? namedClient({ headers, parameters }) : undefined);
  offerNonce(deps, request, reply);
  return { headers, parameters, ...provenRequestOf(deps, request), by: requesterOf(request), now: deps.clock() };
}
