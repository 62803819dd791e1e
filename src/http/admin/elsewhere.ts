/** What is asked of the admin API that it does not have: other methods, other addresses, addresses that cannot be read. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ADMIN_PATH, Problem } from '../../admin/index.ts';
import type { Deps } from '../../deps.ts';
import { answerProblem } from './problem.ts';

/** Answers the other methods of a path 405, with Allow (RFC 9110 §15.5.6). */
export function refuseOthers(app: FastifyInstance, url: string, allowed: readonly string[]): void {
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url,
    // The body of a method we do not have is nobody's business.
    onRequest: (request, reply, done) => {
      reply.header('allow', allowed.join(', '));
      const why = { expected: allowed.join(' '), received: request.method };
      done(new Problem('method-not-allowed', `use ${allowed.join(' or ')}`, why));
    },
    handler: () => undefined,
  });
}

/** Answers every other address below the API in its own form of error. */
export function nothingElse(app: FastifyInstance): void {
  for (const url of [ADMIN_PATH, `${ADMIN_PATH}/*`]) {
    app.route({
      method: app.supportedMethods,
      url,
      onRequest: (_request, _reply, done) =>
        done(new Problem('not-found', 'there is nothing at this address', { check: 'address' })),
      handler: () => undefined,
    });
  }
}

/** Is an address that cannot be read meant for this API? */
export function isBelow({ config }: Pick<Deps, 'config'>, { raw }: Pick<FastifyRequest, 'raw'>): boolean {
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
