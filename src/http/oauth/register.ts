/**
 * /register (RFC 7591) and /register/{client_id} (RFC 7592): JSON in and out. Unless REGISTRATION says otherwise they are
 * not there, and say so.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { authenticateRegistration, managed, registerSelf, removeSelf, replaceSelf } from '../../clients/dynamic.ts';
import { describeClient } from '../../clients/register.ts';
import type { Deps } from '../../deps.ts';
import type { Client } from '../../store/clients.ts';
import { endpoints } from '../../protocol/endpoint.ts';
import { invalidToken, OAuthError } from '../../protocol/error.ts';
import { bearerOf } from '../bearer.ts';
import { crossOriginRoute, openToAll } from '../cors.ts';
import { requesterOf, route } from '../request.ts';

/** Of one client (RFC 7592 §2). */
const OWN = `${endpoints.registration_endpoint}/:client_id`;

export function register(app: FastifyInstance, deps: Deps): void {
  if (deps.config.REGISTRATION === 'off') return turnedOff(app);
  crossOriginRoute(app, endpoints.registration_endpoint, {
    async POST(request, reply) {
      // There is no client yet whose origins could be asked; the answer goes to whoever brought the document.
      openToAll(reply);
      const initial = bearerOf(request) ?? undefined;
      const registered = await registerSelf(deps, request.body, initial, requesterOf(request), deps.clock());
      return reply.code(201).send(registered);
    },
  });

  const mine = async (request: FastifyRequest): Promise<{ client: Client; token: string }> => {
    const token = bearerOf(request);
    if (token === undefined || token === null)
      throw invalidToken('the registration access token is missing', {
        check: 'registration_access_token',
        expected: 'Authorization: Bearer with the registration access token',
        received: 'none',
      });
    const { client_id } = request.params as { client_id: string };
    return { client: await authenticateRegistration(deps, client_id, token), token };
  };
  route(app, OWN, {
    async GET(request) {
      const { client, token } = await mine(request);
      return managed(deps, describeClient(client), token);
    },
    async PUT(request) {
      const { client } = await mine(request);
      return replaceSelf(deps, client, request.body, requesterOf(request), deps.clock());
    },
    async DELETE(request, reply) {
      const { client } = await mine(request);
      await removeSelf(deps, client, requesterOf(request), deps.clock());
      return reply.code(204).send();
    },
  });
}

/** Programs try /register unasked, and show its error: a bare 404 would send their users looking for a wrong URL. */
function turnedOff(app: FastifyInstance): void {
  for (const url of [endpoints.registration_endpoint, OWN]) {
    app.route({
      method: app.supportedMethods,
      url,
      // Nobody reads what was sent.
      onRequest: (_request, reply, done) => {
        openToAll(reply);
        const sentence = 'dynamic client registration is off: the operator of this server can allow it (REGISTRATION)';
        done(new OAuthError('not_found', sentence, { check: 'address', expected: 'REGISTRATION=token or open' }));
      },
      handler: () => undefined,
    });
  }
}
