/** Sessions: who is signed in, and signing somebody out. */
import { Option } from 'commander';
import { describeSession, SESSION_STATES } from '../admin/sessions.ts';
import { endSessionOf, idleSince } from '../sessions/index.ts';
import * as store from '../store/sessions.ts';
import { BY } from './actor.ts';
import type { Group, Leaf } from './command.ts';
import { notFound } from './failure.ts';
import { newestOptions, readNewest, type NewestOptions } from './list.ts';
import { table } from './output.ts';
import { findUser } from './users.ts';

const list: Leaf<NewestOptions & { user?: string; state: (typeof SESSION_STATES)[number] }> = {
  summary: 'list sessions, newest first',
  options: () => [
    new Option('--user <user>', 'only those of this person: sub, username or e-mail address'),
    new Option('--state <state>', 'those that live, or those that were ended').choices(SESSION_STATES).default('live'),
    ...newestOptions(),
  ],
  examples: ['sessions list --user ada', 'sessions list --state ended --limit 500 --json'],
  run: ({ open }, { options }) =>
    open(async ({ deps }) => {
      const now = deps.clock();
      const sub = options.user === undefined ? undefined : (await findUser(deps, options.user)).sub;
      const asked = { sub, state: options.state };
      const { rows, notes } = await readNewest(options, ['created_at', 'sid'], (keyset) =>
        store.page(deps.db, asked, now, idleSince(deps.config, now), keyset),
      );
      return {
        json: rows.map((row) => describeSession({ deps, now }, row)),
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
  run: ({ open }, { argument: sid }) =>
    open(async ({ deps }) => {
      if (!(await endSessionOf(deps, sid, {}, BY, deps.clock()))) throw notFound(`there is no live session ${sid}`);
      return { json: { sid, revoked: true }, ids: [sid], text: `Session ${sid} has ended.` };
    }),
};

export const sessions: Group = { summary: 'who is signed in', commands: { list, revoke } };
