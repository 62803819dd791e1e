/** Back-channel logout: what clients could not be told. */
import { Option } from 'commander';
import * as store from '../store/logout-notices.ts';
import type { Group, Leaf } from './command.ts';
import { count } from './input.ts';
import { table } from './output.ts';

const list: Leaf<{ limit: number }> = {
  summary: 'list notices that were given up after ten tries, latest first',
  options: () => [new Option('--limit <count>', 'at most so many').argParser(count).default(50)],
  examples: ['logout-notices list'],
  run: ({ open }, { options: { limit } }) =>
    open(async ({ deps }) => {
      const rows = await store.dead(deps.db, limit);
      return {
        json: rows,
        ids: rows.map(({ notice_id }) => notice_id),
        text: table(
          ['CLIENT', 'SUB', 'SID', 'GIVEN UP', 'LAST FAILURE'],
          rows.map((row) => [row.client_id, row.sub, row.sid, row.dead_at, row.last_failure]),
          'Every client could be told so far.',
        ),
      };
    }),
};

export const logoutNotices: Group = { summary: 'sign-outs that clients could not be told of', commands: { list } };
