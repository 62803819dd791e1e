/** Requests to the admin API that no route answers: other methods, other addresses, addresses that cannot be read. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ADMIN_PATH, Problem } from '../../admin/index.ts';
import { atAdminApi } from '../../protocol/admin-api.ts';
import type { OwnForm } from '../unreadable.ts';
import { answerProblem, refusalOf } from './problem.ts';

/**
 * Answers what no route has: 405 with Allow (RFC 9110 §15.5.6) at a path with other methods, and 404 in this API's own form.
 * One route does for nearly all: one for each method of each path would take longer to make than all the others together.
 * @param paths each with its methods, `{name}` for a segment
 */
export function refuseUnrouted(app: FastifyInstance, paths: ReadonlyMap<string, readonly string[]>): void {
  // Those that name most come first, as they do for Fastify.
  const byPath = [...paths]
    .map(([path, methods]) => ({ path, pattern: patternOf(path), methods, open: path.split('{').length }))
    .toSorted((a, b) => a.open - b.open);
  const start = app.prefix.length + ADMIN_PATH.length;
  const refuseAt = (url: string, methods: readonly string[], allowed?: readonly string[]): void => {
    app.route({
      method: [...methods],
      url: ADMIN_PATH + url,
      // The body of a method we do not have is nobody's business.
      onRequest: (request, reply, done) => {
        const path = request.raw.url!.slice(start).split('?', 1)[0]!;
        const others = allowed ?? byPath.find(({ pattern }) => pattern.test(path))?.methods;
        done(others ? methodNotAllowed(request, reply, others) : notFound());
      },
      handler: () => undefined,
    });
  };
  for (const url of ['', '/*']) refuseAt(url, app.supportedMethods);
  // Where a path looks like another's (`/add` like `/{sub}`), the other must not get what is asked of the first.
  for (const { path, methods } of byPath) {
    const alike = byPath.filter((other) => other.path !== path && other.pattern.test(path));
    const mistaken = new Set(alike.flatMap((other) => other.methods).filter((method) => !methods.includes(method)));
    if (mistaken.size > 0) refuseAt(path.replaceAll(PARAMETER, ':$1'), [...mistaken], methods);
  }
}

const notFound = (): Problem => new Problem('not-found', 'there is nothing at this address', { check: 'address' });

function methodNotAllowed({ method }: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): Problem {
  reply.header('allow', allowed.join(', '));
  const why = { expected: allowed.join(' '), received: method };
  return new Problem('method-not-allowed', `use ${allowed.join(' or ')}`, why);
}

const PARAMETER = /\{(\w+)\}/g;
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(PARAMETER, '[^/]+')}$`);

/** The admin API's form of the errors that are answered before routing: malformed addresses, and what is not HTTP. */
export const unreadable = (deps: Parameters<typeof answerProblem>[0]): OwnForm => ({
  covers: atAdminApi(deps.config.ISSUER),
  answerUnreadableAddress(request, reply) {
    answerProblem(deps, new Problem('invalid', 'the address is malformed', { check: 'address' }), request, reply);
  },
  refuseUnreadable(status, sentence, why, request_id) {
    const problem = new Problem(status === 431 ? 'headers-too-large' : 'invalid', sentence, why);
    return { refusal: refusalOf(problem), type: 'application/problem+json', body: problem.document(request_id) };
  },
});
