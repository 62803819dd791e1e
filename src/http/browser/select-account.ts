/** /interaction/{id}/select-account: go on as one of those signed in, or as somebody else. */
import type { FastifyInstance } from 'fastify';
import { cancel, selectAccount, switchAccount } from '../../authorize/interaction.ts';
import { selectAccountPage } from '../../views/select-account.ts';
import { formOf, requireForm, route, textOf } from '../request.ts';
import { clientView } from './client-view.ts';
import { sendPage, urlOf, type Context } from './context.ts';
import { openInteraction, requireStepForm, stepToken, toInteraction } from './interaction.ts';
import { makeCurrent, personView } from './signed-in.ts';

/** What the buttons record that choose none of those signed in. */
const actions: Readonly<Record<string, typeof cancel>> = { another: switchAccount, cancel };

export function selectAccountPages(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  route(app, '/interaction/:id/select-account', {
    async GET(request, reply) {
      const page = await openInteraction(context, request, reply);
      const { id, step, candidates, client } = page.opened;
      // Also for who is shown as somebody else, and is signed in as well.
      if (step !== 'select_account' && candidates.length < 2) return toInteraction(context, reply, id, 302);
      return sendPage(context, reply, (frame) =>
        selectAccountPage({
          frame,
          action: urlOf(context, `/interaction/${id}/select-account`),
          form_token: stepToken(context, page, 'select_account'),
          client: clientView(client),
          people: candidates.map((session) => ({ ...personView(session), sub: session.sub })),
          cancel: true,
        }),
      );
    },
    async POST(request, reply) {
      requireForm(request);
      const form = formOf(request);
      const page = await openInteraction(context, request, reply);
      requireStepForm(context, request, page, 'select_account', textOf(form, 'form_token'));
      const { opened, sessions } = page;
      const action = textOf(form, 'action') ?? '';
      if (Object.hasOwn(actions, action)) await actions[action]!(deps, opened);
      else {
        const chosen = await selectAccount(deps, opened, textOf(form, 'account'));
        if (chosen) makeCurrent(context, request, reply, sessions, chosen);
      }
      return toInteraction(context, reply, opened.id, 303);
    },
  });
}
