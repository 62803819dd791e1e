/** From whatever was thrown to application/problem+json. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { Problem, problemOf } from '../../admin/index.ts';
import type { Deps } from '../../deps.ts';
import { logProblem } from '../../events/index.ts';
import { OAuthError } from '../../protocol/error.ts';
import { isUnavailable } from '../../store/db.ts';
import { Challenged } from './authorize.ts';

/** Answers with a problem, and logs it: refusals as such, a database that is away as a warning, defects as errors. */
export function answerProblem(
  deps: Pick<Deps, 'config' | 'log' | 'metrics'>,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = named(deps, error, request);
  deps.metrics.refused(problem.code);
  if (problem instanceof Challenged) {
    const said = [`realm="${deps.config.ISSUER}"`, problem.challenge].filter((part) => part !== '').join(', ');
    reply.header('www-authenticate', `Bearer ${said}`);
  }
  if (problem.retry_after !== undefined) reply.header('retry-after', problem.retry_after);
  // What was not read of a body too large is not waited for.
  if (problem.status === 413) reply.header('connection', 'close');
  return reply
    .code(problem.status)
    .header('cache-control', 'no-store')
    .type('application/problem+json; charset=utf-8')
    .send(JSON.stringify(problem.document(request.id)));
}

function named({ log }: Pick<Deps, 'log'>, error: unknown, request: FastifyRequest): Problem {
  // Of @fastify/rate-limit, whose refusal is made for every door.
  if (error instanceof OAuthError && error.status === 429) {
    return new Problem('too-many-requests', 'slow down', { retry_after: error.retry_after ?? 1 });
  }
  const problem = problemOf(error);
  if (problem) {
    logProblem(log, request.id, problem);
    return problem;
  }
  if (isUnavailable(error)) {
    log.warn({ err: error, request_id: request.id }, 'the database is not available');
    return new Problem('unavailable', 'try again', { retry_after: 1 });
  }
  const { statusCode } = error as FastifyError;
  if (statusCode === 413) return new Problem('too-large', 'the body is too large');
  if (statusCode === 415) return new Problem('unsupported-media-type', 'send application/json');
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new Problem('invalid', 'the body is not JSON that can be read');
  }
  log.error({ err: error, request_id: request.id }, 'unexpected error');
  return new Problem('server-error', 'the request id leads to it in the log');
}
