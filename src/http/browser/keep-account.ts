/** /interaction/{id}/keep-account: somebody whose account is to be erased keeps it, or goes no further. */
import type { FastifyInstance } from 'fastify';
import { cancel } from '../../authorize/interaction.ts';
import { textOf } from '../../protocol/parameters.ts';
import { keepAccount as keep } from '../../users/deletion.ts';
import { keepAccountPage } from '../../views/keep-account.ts';
import { sendPage } from '../page.ts';
import { requesterOf } from '../request.ts';
import { clientView } from './client-view.ts';
import type { Context } from './context.ts';
import { stepDoor, stepForm } from './interaction.ts';
import { personView } from './signed-in.ts';

export function keepAccount(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  stepDoor(app, context, 'keep_account', {
    async show(page, _request, reply) {
      const { step, session, client } = page.opened;
      if (step !== 'keep_account' || !session || session.erase_after === null) return false;
      const props = {
        ...stepForm(context, page, 'keep_account'),
        client: clientView(client, page.lang),
        person: personView(session),
        erase_after: session.erase_after,
      };
      sendPage(context, reply, (frame) => keepAccountPage({ frame, ...props }));
      return true;
    },
    async take({ opened }, form, request) {
      const action = textOf(form, 'action');
      // Decided again: whoever showed the password alone since keeps nothing of somebody who has more.
      if (opened.step !== 'keep_account') return false;
      if (action === 'cancel') await cancel(deps, opened);
      if (action === 'keep' && opened.session) {
        await keep(deps, opened.session.sub, requesterOf(request), deps.clock());
      }
      return false;
    },
  });
}
