/** What every door takes from a Fastify request: parameters, who asks, and from where. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, RouteShorthandOptions } from 'fastify';
import type { Requester } from '../events/index.ts';
import { invalidRequest, OAuthError } from '../protocol/error.ts';
import { parseForm, uniqueParameters, type Pairs } from '../protocol/form-encoding.ts';
import type { Parameters } from '../protocol/parameters.ts';
import { foreignId } from '../protocol/redaction.ts';
import { peerOf } from './network.ts';

/** What stands for the route of a request that has none: its address is anybody's invention. */
export const UNROUTED = 'unknown';

/** Bytes an OAuth form may have. */
export const BODY_LIMIT = 65_536;

/** Who asks. The address is the peer's, or what a trusted proxy says it is. */
export function requesterOf(request: FastifyRequest): Requester {
  const { ip, network } = peerOf(request);
  return { ip, network, request_id: request.id, user_agent: request.headers['user-agent'] };
}

/** What the caller, or a proxy before us, calls the request; undefined for anything else that may stand there. */
export const callerIdOf = ({ headers }: FastifyRequest): string | undefined => foreignId(headers['x-request-id']);

type ByName = (pairs: Pairs) => Parameters;

/** The parameters of the query string. @throws OAuthError invalid_request */
export const queryOf = (request: FastifyRequest, byName: ByName = uniqueParameters): Parameters =>
  byName(parseForm((request.query as { text: string }).text));

/** The parameters of a form body; an absent body is an empty form. @throws OAuthError invalid_request */
export function formOf(request: FastifyRequest, byName: ByName = uniqueParameters): Parameters {
  const { body } = request;
  if (body === undefined || body === null) return {};
  if (body instanceof OAuthError) throw body;
  return byName(body as Pairs);
}

/**
 * For @fastify/formbody: the pairs, or the refusal as a value. A parser that throws there would lose the door's own
 * form of error.
 */
export function formBodyParser(text: string): Record<string, unknown> {
  try {
    return parseForm(text) as unknown as Record<string, unknown>;
  } catch (error) {
    return error as Record<string, unknown>;
  }
}

const FORM_TYPE = /^application\/x-www-form-urlencoded(?: *; *charset="?utf-8"?)?$/i;

/** Refuses a body in any other type than a form, before anybody could read it as an empty one. */
export function requireForm(request: FastifyRequest): void {
  if (!FORM_TYPE.test(request.headers['content-type'] ?? '')) {
    throw invalidRequest('the body must be application/x-www-form-urlencoded', {
      check: 'form',
      expected: 'content-type: application/x-www-form-urlencoded',
      received: request.headers['content-type'] ?? 'none',
    });
  }
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;
/** A path: what answers each of its methods. */
export type Route = Partial<Record<'GET' | 'POST' | 'PUT' | 'DELETE', Handler>> & {
  /** Options of every method: their volume limit. */
  options?: RouteShorthandOptions;
  /** Answer HEAD like GET. Only where GET has no effect: a HEAD must never issue a code. */
  head?: boolean;
};

const REFUSED: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'];

/** Registers a path with the methods it has; the others are answered 405 with Allow (RFC 9110 §15.5.6). */
export function route(app: FastifyInstance, url: string, { options = {}, head = false, ...handlers }: Route): void {
  const methods: HTTPMethods[] = [];
  for (const [method, handler] of Object.entries(handlers) as Array<[HTTPMethods, Handler]>) {
    app.route({
      ...options,
      method,
      url,
      handler,
      ...(method === 'GET' && { exposeHeadRoute: head }),
    });
    methods.push(method, ...(method === 'GET' && head ? (['HEAD'] as const) : []));
  }
  app.route({
    method: REFUSED.filter((method) => !methods.includes(method)),
    url,
    // The body of a method we do not have is nobody's business.
    onRequest: (request, reply, done) => {
      reply.header('allow', methods.join(', '));
      const detail = { check: 'method', expected: methods.join(' '), received: request.method } as const;
      done(new OAuthError('method_not_allowed', `use ${methods.join(' or ')}`, detail));
    },
    handler: () => undefined,
  });
}
