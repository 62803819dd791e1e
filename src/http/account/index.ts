/**
 * The door of the account API: the pages of the account for programs of the service itself. JSON in and out, problem+json for refusals
 * (RFC 9457), no cookies; pages of other origins may call it as they may call userinfo.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { Problem } from '../../admin/index.ts';
import { SignInOver } from '../../authorize/standing.ts';
import { invalidBody, invalidQuery } from '../../admin/api/problem.ts';
import type { Deps } from '../../deps.ts';
import { isStorableValue } from '../../protocol/plain-text.ts';
import { ACCOUNT_API_PATH } from '../../protocol/account-api.ts';
import { claimedClient } from '../../tokens/unverified.ts';
import { offerNonce, presentationOf } from '../bearer.ts';
import { allowClientOrigin, openToAll, preflight } from '../cors.ts';
import { jsonBodies } from '../json.ts';
import { answerProblem } from '../problem.ts';
import { limited, rateLimits } from '../rate-limit.ts';
import { queryOf, requesterOf } from '../request.ts';
import { refuseUnrouted } from '../unrouted.ts';
import { describeAccountApi, statusOf } from './describe.ts';
import type { Operation } from './operation.ts';
import { operations } from './operations.ts';
import { answerOver, ownerOf, requireOwner, type Owner } from './owner.ts';

/** Bytes of a body. */
const BODY_LIMIT = 16_384;
const OPENAPI = '/openapi.json';

/** Registers the account API under the issuer's path. */
export async function accountApi(app: FastifyInstance, deps: Deps): Promise<void> {
  await rateLimits(app, deps);
  app.decorateRequest('owner', null);
  app.removeAllContentTypeParsers();
  jsonBodies(app, {
    types: ['application/json', 'application/merge-patch+json'],
    bodyLimit: BODY_LIMIT,
    empty: true,
    refuse: (why) => new Problem('invalid', why),
  });
  app.setErrorHandler((error, request, reply) =>
    answerProblem(deps, error, request, reply, ownerOf(request)?.client_id),
  );
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });
  // All of it is one count: whoever looks at everything asks a dozen times.
  const options = limited(app, deps.config, 'AUTHORIZE_RATE_LIMIT', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
  const paths = new Map<string, readonly string[]>();
  const add = (path: string, methods: readonly string[]): void => {
    preflight(app, urlOf(path), methods.join(', '));
    paths.set(path, [...methods, 'OPTIONS']);
  };
  app.get(urlOf(OPENAPI), options, describedTo(deps));
  add(OPENAPI, ['GET']);
  for (const [path, row] of Map.groupBy(operations, (operation) => operation.path)) {
    // The account itself is at the address of the API, with and without a slash.
    for (const at of path === '/' ? ['', '/'] : [path]) {
      for (const operation of row) routeOf(app, deps, at, operation, options);
      add(
        at,
        row.map(({ method }) => method),
      );
    }
  }
  refuseUnrouted(app, ACCOUNT_API_PATH, paths);
}

const urlOf = (path: string): string => `${ACCOUNT_API_PATH}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;

function routeOf(app: FastifyInstance, deps: Deps, path: string, operation: Operation, options: object): void {
  app.route({
    ...options,
    method: operation.method,
    url: urlOf(path),
    // One of the reads is noted in the log: none of them is asked for without its answer.
    exposeHeadRoute: false,
    // Before the body is read: who may not ask is not listened to.
    preParsing: async (request, reply) => {
      offerNonce(deps, request, reply);
      const token = presentationOf(deps, request)?.access_token;
      const claims = token !== undefined && request.headers.origin !== undefined;
      await allowClientOrigin(deps, request, reply, claims ? await claimedClient(deps, token) : undefined);
      request.setDecorator<Owner>('owner', await requireOwner(deps, request, operation));
    },
    handler: (request, reply) => answer(deps, operation, request, reply),
  });
}

async function answer(
  deps: Deps,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const ids = request.params as Record<string, string>;
  if (!isStorableValue(ids)) throw new Problem('not-found', 'there is nothing of this name');
  const given = queryOf(request);
  if (!operation.query && Object.keys(given).length > 0) {
    const errors = Object.keys(given).map((name) => ({ pointer: `?${name}`, detail: 'is not known', code: 'unknown' }));
    throw new Problem('invalid', 'the query is not valid', { errors });
  }
  const owner = request.getDecorator<Owner>('owner');
  const call = {
    deps,
    owner,
    ids,
    query: parse(operation.query, given, invalidQuery),
    body: parse(operation.body, request.body, invalidBody),
    by: requesterOf(request),
    now: deps.clock(),
  };
  const told = await operation.run(call).catch((error: unknown) => {
    throw error instanceof SignInOver ? answerOver(error, owner) : error;
  });
  reply.code(statusOf(operation));
  if (operation.answer === null) return reply.send();
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(told));
}

function parse(schema: z.ZodType | undefined, sent: unknown, refuse: (error: z.ZodError) => Problem): unknown {
  if (!schema) return undefined;
  const parsed = schema.safeParse(sent);
  if (!parsed.success) throw refuse(parsed.error);
  return parsed.data;
}

/** The API described. It says nothing of anybody, so it needs no token. */
function describedTo({ config }: Pick<Deps, 'config'>) {
  let text: string | undefined;
  return (_request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    text ??= JSON.stringify(describeAccountApi(config.ISSUER));
    openToAll(reply);
    return reply.type('application/json; charset=utf-8').header('cache-control', 'public, max-age=300').send(text);
  };
}
