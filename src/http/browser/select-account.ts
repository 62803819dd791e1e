/** /interaction/{id}/select-account: go on as the one signed in, or as another. */
import type { FastifyInstance } from 'fastify';
import { cancel, selectAccount, switchAccount } from '../../authorize/interaction.ts';
import { selectAccountPage } from '../../views/select-account.ts';
import { formOf, requireForm, route, textOf } from '../request.ts';
import { clientView } from './client-view.ts';
import { sendPage, urlOf, type Context } from './context.ts';
import { openInteraction, requireStepForm, stepToken, toInteraction } from './interaction.ts';

/** What each button records. */
const actions: Readonly<Record<string, typeof cancel>> = {
  continue: selectAccount,
  another: switchAccount,
  cancel,
};

export function selectAccountPages(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  route(app, '/interaction/:id/select-account', {
    async GET(request, reply) {
      const page = await openInteraction(context, request, reply);
      const { id, step, session, client } = page.opened;
      if (step !== 'select_account' || !session) return toInteraction(context, reply, id, 302);
      return sendPage(context, reply, (frame) =>
        selectAccountPage({
          frame,
          action: urlOf(context, `/interaction/${id}/select-account`),
          form_token: stepToken(context, page, 'select_account'),
          client: clientView(client),
          person: { name: session.name ?? session.username, email: session.email ?? undefined },
          cancel: true,
        }),
      );
    },
    async POST(request, reply) {
      requireForm(request);
      const form = formOf(request);
      const page = await openInteraction(context, request, reply);
      requireStepForm(context, request, page, 'select_account', textOf(form, 'form_token'));
      const action = textOf(form, 'action') ?? '';
      if (Object.hasOwn(actions, action)) await actions[action]!(deps, page.opened);
      return toInteraction(context, reply, page.opened.id, 303);
    },
  });
}
