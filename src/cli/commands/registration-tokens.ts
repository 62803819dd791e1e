/** Initial access tokens (RFC 7591): with one of these, somebody may register a client. */
import { DAY } from '../../protocol/numeric-date.ts';
import { Option } from 'commander';
import { everything, orUndefined } from '../api.ts';
import type { Group, Leaf } from '../command.ts';
import { notFound } from '../failure.ts';
import { count, seconds } from '../input.ts';
import { record, table } from '../output.ts';

const create: Leaf<{ label?: string; uses: number; expiresIn: number }> = {
  summary: 'make a token with which clients can be registered at /register',
  options: () => [
    new Option('--label <text>', 'what it is for'),
    new Option('--uses <count>', 'how many clients it registers').argParser(count).default(1),
    new Option('--expires-in <time>', 'how long it can be used: seconds, or 12h, 7d')
      .argParser(seconds)
      .default(DAY, '1d'),
  ],
  explanation: 'It is shown once. The server has to run with REGISTRATION=token.',
  examples: ['registration-tokens create --label "the new team" --uses 3 --expires-in 7d'],
  run: ({ api }, { options: { label, uses, expiresIn } }) =>
    api(async (to) => {
      const made = await to.call('POST /registration-tokens', { body: { label, uses, expires_in: expiresIn } });
      return {
        json: made,
        ids: [made.initial_access_token ?? ''],
        text: record(made, ['token_id', 'initial_access_token']),
      };
    }),
};

const list: Leaf = {
  summary: 'list the tokens, without what they are',
  examples: ['registration-tokens list'],
  run: ({ api }) =>
    api(async (to) => {
      const rows = await everything(to, 'GET /registration-tokens');
      return {
        json: rows,
        ids: rows.map(({ token_id }) => token_id),
        text: table(
          ['ID', 'LABEL', 'USES LEFT', 'EXPIRES'],
          rows.map((row) => [row.token_id, row.label, row.uses_left, row.expires_at]),
          'There are no registration tokens.',
        ),
      };
    }),
};

const remove: Leaf = {
  summary: 'take a token back; clients that were registered with it stay',
  argument: '<id>',
  examples: ['registration-tokens delete 3kQd…'],
  run: ({ api }, { argument: token_id }) =>
    api(async (to) => {
      const request = { ids: { token_id }, present: true };
      if (!(await orUndefined(to.call('DELETE /registration-tokens/{token_id}', request)))) {
        throw notFound(`there is no registration token ${token_id}`);
      }
      return { json: { deleted: token_id }, ids: [token_id], text: record({ deleted: token_id }) };
    }),
};

export const registrationTokens: Group = {
  summary: 'tokens that let others register clients',
  commands: { create, list, delete: remove },
};
