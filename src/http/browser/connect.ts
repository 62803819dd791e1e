/** /interaction/{id}/connect: whether who came back from a provider is to sign in as the person who proved this account. */
import type { FastifyInstance } from 'fastify';
import { decideConnection, waitingIn } from '../../authorize/upstream-connections.ts';
import { textOf } from '../../protocol/parameters.ts';
import { connectPage } from '../../views/upstream.ts';
import { sendPage } from '../page.ts';
import { requesterOf } from '../request.ts';
import { clientView } from './client-view.ts';
import type { Context } from './context.ts';
import { stepDoor, stepForm } from './interaction.ts';

export function connect(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  stepDoor(app, context, 'connect', {
    async show(page, request, reply) {
      const { opened } = page;
      if (opened.step !== 'connect') return false;
      const waiting = await waitingIn(deps, opened);
      if (!waiting) {
        // Too late, or the provider is offered no more: nothing is left to ask.
        await decideConnection(deps, opened, false, requesterOf(request));
        return false;
      }
      const { row, who } = waiting;
      sendPage(context, reply, (frame) =>
        connectPage({
          frame,
          ...stepForm(context, page, 'connect'),
          client: clientView(opened.client, frame.lang),
          label: row.label,
          name: who.name,
        }),
      );
      return true;
    },
    async take({ opened }, form, request) {
      if (opened.step !== 'connect') return false;
      await decideConnection(deps, opened, textOf(form, 'action') === 'connect', requesterOf(request));
      return false;
    },
  });
}
