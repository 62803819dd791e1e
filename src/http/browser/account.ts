/** /account: who is signed in, and a change to somebody else who is. */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../deps.ts';
import { endpoints, pages } from '../../protocol/endpoint.ts';
import { textOf } from '../../protocol/parameters.ts';
import { noteUse, type LiveSession } from '../../sessions/index.ts';
import * as users from '../../store/users.ts';
import { accountPage } from '../../views/account.ts';
import { sendPage } from '../page.ts';
import { formOf, requireForm, route } from '../request.ts';
import { browserOf, urlOf, type Context } from './context.ts';
import { formToken, requireFormToken, requireSameOrigin, type Binding } from './forgery.ts';
import { makeCurrent, personView, sessionsOf } from './signed-in.ts';

export function account(app: FastifyInstance, context: Context): void {
  const { deps }: { deps: Deps } = context;
  route(app, pages.account, {
    async GET(request, reply) {
      const now = deps.clock();
      const [session, ...others] = await sessionsOf(context, request, now);
      const user = session && (await users.find(deps.db, session.sub));
      if (!session || !user) return reply.redirect(urlOf(context, pages.login), 302);
      await noteUse(deps, session, now);
      const { username, email, email_verified, sub } = user;
      const browser = browserOf(context, request, reply);
      const props = {
        person: { name: session.name ?? username, username, email: email ?? undefined, email_verified },
        sub,
        signed_in_at: session.auth_time,
        logout_url: urlOf(context, endpoints.end_session_endpoint),
        others: others.map((other) => ({ ...personView(other), sub: other.sub })),
        action: urlOf(context, pages.account),
        form_token: formToken(deps, bindingOf(browser, session)),
        login_url: urlOf(context, pages.login),
      };
      reply.header('cross-origin-opener-policy', 'same-origin');
      return sendPage(context, reply, (frame) => accountPage({ frame, ...props }), { formAction: 'self' });
    },
    async POST(request, reply) {
      requireForm(request);
      const form = formOf(request);
      requireSameOrigin(deps, request);
      const sessions = await sessionsOf(context, request, deps.clock());
      const binding = bindingOf(browserOf(context, request, reply), sessions[0]);
      requireFormToken(deps, textOf(form, 'form_token'), binding);
      const chosen = sessions.find(({ sub }) => sub === textOf(form, 'account'));
      if (chosen) makeCurrent(context, request, reply, sessions, chosen);
      return reply.redirect(urlOf(context, pages.account), 303);
    },
  });
}

const bindingOf = (browser: string, session: LiveSession | undefined): Binding => [
  'account',
  browser,
  session?.sid ?? '',
];
