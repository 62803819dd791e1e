/** Grants: what people have let clients do, and its end. */
import { Option } from 'commander';
import { describeGrant, GRANT_STATES } from '../admin/grants.ts';
import * as store from '../store/grants.ts';
import { revokeGrant } from '../users/access.ts';
import { BY } from './actor.ts';
import type { Group, Leaf } from './command.ts';
import { notFound } from './failure.ts';
import { newestOptions, readNewest, type NewestOptions } from './list.ts';
import { table } from './output.ts';
import { findUser } from './users.ts';

const list: Leaf<NewestOptions & { user?: string; client?: string; state: (typeof GRANT_STATES)[number] }> = {
  summary: 'list grants, newest first',
  options: () => [
    new Option('--user <user>', 'only those of this person: sub, username or e-mail address'),
    new Option('--client <client_id>', 'only those to this client'),
    new Option('--state <state>', 'those that live, or those that were revoked').choices(GRANT_STATES).default('live'),
    ...newestOptions(),
  ],
  examples: ['grants list --user ada', 'grants list --client shop --state revoked --json'],
  run: ({ open }, { options }) =>
    open(async ({ deps }) => {
      const now = deps.clock();
      const sub = options.user === undefined ? undefined : (await findUser(deps, options.user)).sub;
      const asked = { sub, client_id: options.client, state: options.state };
      const { rows, notes } = await readNewest(options, ['created_at', 'grant_id'], (keyset) =>
        store.page(deps.db, asked, now, keyset),
      );
      return {
        json: rows.map((row) => describeGrant(row, now)),
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
  run: ({ open }, { argument: grant_id }) =>
    open(async ({ deps }) => {
      if (!(await revokeGrant(deps, grant_id, {}, BY, deps.clock()))) {
        throw notFound(`there is no live grant ${grant_id}`);
      }
      return { json: { grant_id, revoked: true }, ids: [grant_id], text: `Grant ${grant_id} has ended.` };
    }),
};

export const grants: Group = { summary: 'what people have let clients do', commands: { list, revoke } };
