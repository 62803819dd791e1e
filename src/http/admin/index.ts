/**
 * The door of operators: JSON in and out, problem+json for refusals (RFC 9457), one access token's scope for each verb.
 * No CORS.
 */
import accepts from '@fastify/accepts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { ADMIN_PATH, exportList, NDJSON, operations, perform, Problem, type Operation } from '../../admin/index.ts';
import type { Deps } from '../../deps.ts';
import { jsonBodies } from '../json.ts';
import { answerProblem } from '../problem.ts';
import { rateLimits, shareOf } from '../rate-limit.ts';
import { requesterOf } from '../request.ts';
import { refuseUnrouted } from '../unrouted.ts';
import { offerNonce } from '../bearer.ts';
import { authorizeOperator, principalOf, type Principal } from './authorize.ts';
import { DESCRIBED_AT, describedAt } from './description.ts';

import { idempotencyOf, ifMatchOf, queryOf, requireAccept, requireJson, wantsExport } from './read.ts';

/** Bytes of a body. */
const BODY_LIMIT = 262_144;

/** Registers the admin API under the issuer's path. */
export async function admin(app: FastifyInstance, deps: Deps): Promise<void> {
  await app.register(accepts);
  await rateLimits(app, deps);
  app.decorateRequest('principal', null);
  app.removeAllContentTypeParsers();
  jsonBodies(app, {
    types: ['application/json', 'application/merge-patch+json'],
    bodyLimit: BODY_LIMIT,
    // Many programs name a type although there is nothing to send. What needs a body says that it lacks one.
    empty: true,
    refuse: (why) => new Problem('invalid', why),
  });
  app.setErrorHandler((error, request, reply) =>
    answerProblem(deps, error, request, reply, principalOf(request)?.client_id),
  );
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });
  describedAt(app, deps);
  const paths = new Map<string, readonly string[]>(DESCRIBED_AT.map((path) => [path, ['GET', 'HEAD']]));
  for (const [path, row] of Map.groupBy(operations, (operation) => operation.path)) {
    routes(app, deps, path, row);
    const allowed = row.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    paths.set(path, allowed);
  }
  refuseUnrouted(app, ADMIN_PATH, paths);
}

/** One path with its methods. */
function routes(app: FastifyInstance, deps: Deps, path: string, row: readonly Operation[]): void {
  const url = `${ADMIN_PATH}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
  const max = shareOf(deps.config, 'ADMIN_RATE_LIMIT');
  const options = max === 0 ? {} : { onRequest: app.rateLimit({ max, timeWindow: 60_000 }) };
  for (const operation of row) {
    app.route({
      ...options,
      method: operation.method,
      url,
      exposeHeadRoute: operation.method === 'GET',
      // Before the body is read: who may not ask is not listened to.
      preParsing: async (request, reply) => {
        offerNonce(deps, request, reply);
        const principal = await authorizeOperator(deps, request, operation.scope);
        request.setDecorator<Principal>('principal', principal);
        requireAccept(request, operation);
        requireJson(request, operation);
      },
      handler: (request, reply) => answer(deps, operation, request, reply),
    });
  }
}

async function answer(
  deps: Deps,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { client_id, scope } = request.getDecorator<Principal>('principal');
  const adminRequest = {
    ids: request.params as Record<string, string>,
    query: queryOf(request, operation),
    body: request.body,
    if_match: ifMatchOf(request),
    token_scope: scope,
    idempotency: operation.method === 'POST' ? idempotencyOf(request, client_id) : undefined,
  };
  const by = { ...requesterOf(request), actor: client_id };
  if (operation.kind === 'list' && wantsExport(request, operation)) {
    const items = await exportList(deps, operation, adminRequest, by, deps.clock());
    return reply.type(`${NDJSON}; charset=utf-8`).send(Readable.from(linesOf(items)));
  }
  const { status, body, etag, location, next, replayed } = await perform(
    deps,
    operation,
    adminRequest,
    by,
    deps.clock(),
  );
  const base = `${deps.config.ISSUER}${ADMIN_PATH}`;
  if (etag !== undefined) reply.header('etag', etag);
  if (location !== undefined) reply.header('location', `${base}${location}`);
  if (replayed) reply.header('idempotent-replayed', 'true');
  if (next !== undefined) {
    const url = new URL(
      `${deps.config.ISSUER}${request.url.slice(new URL(deps.config.ISSUER).pathname.replace(/\/$/, '').length)}`,
    );
    url.searchParams.set('cursor', next);
    reply.header('link', `<${url.href}>; rel="next"`);
  }
  reply.code(status);
  return body === undefined ? reply.send() : reply.type('application/json; charset=utf-8').send(JSON.stringify(body));
}

/** Many at a time: a write to the socket for each would take longer than reading them. */
async function* linesOf(items: AsyncIterable<unknown>): AsyncGenerator<string, void, undefined> {
  let lines = '';
  for await (const item of items) {
    lines += `${JSON.stringify(item)}\n`;
    if (lines.length < 65_536) continue;
    yield lines;
    lines = '';
  }
  if (lines !== '') yield lines;
}
