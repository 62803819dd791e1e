/** Sign-outs that clients could not be told of (OpenID Connect Back-Channel Logout), given up after the last try. */
import { z } from 'zod';
import { removeNotice, retryNotice } from '../sessions/notices.ts';
import * as store from '../store/logout-notices.ts';
import { collectionOf } from './api/collection.ts';

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

const itemOf = ({
  next_at: _next,
  sector: _sector,
  created_at,
  dead_at,
  ...notice
}: store.LogoutNotice): z.output<typeof item> => ({
  ...notice,
  created_at: created_at.toISOString(),
  dead_at: dead_at!.toISOString(),
});

const text = z.string().max(300);

const collection = collectionOf({
  noun: 'logout notice',
  summary: 'sign-outs that clients could not be told of',
  path: '/logout-notices',
  id: 'notice_id',
  subject: 'sessions',
  item,
});

export const logoutNotices = collection.with({
  list: collection.list({
    filters: z.strictObject({ client_id: text, sub: text }),
    sorts: { notice_id: ['notice_id'] },
    descending: true,
    async page({ db }, _ids, filters, keyset) {
      const { rows, ...rest } = await store.pageOfDead(db, filters, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
  }),
  async find({ db }, { notice_id }) {
    const notice = await store.findDead(db, notice_id);
    return notice && itemOf(notice);
  },
  remove: ({ trx, by, now }, { notice_id }) => removeNotice(trx, notice_id, by, now),
  actions: {
    retry: collection.action({
      summary: 'Send it again',
      body: z.strictObject({}).default({}),
      answer: null,
      async run({ trx, by, now }, { notice_id }) {
        await retryNotice(trx, notice_id, by, now);
        return undefined;
      },
    }),
  },
});
