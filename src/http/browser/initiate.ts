/** GET /initiate (OpenID Connect Core §4): a link that starts an application, which comes back with a request of its own. */
import type { FastifyInstance } from 'fastify';
import { isApproved } from '../../authorize/unapproved.ts';
import { initiateLoginUrl } from '../../clients/initiate-login.ts';
import { pages } from '../../protocol/endpoint.ts';
import { accessDenied, invalidRequest, OAuthError } from '../../protocol/error.ts';
import { textOf } from '../../protocol/parameters.ts';
import { strangeName } from '../../protocol/redaction.ts';
import type { Client } from '../../store/clients.ts';
import { languageOf } from '../language.ts';
import { queryOf, route } from '../request.ts';
import { clientLink, onwardLink, placeOf } from './client-view.ts';
import type { Context } from './context.ts';
import { PageError, words } from './error-page.ts';
import { sessionsOf } from './signed-in.ts';

export function initiate(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  route(app, pages.initiate, {
    async GET(request, reply) {
      const query = queryOf(request);
      const client_id = textOf(query, 'client_id');
      if (client_id === undefined)
        throw invalidRequest('client_id is missing', { check: 'client_id', received: 'none' });
      const client = await deps.directory.client(client_id);
      if (!client)
        throw invalidRequest('client_id is not known here', { check: 'client_id', received: strangeName(client_id) });
      const [login_hint, target_link_uri] = [textOf(query, 'login_hint'), textOf(query, 'target_link_uri')];
      try {
        const url = initiateLoginUrl(deps.config, client, { login_hint, target_link_uri });
        const sessions = await sessionsOf(context, request, deps.clock());
        if (await isApproved(deps, client, sessions)) return reply.redirect(url, 302);
        throw unapprovedPage(client, url);
      } catch (error) {
        if (!(error instanceof OAuthError)) throw error;
        const say = words((t, advice) => ({ heading: t.cannot_start, advice: advice.cannot_start }));
        throw new PageError(error, say, clientLink(client, languageOf(request)));
      }
    },
  });
}

/** RFC 9700 §4.11.2: a link to this server leads nobody, unasked, to an application that they never let have anything. */
function unapprovedPage({ client_id }: Client, url: string): PageError {
  const detail = { check: 'initiate_login', expected: 'a client that somebody here has used', client_id } as const;
  const refusal = accessDenied('nobody who is signed in here has ever used this application', detail);
  const place = placeOf(url);
  return new PageError(
    refusal,
    words((t, advice) => ({ heading: t.leaving, advice: advice.leaving({ place }) })),
    onwardLink(url),
  );
}
