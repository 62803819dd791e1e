/** Mail to people about their accounts: invitations, and the verification of an address. */
import { Option } from 'commander';
import type { Leaf } from '../command.ts';
import { Failure, usage } from '../failure.ts';
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

export const invite: Leaf<{ email?: string; username?: string; name?: string; groups?: string; link?: boolean }> = {
  summary: 'make an account for somebody, or find it, and send them a link to choose their first password',
  options: () => [
    new Option('--email <address>', 'whom to invite').makeOptionMandatory(),
    new Option('--username <name>', 'what a new account is called, instead of what stands before the @'),
    new Option('--name <name>', 'the name of a new account'),
    new Option('--groups <names>', 'groups that they are put into, separated by commas'),
    new Option('--link', 'show the link, once, to hand it on'),
  ],
  explanation:
    'The link works once, for 7 days; inviting somebody again ends the one before. Without mail give --link.',
  examples: [
    'users invite --email ada@example.com --name "Ada Lovelace" --groups staff,editors',
    'users invite --email ada@example.com --link',
  ],
  async run({ api }, { options: { email = '', username, name, groups, link = false } }) {
    if (!email.includes('@')) throw usage('--email is no address');
    return api(async (to) => {
      const wanted = groups?.split(',').flatMap((group) => (group.trim() === '' ? [] : [group.trim()]));
      const made = await to.call('POST /invitations', { body: { email, username, name, groups: wanted, link } });
      if (!made.invited) throw new Failure('conflict', `${email} can sign in already`);
      const notes = made.url === undefined ? [] : ['The link is shown this once: only its hash is kept.'];
      return { json: made, ids: [made.url ?? made.sub], text: record(made, ['sub']), notes };
    });
  },
};
