/** What is asked of the admin API that it does not have: other methods, other addresses, addresses that cannot be read. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ADMIN_PATH, Problem } from '../../admin/index.ts';
import type { Deps } from '../../deps.ts';
import { answerProblem } from './problem.ts';

/**
 * Answers what no route has: 405 with Allow (RFC 9110 §15.5.6) at a path with other methods, and 404 in this API's own form.
 * One route does for nearly all: one for each method of each path would take longer to make than all the others together.
 * @param paths each with its methods, `{name}` for a segment
 */
export function nothingElse(app: FastifyInstance, paths: ReadonlyMap<string, readonly string[]>): void {
  // Those that name most come first, as they do for Fastify.
  const known = [...paths]
    .map(([path, methods]) => ({ path, pattern: patternOf(path), methods, open: path.split('{').length }))
    .toSorted((a, b) => a.open - b.open);
  const start = app.prefix.length + ADMIN_PATH.length;
  const answerElse = (url: string, methods: readonly string[], allowed?: readonly string[]): void => {
    app.route({
      method: [...methods],
      url: ADMIN_PATH + url,
      // The body of a method we do not have is nobody's business.
      onRequest: (request, reply, done) => {
        const asked = request.raw.url!.slice(start).split('?', 1)[0]!;
        const others = allowed ?? known.find(({ pattern }) => pattern.test(asked))?.methods;
        done(others ? otherMethod(request, reply, others) : nothingThere());
      },
      handler: () => undefined,
    });
  };
  for (const url of ['', '/*']) answerElse(url, app.supportedMethods);
  // Where a path looks like another's (`/add` like `/{sub}`), the other must not get what is asked of the first.
  for (const { path, methods } of known) {
    const alike = known.filter((other) => other.path !== path && other.pattern.test(path));
    const mistaken = new Set(alike.flatMap((other) => other.methods).filter((method) => !methods.includes(method)));
    if (mistaken.size > 0) answerElse(path.replaceAll(PARAMETER, ':$1'), [...mistaken], methods);
  }
}

const nothingThere = (): Problem => new Problem('not-found', 'there is nothing at this address', { check: 'address' });

function otherMethod({ method }: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): Problem {
  reply.header('allow', allowed.join(', '));
  const why = { expected: allowed.join(' '), received: method };
  return new Problem('method-not-allowed', `use ${allowed.join(' or ')}`, why);
}

const PARAMETER = /\{(\w+)\}/g;
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(PARAMETER, '[^/]+')}$`);

/** Is an address that cannot be read meant for this API? */
export function isBelow({ config }: Pick<Deps, 'config'>, { raw }: { raw: { url?: string | undefined } }): boolean {
  const base = new URL(`${config.ISSUER}${ADMIN_PATH}`).pathname;
  return raw.url === base || raw.url!.startsWith(`${base}/`);
}

/** The answer to one. */
export const answerUnreadableAddress = (
  deps: Parameters<typeof answerProblem>[0],
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply =>
  answerProblem(deps, new Problem('invalid', 'the address is malformed', { check: 'address' }), request, reply);
