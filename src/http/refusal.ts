/** Turns whatever was thrown into a refusal and a status, and notes it for operators. Each door renders it in its own form. */
import type { FastifyError, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { logRefused } from '../events/index.ts';
import type { Refusal } from '../events/refusals.ts';
import { clientId } from '../protocol/client.ts';
import { invalidRequest, OAuthError, temporarilyUnavailable } from '../protocol/error.ts';
import { decodeFormValue, type Pairs } from '../protocol/form-encoding.ts';
import { isUnavailable } from '../store/postgres/db.ts';
import { CONTENT_CODING } from './message.ts';
import { callerIdOf, requesterOf } from './request.ts';

export interface Refused {
  status: number;
  refusal: OAuthError;
}

type Needs = Pick<Deps, 'clock' | 'directory' | 'log' | 'metrics' | 'refusals'>;

/** Seconds after which a request that met a missing database may come again. */
const RETRY_AFTER = 1;

/** Only the name of a client: what somebody sent in its place, by mistake or not, may be a secret. */
const knownName = ({ directory }: Pick<Needs, 'directory'>, claimed: string | undefined): string | undefined =>
  claimed !== undefined && directory.knows(claimed) ? claimed : undefined;

/**
 * Names what was thrown, and logs it: refusals as such, a database that is away as a warning, defects as errors.
 * `client_id` is who the request said it was: kept for operators where there is such a client, and nowhere otherwise.
 */
export function refused(error: unknown, request: FastifyRequest, deps: Needs, client_id?: string): Refused {
  if (error instanceof OAuthError) return noted(deps, request, error, error.status, client_id);
  const { log, metrics } = deps;
  if (isUnavailable(error)) {
    log.warn({ err: error, request_id: request.id }, 'the database is not available');
    const refusal = temporarilyUnavailable('the server cannot answer right now, try again', {
      retry_after: RETRY_AFTER,
      check: 'database',
    });
    metrics.refused(refusal.error, refusal.failed.check);
    keep(deps, request, refusal, refusal.status, client_id);
    return { status: refusal.status, refusal };
  }
  // What Fastify itself refuses: too large, not parsable, an unknown media type.
  const { statusCode, code } = error as FastifyError;
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    const expected = EXPECTED[code] ?? EXPECTED[statusCode];
    const detail = { cause: code, check: 'form', expected, received: code } as const;
    const sentence = FASTIFY_REFUSALS[code] ?? FASTIFY_REFUSALS[statusCode] ?? 'the request is malformed';
    const refusal = invalidRequest(sentence, detail);
    return noted(deps, request, refusal, statusCode, client_id);
  }
  log.error({ err: error, request_id: request.id }, 'unexpected error');
  // Its message is for the log alone: it may quote anything.
  const received = error instanceof Error ? error.name : typeof error;
  const refusal = new OAuthError('server_error', 'something went wrong here; the request id leads to it in the log', {
    check: 'defect',
    received,
  });
  metrics.refused(refusal.error, refusal.failed.check);
  keep(deps, request, refusal, refusal.status, client_id);
  return { status: refusal.status, refusal };
}

/** Logs a refusal that is answered with `status`, and keeps why. */
export function noted(
  deps: Needs,
  request: FastifyRequest,
  refusal: OAuthError,
  status: number,
  client_id?: string,
): Refused {
  logRefused(deps, request.id, refusal, refusal.explanation.client_id ?? knownName(deps, client_id));
  keep(deps, request, refusal, status, client_id);
  return { status, refusal };
}

/** Keeps why a request was refused, for those who run the server. */
export function keep(
  { refusals, clock }: Pick<Needs, 'clock' | 'refusals'>,
  request: FastifyRequest,
  refusal: Refusal,
  status: number,
  client_id?: string,
): void {
  const { method, routeOptions } = request;
  const route = routeOptions?.url ?? 'unknown';
  const named = client_id ?? namedIn(request);
  const caller = { ...requesterOf(request), caller_request_id: callerIdOf(request) };
  refusals.note(refusal, { ...caller, method, route, status, claimed: named }, clock());
}

/**
 * The client that a browser's request names, readable or not: only what could be a client's name. Not for the log. The query is
 * not read a second time: it may be long.
 */
function namedIn({ query, body }: FastifyRequest): string | undefined {
  const { text = '' } = (query ?? {}) as { text?: string };
  const sent = /(?:^|&)client_id=([\w.~%:/-]{1,300})(?:&|$)/.exec(text)?.[1];
  const pairs = Array.isArray(body) ? (body as Pairs) : [];
  try {
    const named = sent === undefined ? pairs.find(([name]) => name === 'client_id')?.[1] : decodeFormValue(sent);
    return clientId.safeParse(named?.slice(0, 300)).data;
  } catch {
    return undefined;
  }
}

/** By code, else by status. */
const FASTIFY_REFUSALS: Record<string, string> = {
  [CONTENT_CODING]: 'the body is compressed or otherwise coded; send it as it is',
  413: 'the body is too large',
  415: 'the body has a media type that is not accepted here',
};
const EXPECTED: Record<string, string> = {
  [CONTENT_CODING]: 'no Content-Encoding but identity',
  413: 'a body within the limit',
  415: 'application/x-www-form-urlencoded, or application/json where the endpoint takes it',
};
