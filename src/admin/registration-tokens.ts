/** Initial access tokens (RFC 7591): with one of these, somebody may register a client. */
import { z } from 'zod';
import { createInitialAccessToken, removeInitialAccessToken } from '../clients/dynamic.ts';
import { readableText } from '../protocol/plain-text.ts';
import { DAY } from '../protocol/numeric-date.ts';
import * as store from '../store/initial-access-tokens.ts';
import { collectionOf } from './api/collection.ts';

const item = z.strictObject({
  token_id: z.string(),
  label: z.string().nullable(),
  uses_left: z.int(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  initial_access_token: z.string().optional().describe('Shown once, in the answer that made it'),
});

const itemOf = ({ created_at, expires_at, ...token }: store.ShownToken): z.output<typeof item> => ({
  ...token,
  created_at: created_at.toISOString(),
  expires_at: expires_at.toISOString(),
});

const collection = collectionOf({
  noun: 'registration token',
  summary: 'tokens that let others register clients',
  path: '/registration-tokens',
  id: 'token_id',
  subject: 'clients',
  item,
});

export const registrationTokens = collection.with({
  list: collection.list({
    filters: z.strictObject({}),
    sorts: { created_at: ['created_at', 'token_id'] },
    descending: true,
    async page({ db }, _ids, _filters, keyset) {
      const { rows, ...rest } = await store.page(db, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
  }),
  async find({ db }, { token_id }) {
    const row = await store.find(db, token_id);
    return row && itemOf(row);
  },
  create: collection.create({
    body: z
      .strictObject({
        label: readableText(200).optional(),
        uses: z.int().min(1).max(100_000).default(1).describe('How many clients it registers'),
        expires_in: z
          .int()
          .min(1)
          .max(365 * DAY)
          .default(DAY)
          .describe('Seconds'),
      })
      .default({ uses: 1, expires_in: DAY }),
    once: ['initial_access_token'],
    async run({ trx, deps, by, now }, _ids, given) {
      const { initial_access_token, ...made } = await createInitialAccessToken(trx, deps, given, by, now);
      return { ...itemOf({ ...made, created_at: now }), initial_access_token };
    },
  }),
  remove: ({ trx, by, now }, { token_id }) => removeInitialAccessToken(trx, token_id, by, now),
});
