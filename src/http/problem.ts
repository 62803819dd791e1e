/** The form of refusals of the doors that speak problem+json (RFC 9457): whatever was thrown, and a note of it for operators. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { Problem, problemOf } from '../admin/index.ts';
import type { Deps } from '../deps.ts';
import { logProblem } from '../events/index.ts';
import type { Refusal } from '../events/refusals.ts';
import { isAboutProof, OAuthError, type Explanation } from '../protocol/error.ts';
import { isUnavailable } from '../store/postgres/db.ts';
import { challengeOf, giveNonce, type Challenge } from './bearer.ts';
import { CONTENT_CODING } from './message.ts';
import { keep } from './refusal.ts';

type Needs = Pick<Deps, 'clock' | 'config' | 'directory' | 'log' | 'metrics' | 'refusals' | 'secrets'>;

/** A refusal with what RFC 6750 §3 has to say in WWW-Authenticate. */
export class Challenged extends Problem {
  readonly challenge: Challenge;
  constructor(code: 'unauthorized' | 'forbidden', detail: string, challenge: Challenge, why: Explanation) {
    super(code, detail, why);
    this.challenge = challenge;
  }
}

/** Answers with a problem; logs it and keeps why. `asking` is the client that was found to ask. */
export function answerProblem(
  deps: Needs,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  asking?: string,
): FastifyReply {
  const problem = named(error);
  const refusal = refusalOf(problem);
  const client_id = asking ?? problem.explanation.client_id;
  // A database that is away is a warning, a defect an error, with all that is known of it.
  if (problem.status === 503) deps.log.warn({ err: error, request_id: request.id }, 'the server cannot answer');
  else if (problem.status === 500) deps.log.error({ err: error, request_id: request.id }, 'unexpected error');
  logProblem(deps, request.id, refusal, client_id);
  keep(deps, request, refusal, problem.status, client_id);
  if (problem instanceof Challenged) {
    const bound = problem.explanation.check === 'token_binding' || undefined;
    reply.header('www-authenticate', challengeOf(deps.config.ISSUER, request, problem.challenge, { bound }));
    if (problem.challenge.error === 'use_dpop_nonce') giveNonce(deps, reply);
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

/** A problem as refusals are kept. */
export const refusalOf = ({ code, detail, explanation }: Problem): Refusal => ({
  error: code,
  error_description: detail,
  failed: { check: explanation.check },
  explanation,
});

function named(error: unknown): Problem {
  // Of @fastify/rate-limit, whose refusal is made for every door.
  if (error instanceof OAuthError && error.status === 429) {
    const { retry_after = 1, explanation } = error;
    return new Problem('too-many-requests', 'slow down', { ...explanation, retry_after });
  }
  if (error instanceof OAuthError && error.error === 'misdirected_request') {
    return new Problem('misdirected', error.error_description, error.explanation);
  }
  // Of an access token that its sender does not hold: tokens/holder.ts.
  if (error instanceof OAuthError && (error.error === 'invalid_token' || isAboutProof(error.error))) {
    const { error: code, error_description, explanation } = error;
    return new Challenged('unauthorized', error_description, { error: code, error_description }, explanation);
  }
  const problem = problemOf(error);
  if (problem) return problem;
  if (isUnavailable(error)) return new Problem('unavailable', 'try again', { retry_after: 1 });
  const { statusCode, code } = error as FastifyError;
  if (statusCode === 413) return new Problem('too-large', 'the body is too large', { received: code });
  if (statusCode === 415) {
    const wanted = code === CONTENT_CODING ? 'send it without Content-Encoding' : 'send application/json';
    return new Problem('unsupported-media-type', wanted, { received: code });
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new Problem('invalid', 'the body is not JSON that can be read', { expected: 'JSON', received: code });
  }
  // Its message is for the log alone: it may quote anything.
  const received = error instanceof Error ? error.name : typeof error;
  return new Problem('server-error', 'the request id leads to it in the log', { received });
}
