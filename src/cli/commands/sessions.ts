/** Sessions: who is signed in, and signing somebody out. */
import { Option } from 'commander';
import { orUndefined } from '../api.ts';
import type { Group, Leaf } from '../command.ts';
import { notFound } from '../failure.ts';
import { newestOptions, readNewest, type NewestOptions } from '../list.ts';
import { table } from '../output.ts';
import { findUser } from './users.ts';

const list: Leaf<NewestOptions & { user?: string; state: string }> = {
  summary: 'list sessions, newest first',
  options: () => [
    new Option('--user <user>', 'only those of this person: sub, username or e-mail address'),
    new Option('--state <state>', 'those that live, or those that were ended')
      .choices(['live', 'ended'])
      .default('live'),
    ...newestOptions(),
  ],
  examples: ['sessions list --user ada', 'sessions list --state ended --limit 500 --json'],
  run: ({ api }, { options }) =>
    api(async (to) => {
      const sub = options.user === undefined ? undefined : (await findUser(to, options.user)).sub;
      const { rows, notes } = await readNewest(to, 'GET /sessions', options, { sub, state: options.state });
      return {
        json: rows,
        ids: rows.map(({ sid }) => sid),
        text: table(
          ['SID', 'SUB', 'KIND', 'SIGNED IN', 'LAST SEEN', 'EXPIRES', 'ENDED'],
          rows.map((row) => [row.sid, row.sub, row.kind, row.auth_time, row.seen_at, row.expires_at, row.ended_at]),
          'There are none.',
        ),
        notes,
      };
    }),
};

const revoke: Leaf = {
  summary:
    'end a session and what was granted under it, but for grants with offline_access; tell clients that ask for it',
  argument: '<sid>',
  examples: ['sessions revoke 3kQd…'],
  run: ({ api }, { argument: sid }) =>
    api(async (to) => {
      const present = await orUndefined(to.call('GET /sessions/{sid}', { ids: { sid } }));
      if (present?.['live'] !== true) throw notFound(`there is no live session ${sid}`);
      await to.call('DELETE /sessions/{sid}', { ids: { sid } });
      return { json: { sid, revoked: true }, ids: [sid], text: `Session ${sid} has ended.` };
    }),
};

export const sessions: Group = { summary: 'who is signed in', commands: { list, revoke } };
