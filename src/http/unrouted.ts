/** Requests to an API that no route answers: other methods, other addresses. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../admin/index.ts';

/**
 * Answers what no route has: 405 with Allow (RFC 9110 §15.5.6) at a path with other methods, and 404 in this API's own form.
 * One route does for nearly all: one for each method of each path would take longer to make than all the others together.
 * @param base where the API is
 * @param paths each with its methods, `{name}` for a segment; one may be empty, for the base itself
 */
export function refuseUnrouted(
  app: FastifyInstance,
  base: string,
  paths: ReadonlyMap<string, readonly string[]>,
): void {
  // Those that name most come first, as they do for Fastify.
  const byPath = [...paths]
    .map(([path, methods]) => ({ path, pattern: patternOf(path), methods, open: path.split('{').length }))
    .toSorted((a, b) => a.open - b.open);
  const start = app.prefix.length + base.length;
  const refuseAt = (url: string, methods: readonly string[], allowed?: readonly string[]): void => {
    app.route({
      method: [...methods],
      url: base + url,
      // The body of a method we do not have is nobody's business.
      onRequest: (request, reply, done) => {
        const path = request.raw.url!.slice(start).split('?', 1)[0]!;
        const others = allowed ?? byPath.find(({ pattern }) => pattern.test(path))?.methods;
        done(others ? methodNotAllowed(request, reply, others) : notFound());
      },
      handler: () => undefined,
    });
  };
  const atBase = paths.get('') ?? [];
  refuseAt(
    '',
    app.supportedMethods.filter((method) => !atBase.includes(method)),
  );
  refuseAt('/*', app.supportedMethods);
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
