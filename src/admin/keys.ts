/** The server's own keys: their public side, and what operators do with them. Private halves never come here. */
import { z } from 'zod';
import { keyStates, makeKey, retireKey, rotateKey, type MadeKey } from '../keys/index.ts';
import { KEY_ALGS } from '../protocol/key-alg.ts';
import * as store from '../store/keys.ts';
import { pageOf } from './list.ts';
import { Problem } from './problem.ts';
import { actionOf, listOf, type AdminResource, type Call, type Item } from './resource.ts';

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

async function all({ deps, now }: Call): Promise<Item[]> {
  const states = keyStates(await store.all(deps.db), now);
  return states.map(({ created_at, activates_at, ends_at, ...key }) => ({
    ...key,
    created_at: created_at.toISOString(),
    activates_at: activates_at.toISOString(),
    ends_at: ends_at?.toISOString() ?? null,
  }));
}

const find = async (call: Call, kid: string): Promise<Item | undefined> =>
  (await all(call)).find((key) => key['kid'] === kid);

export const keys: AdminResource = {
  noun: 'key',
  summary: 'the keys of this server',
  path: '/keys',
  id: 'kid',
  subject: 'keys',
  item,
  list: listOf({
    filters: z.strictObject({ alg, state, use }),
    sorts: { activates_at: ['activates_at', 'kid'] },
    async page(call, _ids, filters, keyset) {
      const named = Object.entries(filters);
      // There are a handful of them at any time.
      const rows = (await all(call)).filter((key) => named.every(([name, value]) => key[name] === value));
      return pageOf(rows, keyset);
    },
  }),
  find: (call, { kid }) => find(call, kid!),
  actions: {
    rotate: actionOf({
      summary: 'Make a new key; the present one is used until everybody can have the new one',
      collection: true,
      body: z
        .strictObject({
          alg: alg.default('RS256'),
          immediately: z.boolean().default(false).describe('Use it at once, although others may not know it yet'),
        })
        .default({ alg: 'RS256', immediately: false }),
      answer: item,
      prepare: ({ deps, now }, _ids, given) => makeKey(deps.secrets, given.alg, now),
      async run(call, _ids, given, made: MadeKey) {
        const { deps, by, now } = call;
        const { immediately } = given;
        const { kid } = await rotateKey(deps.db, deps.secrets, given.alg, by, now, { immediately, made });
        return find(call, kid);
      },
    }),
    retire: actionOf({
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
      async prepare(call, { kid }) {
        const present = await find(call, kid!);
        return present && makeKey(call.deps.secrets, alg.parse(present['alg']), call.now);
      },
      async run({ deps, by, now }, { kid }, _body, made: MadeKey | undefined) {
        const done = await retireKey(deps.db, deps.secrets, kid!, by, now, { made });
        if (!done) throw new Problem('conflict', 'the key was retired before');
        return { ...done };
      },
    }),
  },
};
