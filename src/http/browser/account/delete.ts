/** /account/delete: the end of an account, and the way back while there is one. */
import type { FastifyInstance } from 'fastify';
import { requestOwnDeletion } from '../../../authorize/own-account.ts';
import { pages } from '../../../protocol/endpoint.ts';
import { textOf } from '../../../protocol/parameters.ts';
import { keepAccount } from '../../../users/deletion.ts';
import { deletedPage, deletePage } from '../../../views/account/delete.ts';
import { sendPage } from '../../page.ts';
import { requesterOf } from '../../request.ts';
import { urlOf, type Context } from '../context.ts';
import { keepSessions } from '../signed-in.ts';
import { accountDoor } from './door.ts';
import { accountUrl } from './person.ts';

export function deletion(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  accountDoor(app, context, 'delete', {
    fresh: (form) => textOf(form, 'action') === 'delete',
    async show({ user: { erase_after }, form }) {
      const data_url = accountUrl(context, 'data');
      return (frame) => deletePage({ frame, ...form, erase_after, data_url });
    },
    async take({ session, sessions, now }, form, request, reply) {
      const action = textOf(form, 'action');
      const by = requesterOf(request);
      if (action === 'keep') {
        const kept = await keepAccount(deps, session.sub, by, now);
        return { to: 'overview', ...(kept && { done: 'kept' }) };
      }
      const erase_after = action === 'delete' ? await requestOwnDeletion(deps, session, by, now) : undefined;
      if (!erase_after) return { to: 'delete' };
      const others = sessions.filter(({ sub }) => sub !== session.sub);
      keepSessions(context, request, reply, others);
      reply.header('cross-origin-opener-policy', 'same-origin');
      const login_url = urlOf(context, pages.login);
      sendPage(context, reply, (frame) => deletedPage(frame, { erase_after, login_url }), { formAction: 'self' });
      return 'answered';
    },
  });
}
