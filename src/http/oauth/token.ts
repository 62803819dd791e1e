/** POST /token (RFC 6749 §3.2). */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../deps.ts';
import { exchange } from '../../grants/index.ts';
import { endpoints } from '../../protocol/endpoint.ts';
import { clientDoor } from './client-request.ts';

export function token(app: FastifyInstance, deps: Deps): void {
  const door = { cors: true, limit: 'TOKEN_RATE_LIMIT' } as const;
  clientDoor(app, deps, endpoints.token_endpoint, door, (request) => exchange(deps, request));
}
