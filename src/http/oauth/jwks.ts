/** GET /jwks (RFC 7517 §5). */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../deps.ts';
import { JWKS_MAX_AGE } from '../../keys/index.ts';
import { endpoints } from '../../protocol/endpoint.ts';
import { crossOriginRoute } from '../cors.ts';
import { sendDocument } from './public-document.ts';

export function jwks(app: FastifyInstance, deps: Deps): void {
  crossOriginRoute(app, endpoints.jwks_uri, {
    head: true,
    GET: (request, reply) => sendDocument(request, reply, { ...deps.keys.jwks(deps.clock()), max_age: JWKS_MAX_AGE }),
  });
}
