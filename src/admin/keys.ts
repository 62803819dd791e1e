/** The server's own keys: their public side, and what operators do with them. Private halves never come here. */
import { z } from 'zod';
import { keyStates, makeKey, retireKey, rotateKey, type MadeKey } from '../keys/index.ts';
import { KEY_ALGS } from '../protocol/key-alg.ts';
import type { Db } from '../store/postgres/db.ts';
import * as store from '../store/keys.ts';
import { pageOf } from './api/list.ts';
import { Problem } from './api/problem.ts';
import { collectionOf, type Item } from './api/collection.ts';

const alg = z.enum(KEY_ALGS);
const state = z.enum(['next', 'active', 'retired']);
const use = z.enum(['sig', 'enc']);

const item = z.strictObject({
  kid: z.string(),
  use: use.describe('sig: tokens are signed with it. enc: clients encrypt request objects with it'),
  alg,
  state: state.describe(
    'next: published, used later. active: in use. retired: good while what was made with it may live',
  ),
  published: z.boolean(),
  created_at: z.iso.datetime(),
  activates_at: z.iso.datetime(),
  ends_at: z.iso.datetime().nullable(),
});

async function all(db: Db, now: Date): Promise<Array<z.output<typeof item>>> {
  const states = keyStates(await store.all(db), now);
  return states.map(({ created_at, activates_at, ends_at, ...key }) => ({
    ...key,
    created_at: created_at.toISOString(),
    activates_at: activates_at.toISOString(),
    ends_at: ends_at?.toISOString() ?? null,
  }));
}

const find = async (db: Db, kid: string, now: Date): Promise<z.output<typeof item> | undefined> =>
  (await all(db, now)).find((key) => key['kid'] === kid);

const collection = collectionOf({
  noun: 'key',
  summary: 'the keys of this server',
  path: '/keys',
  id: 'kid',
  subject: 'keys',
  item,
});

export const keys = collection.with({
  list: collection.list({
    filters: z.strictObject({ alg, state, use }),
    sorts: { activates_at: ['activates_at', 'kid'] },
    async page({ db, now }, _ids, filters, keyset) {
      const named = Object.entries(filters);
      // There are a handful of them at any time.
      const rows = (await all(db, now)).filter((key: Item) => named.every(([name, value]) => key[name] === value));
      return pageOf(rows, keyset);
    },
  }),
  find: ({ db, now }, { kid }) => find(db, kid, now),
  actions: {
    rotate: collection.actionOnAll({
      summary: 'Make a new key; the present one is used until everybody can have the new one',
      body: z
        .strictObject({
          alg: alg.default('RS256'),
          immediately: z.boolean().default(false).describe('Use it at once, although others may not know it yet'),
        })
        .default({ alg: 'RS256', immediately: false }),
      answer: item,
      prepare: ({ deps, now }, _ids, given) => makeKey(deps.secrets, given.alg, now),
      async run({ trx, by, now }, _ids, { immediately }, made: MadeKey) {
        const { kid } = await rotateKey(trx, made, by, now, { immediately });
        return find(trx, kid, now);
      },
    }),
    retire: collection.action({
      summary: 'Take a key out of use at once: everything it signed is refused, nothing encrypted to it is opened',
      body: z.strictObject({}).default({}),
      answer: z.strictObject({
        kid: z.string(),
        alg,
        replacement: z
          .string()
          .nullable()
          .describe('The key used from now on; null when the retired one was not in use'),
      }),
      async prepare({ db, deps, now }, { kid }) {
        const present = await find(db, kid, now);
        return present && makeKey(deps.secrets, alg.parse(present['alg']), now);
      },
      async run({ trx, by, now }, { kid }, _body, spare: MadeKey | undefined) {
        const done = spare && (await retireKey(trx, kid, spare, by, now));
        if (!done) throw new Problem('conflict', 'the key was retired before');
        return { ...done };
      },
    }),
  },
});
