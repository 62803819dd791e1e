/** CORS: open documents for everybody, tokens only for the origins of the client they belong to. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { redirectOrigin } from '../protocol/redirect-uri.ts';
import { route, type Route } from './request.ts';

const ALLOW_HEADERS = 'authorization, content-type, dpop, mcp-protocol-version';
const EXPOSE_HEADERS = 'www-authenticate, dpop-nonce, retry-after, x-request-id';
const PREFLIGHT_MAX_AGE = '600';

/** A document that any page may read. Without credentials, since there are none. */
export function openToAll(reply: FastifyReply): void {
  reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', EXPOSE_HEADERS);
}

/** Registers a path that pages of other origins may call, and answers the preflights of its methods. */
export function crossOriginRoute(app: FastifyInstance, url: string, row: Route): void {
  const { options: _options, head: _head, ...handlers } = row;
  preflight(app, url, Object.keys(handlers).join(', '));
  route(app, url, row);
}

/** Preflights say nothing of who may: at this point the client is not known. */
export function preflight(app: FastifyInstance, url: string, methods: string): void {
  app.options(url, (_request, reply) =>
    reply
      .code(204)
      .header('access-control-allow-origin', '*')
      .header('access-control-allow-methods', methods)
      .header('access-control-allow-headers', ALLOW_HEADERS)
      .header('access-control-max-age', PREFLIGHT_MAX_AGE)
      .send(),
  );
}

/**
 * Lets a page read the answer if its origin is one of the client's. Called before the client is authenticated: reading an
 * error needs it too, and the name of a client proves nothing.
 */
export async function allowClientOrigin(
  { directory }: Pick<Deps, 'directory'>,
  request: FastifyRequest,
  reply: FastifyReply,
  client_id: string | undefined,
): Promise<void> {
  reply.header('vary', 'Origin');
  const { origin } = request.headers;
  if (origin === undefined || client_id === undefined) return;
  const client = await directory.client(client_id);
  if (!client) return;
  const origins = [...client.allowed_origins, ...client.redirect_uris.map(redirectOrigin)];
  if (!origins.includes(origin)) return;
  reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', EXPOSE_HEADERS);
}
