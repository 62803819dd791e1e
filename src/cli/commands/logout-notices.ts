/** Back-channel logout: what clients could not be told, and trying again. */
import { orUndefined, type Item } from '../api.ts';
import type { Answer, Group, Leaf } from '../command.ts';
import { notFound } from '../failure.ts';
import { newestOptions, readNewest, type NewestOptions } from '../list.ts';
import { table } from '../output.ts';

const list: Leaf<NewestOptions> = {
  summary: 'list notices that were given up after ten tries, latest first',
  options: newestOptions,
  examples: ['logout-notices list'],
  run: ({ api }, { options }) =>
    api(async (to) => {
      const { rows, notes } = await readNewest(to, 'GET /logout-notices', options);
      return {
        json: rows,
        ids: rows.map(({ notice_id }) => notice_id),
        text: table(
          ['NOTICE', 'CLIENT', 'SUB', 'SID', 'GIVEN UP', 'LAST FAILURE'],
          rows.map((row) => [row.notice_id, row.client_id, row.sub, row.sid, row.dead_at, row.last_failure]),
          'Every client could be told so far.',
        ),
        notes,
      };
    }),
};

const retry: Leaf = {
  summary: 'tell the client again',
  argument: '<notice_id>',
  examples: ['logout-notices retry 42'],
  run: ({ api }, { argument }) =>
    api((to) => done(argument, 'retried', to.call('POST /logout-notices/{notice_id}/retry', about(argument)))),
};

const remove: Leaf = {
  summary: 'forget a notice',
  argument: '<notice_id>',
  examples: ['logout-notices delete 42'],
  run: ({ api }, { argument }) =>
    api((to) => done(argument, 'deleted', to.call('DELETE /logout-notices/{notice_id}', about(argument)))),
};

const about = (notice_id: string) => ({ ids: { notice_id }, present: true });

async function done(notice_id: string, what: string, call: Promise<Item>): Promise<Answer> {
  if (!(await orUndefined(call))) throw notFound(`there is no notice ${notice_id} that was given up`);
  return { json: { notice_id, [what]: true }, ids: [notice_id], text: `Notice ${notice_id} is ${what}.` };
}

export const logoutNotices: Group = {
  summary: 'sign-outs that clients could not be told of',
  commands: { list, retry, delete: remove },
};
