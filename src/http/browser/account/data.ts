/** /account/data: everything about somebody, as a file for them. */
import type { FastifyInstance } from 'fastify';
import { downloadData } from '../../../users/personal-data.ts';
import { dataPage } from '../../../views/account/data.ts';
import { requesterOf } from '../../request.ts';
import type { Context } from '../context.ts';
import { accountDoor } from './door.ts';

export function data(app: FastifyInstance, context: Context): void {
  accountDoor(app, context, 'data', {
    fresh: 'act',
    show:
      async ({ form }) =>
      (frame) =>
        dataPage({ frame, ...form }),
    async take({ session, now }, _form, request, reply) {
      const document = await downloadData(context.deps, session.sub, requesterOf(request), now);
      reply
        .header('content-disposition', 'attachment; filename="my-data.json"')
        .type('application/json; charset=utf-8')
        .send(JSON.stringify(document, null, 2));
      return 'answered';
    },
  });
}
