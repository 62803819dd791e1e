/** GET /initiate (OpenID Connect Core §4): a link that starts an application, which comes back with a request of its own. */
import type { FastifyInstance } from 'fastify';
import { initiateLoginUrl } from '../../clients/initiate-login.ts';
import { invalidRequest, OAuthError } from '../../protocol/error.ts';
import { queryOf, route, textOf } from '../request.ts';
import { clientLink } from './client-view.ts';
import type { Context } from './context.ts';
import { PageError } from './error-page.ts';

export function initiate(app: FastifyInstance, { deps }: Context): void {
  route(app, '/initiate', {
    async GET(request, reply) {
      const query = queryOf(request);
      const client_id = textOf(query, 'client_id');
      if (client_id === undefined)
        throw invalidRequest('client_id is missing', { check: 'client_id', received: 'none' });
      const client = await deps.directory.client(client_id);
      if (!client) throw invalidRequest('client_id is not known here', { check: 'client_id', received: client_id });
      const [login_hint, target_link_uri] = [textOf(query, 'login_hint'), textOf(query, 'target_link_uri')];
      try {
        return reply.redirect(initiateLoginUrl(deps.config, client, { login_hint, target_link_uri }), 302);
      } catch (error) {
        if (!(error instanceof OAuthError)) throw error;
        const advice = 'Open the application itself, and sign in there.';
        throw new PageError(error, 'This link can’t start the application', advice, clientLink(client));
      }
    },
  });
}
