/** /logout: asks, unless an application proves by id_token_hint that it knows the person; /logout/done says it is done. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Parameters } from '../../protocol/parameters.ts';
import { endSession, type LiveSession } from '../../sessions/index.ts';
import { readLogoutRequest, type LogoutRequest } from '../../sessions/logout.ts';
import { logoutPage } from '../../views/logout.ts';
import { signedOutPage } from '../../views/signed-out.ts';
import { formOf, queryOf, requesterOf, requireForm, route, textOf } from '../request.ts';
import { clientView } from './client-view.ts';
import { browserOf, sendPage, sessionOf, urlOf, type Context } from './context.ts';
import { formToken, requireFormToken, requireSameOrigin, type Binding } from './forgery.ts';

/** The parameters that go through the confirmation page and are checked again behind it. */
const CARRIED = ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state'] as const;

export function logout(app: FastifyInstance, context: Context): void {
  const { deps } = context;

  const signOut = async (
    request: FastifyRequest,
    reply: FastifyReply,
    session: LiveSession | undefined,
    { return_to }: LogoutRequest,
  ): Promise<FastifyReply> => {
    if (session) await endSession(deps, session, requesterOf(request), deps.clock());
    context.cookies.clear(reply, 'session');
    const status = request.method === 'POST' ? 303 : 302;
    return reply
      .code(status)
      .header('location', return_to ?? urlOf(context, '/logout/done'))
      .send();
  };

  route(app, '/logout', {
    async GET(request, reply) {
      const now = deps.clock();
      const parameters = queryOf(request);
      const session = await sessionOf(context, request, now);
      const asked = await readLogoutRequest(deps, parameters, session, now);
      if (!session || asked.recognised) return signOut(request, reply, session, asked);
      const browser = browserOf(context, request, reply);
      return sendPage(context, reply, (frame) =>
        logoutPage({
          frame,
          action: urlOf(context, '/logout'),
          form_token: formToken(deps, bindingOf(browser, session)),
          person: { name: session.name ?? session.username, email: session.email ?? undefined },
          client: asked.client && clientView(asked.client),
          hidden: carried(parameters),
        }),
      );
    },
    async POST(request, reply) {
      requireForm(request);
      const parameters = formOf(request);
      const form_token = textOf(parameters, 'form_token');
      if (form_token === undefined) {
        // Another site's form, and so without our cookies: a GET of ours decides.
        const query = new URLSearchParams(carried(parameters));
        return reply.redirect(`${urlOf(context, '/logout')}?${query.toString()}`, 303);
      }
      const now = deps.clock();
      requireSameOrigin(deps, request);
      const session = await sessionOf(context, request, now);
      requireFormToken(deps, form_token, bindingOf(browserOf(context, request, reply), session));
      if (textOf(parameters, 'action') !== 'logout') return reply.redirect(urlOf(context, '/account'), 303);
      return signOut(request, reply, session, await readLogoutRequest(deps, parameters, session, now));
    },
  });

  route(app, '/logout/done', {
    GET(_request, reply) {
      // ASVS 14.3.1: what pages of ours left in the browser goes too.
      reply.header('clear-site-data', '"cache", "storage"');
      return sendPage(context, reply, (frame) => signedOutPage({ frame }));
    },
  });
}

const bindingOf = (browser: string, session: LiveSession | undefined): Binding => [
  'logout',
  browser,
  session?.sid ?? '',
];

function carried(parameters: Parameters): Record<string, string> {
  const hidden: Record<string, string> = {};
  for (const name of CARRIED) {
    const value = textOf(parameters, name);
    if (value !== undefined) hidden[name] = value;
  }
  return hidden;
}
