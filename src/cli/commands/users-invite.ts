/** Mail to people about their accounts: verification of an address. */
import type { Leaf } from '../command.ts';
import { record } from '../output.ts';
import { findUser } from './users.ts';

export const sendVerification: Leaf = {
  summary: 'send a mail with a link by which somebody shows that their address is theirs',
  argument: '<user>',
  examples: ['users send-verification ada'],
  run: ({ api }, { argument }) =>
    api(async (to) => {
      const { sub, email } = await findUser(to, argument);
      const { sent } = await to.call('POST /users/{sub}/send-verification', { ids: { sub } });
      const json = { sub, email, sent };
      return { json, ids: [sub], text: record(json, ['sub']) };
    }),
};
