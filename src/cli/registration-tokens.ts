/** Initial access tokens (RFC 7591): with one of these, somebody may register a client. */
import { Option } from 'commander';
import { createInitialAccessToken, removeInitialAccessToken } from '../clients/dynamic.ts';
import * as store from '../store/initial-access-tokens.ts';
import { BY } from './actor.ts';
import type { Group, Leaf } from './command.ts';
import { notFound } from './failure.ts';
import { count, seconds } from './input.ts';
import { record, table } from './output.ts';

const DAY = 86_400;

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
  run: ({ open }, { options: { label, uses, expiresIn } }) =>
    open(async ({ deps }) => {
      const made = await createInitialAccessToken(deps, { label, uses, expires_in: expiresIn }, BY, deps.clock());
      return { json: made, ids: [made.initial_access_token], text: record(made, ['token_id', 'initial_access_token']) };
    }),
};

const list: Leaf = {
  summary: 'list the tokens, without what they are',
  examples: ['registration-tokens list'],
  run: ({ open }) =>
    open(async ({ deps }) => {
      const rows = await store.list(deps.db);
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
  run: ({ open }, { argument: token_id }) =>
    open(async ({ deps }) => {
      if (!(await removeInitialAccessToken(deps, token_id, BY, deps.clock()))) {
        throw notFound(`there is no registration token ${token_id}`);
      }
      return { json: { deleted: token_id }, ids: [token_id], text: record({ deleted: token_id }) };
    }),
};

export const registrationTokens: Group = {
  summary: 'tokens that let others register clients',
  commands: { create, list, delete: remove },
};
