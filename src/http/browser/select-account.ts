/** /interaction/{id}/select-account: go on as one of those signed in, or as somebody else. */
import type { FastifyInstance } from 'fastify';
import { cancel, selectAccount as choose, switchAccount } from '../../authorize/interaction.ts';
import { textOf } from '../../protocol/parameters.ts';
import { selectAccountPage } from '../../views/select-account.ts';
import { sendPage } from '../page.ts';
import { clientView } from './client-view.ts';
import type { Context } from './context.ts';
import { stepDoor, stepForm } from './interaction.ts';
import { makeCurrent, personView } from './signed-in.ts';

/** What the buttons record that choose none of those signed in. */
const actions: Readonly<Record<string, typeof cancel>> = { another: switchAccount, cancel };

export function selectAccount(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  stepDoor(app, context, 'select_account', {
    async show(page, _request, reply) {
      const { step, candidates, client } = page.opened;
      // Also for who is shown as somebody else, and is signed in as well.
      if (step !== 'select_account' && candidates.length < 2) return false;
      sendPage(context, reply, (frame) =>
        selectAccountPage({
          frame,
          ...stepForm(context, page, 'select_account'),
          client: clientView(client, frame.lang),
          people: candidates.map((session) => ({ ...personView(session), sub: session.sub })),
          cancel: true,
        }),
      );
      return true;
    },
    async take({ opened, sessions }, form, request, reply) {
      const action = textOf(form, 'action') ?? '';
      if (Object.hasOwn(actions, action)) await actions[action]!(deps, opened);
      else {
        const chosen = await choose(deps, opened, textOf(form, 'account'));
        if (chosen) makeCurrent(context, request, reply, sessions, chosen);
      }
      return false;
    },
  });
}
