/**
 * The Fastify instance every scope hangs from: limits against slow and large requests, request ids, one log line per
 * request. It knows nothing of OAuth.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify, { LogController, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { invalidRequest } from '../protocol/error.ts';
import { newId } from '../protocol/handle.ts';
import { peerOf, withinRanges } from './network.ts';
import { requireHttp } from './message.ts';
import { noted, refused, type Refused } from './refusal.ts';
import { BODY_LIMIT, callerIdOf, UNROUTED } from './request.ts';
import { requestLog } from './request-log.ts';
import { traced } from './tracing.ts';
import { nextTurn } from './turn.ts';
import { answerUnreadable, type OwnForm } from './unreadable.ts';

const HEADER_LIMIT = 16_384;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 72_000;
// How often Node looks for connections past their time.
const CHECK_CONNECTIONS_MS = 2_000;
const MAX_CONNECTIONS = 10_000;
const FAREWELL_MS = 1_000;

type Needs = Pick<Deps, 'clock' | 'config' | 'directory' | 'log' | 'metrics' | 'random' | 'refusals' | 'tracing'>;

/** An instance without routes. `own` is the door that refuses what it cannot read in another form than the rest. */
export function createServer(deps: Needs, own: OwnForm): FastifyInstance {
  const { config, log, metrics, random, tracing } = deps;
  const limits = {
    maxHeaderSize: HEADER_LIMIT,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_CONNECTIONS_MS,
  };
  const { TLS_CERT_FILE, TLS_KEY_FILE } = config;
  const options = {
    loggerInstance: log,
    // One line of our own instead of two: it has the route, never the query string.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    childLoggerFactory: requestLog,
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    // A request that comes while we close is answered like any other; its connection is then closed.
    return503OnClosing: false,
    forceCloseConnections: 'idle' as const,
    trustProxy: config.TRUST_PROXY.length > 0 ? withinRanges(config.TRUST_PROXY) : false,
    requestIdHeader: false as const,
    // Never the caller's: it would find what happened to others by theirs. What it calls the request stands beside ours.
    genReqId: () => newId(random, 12),
    // Addresses that cannot be read reach no scope and no hook.
    frameworkErrors: ({ statusCode = 400 }: { statusCode?: number }, request: FastifyRequest, reply: FastifyReply) => {
      void reply
        .header('x-request-id', request.id)
        .header('x-content-type-options', 'nosniff')
        .header('cache-control', 'no-store');
      if (own.covers(request.raw.url ?? '')) {
        own.answerUnreadableAddress(request, reply);
        return;
      }
      const refusal = invalidRequest('the address is malformed', { check: 'address' });
      sendBare(reply, noted(deps, request, refusal, statusCode));
    },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    clientErrorHandler: answerUnreadable(deps, own),
    routerOptions: {
      // The doors parse strictly themselves; what is kept here is the text.
      querystringParser: (text: string) => ({ text }),
      // A resource's URI of 2000 characters (protocol/resource.ts), each of them percent-encoded.
      maxParamLength: 6000,
    },
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const app =
    TLS_CERT_FILE !== undefined && TLS_KEY_FILE !== undefined
      ? (Fastify({
          ...options,
          https: { ...limits, cert: readFileSync(TLS_CERT_FILE), key: readFileSync(TLS_KEY_FILE) },
        }) as unknown as FastifyInstance)
      : (Fastify({ ...options, http: limits }) as unknown as FastifyInstance);
  app.server.maxConnections = MAX_CONNECTIONS;

  if (tracing) traced(app, tracing, UNROUTED);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  requireHttp(app);
  // Of what stands at no door; doors have their own.
  app.setErrorHandler((error, request, reply) => sendBare(reply, refused(error, request, deps)));
  app.addHook('preHandler', nextTurn);
  // Clients with a connection to us are told to leave before any is cut: a request may be on its way on each of them.
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
    for (let waited = 0; config.mode === 'serve' && waited < FAREWELL_MS; waited += 20) {
      if ((await connectionsOf(app)) === 0) return;
      await sleep(20);
    }
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close');
    done(null, payload);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions, id } = request;
    const route = routeOptions.url ?? UNROUTED;
    metrics.answered(method, route, reply.statusCode, reply.elapsedTime / 1000);
    log.info(
      {
        method,
        route,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ip: peerOf(request).ip,
        request_id: id,
        caller_request_id: callerIdOf(request),
      },
      'request',
    );
    done();
  });
  return app;
}

function sendBare(reply: FastifyReply, { status, refusal: { error, error_description } }: Refused): FastifyReply {
  return reply.code(status).header('cache-control', 'no-store').send({ error, error_description });
}

/** Routes have no JSON Schemas, and Fastify's compilers for them are a sixth of what a start would load. */
function noSchemas(): never {
  throw new TypeError('routes have no schemas here: what comes in is checked by zod');
}

const connectionsOf = (app: FastifyInstance): Promise<number> =>
  new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count)));
