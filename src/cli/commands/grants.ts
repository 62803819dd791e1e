/** Grants: what people have let clients do, and its end. */
import { Option } from 'commander';
import { orUndefined } from '../api.ts';
import type { Group, Leaf } from '../command.ts';
import { notFound } from '../failure.ts';
import { newestOptions, readNewest, type NewestOptions } from '../list.ts';
import { table } from '../output.ts';
import { findUser } from './users.ts';

const list: Leaf<NewestOptions & { user?: string; client?: string; state: string }> = {
  summary: 'list grants, newest first',
  options: () => [
    new Option('--user <user>', 'only those of this person: sub, username or e-mail address'),
    new Option('--client <client_id>', 'only those to this client'),
    new Option('--state <state>', 'those that live, or those that were revoked')
      .choices(['live', 'revoked'])
      .default('live'),
    ...newestOptions(),
  ],
  examples: ['grants list --user ada', 'grants list --client shop --state revoked --json'],
  run: ({ api }, { options }) =>
    api(async (to) => {
      const sub = options.user === undefined ? undefined : (await findUser(to, options.user)).sub;
      const filters = { sub, client_id: options.client, state: options.state };
      const { rows, notes } = await readNewest(to, 'GET /grants', options, filters);
      return {
        json: rows,
        ids: rows.map(({ grant_id }) => grant_id),
        text: table(
          ['GRANT', 'SUB', 'CLIENT', 'GIVEN', 'EXPIRES', 'REVOKED FOR', 'SCOPE'],
          rows.map((row) => [
            row.grant_id,
            row.sub,
            row.client_id,
            row.created_at,
            row.expires_at,
            row.revoked_for,
            row.scope,
          ]),
          'There are none.',
        ),
        notes,
      };
    }),
};

const revoke: Leaf = {
  summary: 'end a grant with all its tokens',
  argument: '<grant_id>',
  examples: ['grants revoke g20_…'],
  run: ({ api }, { argument: grant_id }) =>
    api(async (to) => {
      const present = await orUndefined(to.call('GET /grants/{grant_id}', { ids: { grant_id } }));
      if (present?.['live'] !== true) throw notFound(`there is no live grant ${grant_id}`);
      await to.call('DELETE /grants/{grant_id}', { ids: { grant_id } });
      return { json: { grant_id, revoked: true }, ids: [grant_id], text: `Grant ${grant_id} has ended.` };
    }),
};

export const grants: Group = { summary: 'what people have let clients do', commands: { list, revoke } };
