/** /account: who is signed in. */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../deps.ts';
import * as users from '../../store/users.ts';
import { accountPage } from '../../views/account.ts';
import { route } from '../request.ts';
import { sendPage, sessionOf, urlOf, type Context } from './context.ts';

export function account(app: FastifyInstance, context: Context): void {
  const { deps }: { deps: Deps } = context;
  route(app, '/account', {
    async GET(request, reply) {
      const session = await sessionOf(context, request, deps.clock());
      const user = session && (await users.find(deps.db, session.sub));
      if (!session || !user) return reply.redirect(urlOf(context, '/login'), 302);
      const { username, email, email_verified, sub } = user;
      const person = { name: session.name ?? username, username, email: email ?? undefined, email_verified };
      const signed_in_at = session.auth_time;
      reply.header('cross-origin-opener-policy', 'same-origin');
      return sendPage(
        context,
        reply,
        (frame) => accountPage({ frame, person, sub, signed_in_at, logout_url: urlOf(context, '/logout') }),
        { formAction: 'self' },
      );
    },
  });
}
