/** /account: who is signed in, the way to everything else, and a change to somebody else who is signed in here. */
import type { FastifyInstance } from 'fastify';
import { endpoints, pages } from '../../../protocol/endpoint.ts';
import { typedName } from '../../../protocol/names.ts';
import { textOf } from '../../../protocol/parameters.ts';
import { overviewPage } from '../../../views/account/overview.ts';
import { urlOf, type Context } from '../context.ts';
import { makeCurrent, personView } from '../signed-in.ts';
import { accountDoor } from './door.ts';

export function overview(app: FastifyInstance, context: Context): void {
  accountDoor(app, context, 'overview', {
    async show({ user, session, sessions, form }, { done }) {
      const { username, email, email_verified, sub } = user;
      const typed = typedName(user);
      const props = {
        ...form,
        person: {
          name: session.name ?? typed,
          username: typed === username ? username : undefined,
          email: email ?? undefined,
          email_verified,
        },
        sub,
        signed_in_at: session.auth_time,
        logout_url: urlOf(context, endpoints.end_session_endpoint),
        others: sessions.slice(1).map((other) => ({ ...personView(other), sub: other.sub })),
        login_url: urlOf(context, pages.login),
        done,
      };
      return (frame) => overviewPage({ frame, ...props });
    },
    async take({ sessions }, form, request, reply) {
      const chosen = sessions.find(({ sub }) => sub === textOf(form, 'account'));
      if (chosen) makeCurrent(context, request, reply, sessions, chosen);
      return { to: 'overview' };
    },
  });
}
