/** POST /upstream/{upstream}/backchannel-logout: where providers say that somebody signed out there. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { signOutFromUpstream } from '../../authorize/upstream-logout.ts';
import type { Deps } from '../../deps.ts';
import { pages } from '../../protocol/endpoint.ts';
import { parseParameters } from '../../protocol/parameters.ts';
import { limited } from '../rate-limit.ts';
import { formOf, requesterOf, requireForm, route } from '../request.ts';

const schema = z.object({ logout_token: z.string() });

/** OpenID Connect Back-Channel Logout 1.0 §2.5–§2.8: 200, or 400 with an error; never cached, as everything in this scope. */
export function upstreamLogout(app: FastifyInstance, deps: Deps): void {
  route(app, `${pages.upstream}/:upstream/backchannel-logout`, {
    options: limited(app, deps.config, 'TOKEN_RATE_LIMIT'),
    async POST(request, reply) {
      requireForm(request);
      const { upstream } = request.params as { upstream: string };
      const { logout_token } = parseParameters(schema, formOf(request));
      await signOutFromUpstream(deps, upstream, logout_token, requesterOf(request), deps.clock());
      return reply.code(200).send();
    },
  });
}
