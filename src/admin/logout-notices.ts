/** Sign-outs that clients could not be told of (OpenID Connect Back-Channel Logout), given up after the last try. */
import { z } from 'zod';
import { removeNotice, retryNotice } from '../sessions/notices.ts';
import * as store from '../store/logout-notices.ts';
import { actionOf, listOf, type AdminResource, type Item } from './resource.ts';

const item = z.strictObject({
  notice_id: z.string(),
  client_id: z.string(),
  sub: z.string(),
  sid: z.string(),
  attempts: z.int(),
  last_failure: z.string().nullable(),
  created_at: z.iso.datetime(),
  dead_at: z.iso.datetime().describe('When it was given up'),
});

const itemOf = ({ next_at: _next, sector: _sector, created_at, dead_at, ...notice }: store.LogoutNotice): Item => ({
  ...notice,
  created_at: created_at.toISOString(),
  dead_at: dead_at!.toISOString(),
});

const text = z.string().max(300);

export const logoutNotices: AdminResource = {
  noun: 'logout notice',
  summary: 'sign-outs that clients could not be told of',
  path: '/logout-notices',
  id: 'notice_id',
  subject: 'sessions',
  item,
  list: listOf({
    filters: z.strictObject({ client_id: text, sub: text }),
    sorts: { notice_id: ['notice_id'] },
    descending: true,
    async page({ deps }, _ids, filters, keyset) {
      const { rows, ...rest } = await store.pageOfDead(deps.db, filters, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
  }),
  async find({ deps }, { notice_id }) {
    const notice = await store.findDead(deps.db, notice_id!);
    return notice && itemOf(notice);
  },
  remove: ({ deps, by, now }, { notice_id }) => removeNotice(deps, notice_id!, by, now),
  actions: {
    retry: actionOf({
      summary: 'Send it again',
      body: z.strictObject({}).default({}),
      answer: null,
      async run({ deps, by, now }, { notice_id }) {
        await retryNotice(deps, notice_id!, by, now);
        return undefined;
      },
    }),
  },
};
