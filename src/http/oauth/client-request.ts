/**
 * The requests of clients that prove who they are: every phase before the door's own work, in one order, so that no door can
 * forget one.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authenticate } from '../../clients/authenticate.ts';
import type { PresentedCredentials } from '../../clients/auth-methods/method.ts';
import type { Deps } from '../../deps.ts';
import type { Requester } from '../../events/index.ts';
import type { Parameters } from '../../protocol/parameters.ts';
import type { Client } from '../../store/clients.ts';
import { limited, type VolumeLimit } from '../rate-limit.ts';
import { formOf, requesterOf, requireForm, route } from '../request.ts';
import { allowClientOrigin, preflight } from './cors.ts';
import { credentialsOf, namedClient } from './credentials.ts';

/** What a client sent, and who it says it is: not proven yet. */
export interface ClientRequest {
  parameters: Parameters;
  credentials: PresentedCredentials;
  by: Requester;
  now: Date;
}

/** What a client sent that has proven who it is. */
export interface AuthenticatedRequest extends Omit<ClientRequest, 'credentials'> {
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
  clientDoor(app, deps, url, door, async ({ credentials, ...request }, reply) => {
    const client = await authenticate(deps, credentials, request.by, request.now);
    return answer({ ...request, client }, reply);
  });

/** Opens a door whose flow authenticates the client itself: the token endpoint's, which owns that phase. */
export function clientDoor(
  app: FastifyInstance,
  deps: Deps,
  url: string,
  { cors, limit }: ClientDoor,
  answer: (request: ClientRequest, reply: FastifyReply) => unknown,
): void {
  if (cors) preflight(app, url, 'POST');
  route(app, url, {
    ...(limit && { options: limited(app, deps.config, limit) }),
    POST: async (request, reply) => answer(await read(deps, request, reply, cors), reply),
  });
}

async function read(deps: Deps, request: FastifyRequest, reply: FastifyReply, cors: boolean): Promise<ClientRequest> {
  requireForm(request);
  const parameters = formOf(request);
  const credentials = credentialsOf(request, parameters);
  // Before the client is authenticated: a page has to be able to read a refusal, too.
  if (cors) await allowClientOrigin(deps, request, reply, namedClient(credentials));
  return { parameters, credentials, by: requesterOf(request), now: deps.clock() };
}
