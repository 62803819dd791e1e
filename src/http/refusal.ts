/** From whatever was thrown to a refusal and a status. Each scope renders it in its own form. */
import type { FastifyError, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { logRefused } from '../events/index.ts';
import { invalidRequest, OAuthError, temporarilyUnavailable } from '../protocol/error.ts';
import { isUnavailable } from '../store/db.ts';

export interface Refused {
  status: number;
  refusal: OAuthError;
}

/** Seconds after which a request that met a missing database may come again. */
const RETRY_AFTER = 1;

/**
 * Names what was thrown, and logs it: refusals as such, a database that is away as a warning, defects as errors.
 * `client_id` is who the request said it was, for the log.
 */
export function refused(
  error: unknown,
  request: FastifyRequest,
  deps: Pick<Deps, 'log' | 'metrics'>,
  client_id?: string,
): Refused {
  if (error instanceof OAuthError) {
    logRefused(deps, request.id, error, client_id);
    return { status: error.status, refusal: error };
  }
  const { log, metrics } = deps;
  if (isUnavailable(error)) {
    log.warn({ err: error, request_id: request.id }, 'the database is not available');
    const refusal = temporarilyUnavailable('the server cannot answer right now, try again', {
      retry_after: RETRY_AFTER,
    });
    metrics.refused(refusal.error);
    return { status: refusal.status, refusal };
  }
  // What Fastify itself refuses: too large, not parsable, an unknown media type.
  const { statusCode, code } = error as FastifyError;
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    const refusal = invalidRequest(FASTIFY_REFUSALS[statusCode] ?? 'the request is malformed', { cause: code });
    logRefused(deps, request.id, refusal, client_id);
    return { status: statusCode, refusal };
  }
  log.error({ err: error, request_id: request.id }, 'unexpected error');
  const refusal = new OAuthError('server_error', 'something went wrong here; the request id leads to it in the log');
  metrics.refused(refusal.error);
  return { status: refusal.status, refusal };
}

const FASTIFY_REFUSALS: Record<number, string> = {
  413: 'the body is too large',
  415: 'the body has a media type that is not accepted here',
};
