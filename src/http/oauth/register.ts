/**
 * /register (RFC 7591) and /register/{client_id} (RFC 7592): JSON in and out. Unless REGISTRATION says otherwise they are
 * not there, and say so.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { authenticateRegistration, managed, registerSelf, removeSelf, replaceSelf } from '../../clients/dynamic.ts';
import { describeClient } from '../../clients/register.ts';
import type { Deps } from '../../deps.ts';
import type { Client } from '../../store/clients.ts';
import { invalidToken, OAuthError } from '../../protocol/error.ts';
import { openToAll, preflight } from './cors.ts';
import { requesterOf, route } from '../request.ts';

export function register(app: FastifyInstance, deps: Deps): void {
  if (deps.config.REGISTRATION === 'off') return turnedOff(app);
  preflight(app, '/register', 'POST');
  route(app, '/register', {
    async POST(request, reply) {
      // There is no client yet whose origins could be asked; the answer goes to whoever brought the document.
      openToAll(reply);
      const registered = await registerSelf(deps, request.body, bearerOf(request), requesterOf(request), deps.clock());
      return reply.code(201).send(registered);
    },
  });

  const mine = async (request: FastifyRequest): Promise<{ client: Client; token: string }> => {
    const token = bearerOf(request);
    if (token === undefined)
      throw invalidToken('the registration access token is missing', {
        check: 'registration_access_token',
        expected: 'Authorization: Bearer with the registration access token',
        received: 'none',
      });
    const { client_id } = request.params as { client_id: string };
    return { client: await authenticateRegistration(deps, client_id, token), token };
  };
  route(app, '/register/:client_id', {
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

/** Programs try /register unasked, and show what they are told: a bare 404 would send their people looking for a wrong URL. */
function turnedOff(app: FastifyInstance): void {
  for (const url of ['/register', '/register/:client_id']) {
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

const bearerOf = ({ headers }: FastifyRequest): string | undefined =>
  /^bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
