/** Providers that people may sign in with. Their secrets are written here and never read. */
import { z } from 'zod';
import { upstreamFields } from '../protocol/upstream.ts';
import * as store from '../store/upstreams.ts';
import { fieldsOf, putUpstream, removeUpstream, upstreamBody } from '../users/upstream/providers.ts';
import { collectionOf } from './api/collection.ts';
import { requireNamed } from './api/problem.ts';

/** Members that the server sets. A body may hold them, so that what was read can be sent back; they are ignored. */
const ofServer = {
  has_client_secret: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
};
const item = z.strictObject({ ...upstreamFields.required().shape, ...ofServer });
const body = z.strictObject({
  ...upstreamBody.shape,
  upstream: upstreamFields.shape.upstream.optional(),
  ...z.object(ofServer).partial().shape,
});

const itemOf = (row: store.Upstream): z.output<typeof item> => ({
  ...fieldsOf(row),
  has_client_secret: row.sealed_secret !== null,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

const collection = collectionOf({
  noun: 'upstream',
  summary: 'providers that people may sign in with',
  path: '/upstreams',
  id: 'upstream',
  subject: 'upstreams',
  item,
});

export const upstreams = collection.with({
  list: collection.list({
    filters: z.strictObject({}),
    sorts: { upstream: ['upstream'] },
    async page({ db }, _ids, _filters, keyset) {
      const { rows, ...rest } = await store.page(db, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
  }),
  async find({ db }, { upstream }) {
    const row = await store.find(db, upstream);
    return row && itemOf(row);
  },
  async findLocked({ trx }, { upstream }) {
    const row = await store.findLocked(trx, upstream);
    return row && itemOf(row);
  },
  replace: collection.replace({
    body,
    creates: true,
    writable: ({
      upstream: _upstream,
      has_client_secret: _has,
      created_at: _created,
      updated_at: _updated,
      ...fields
    }) => fields,
    async run({ trx, deps, by, now }, { upstream }, sent) {
      const { upstream: named, has_client_secret: _has, created_at: _created, updated_at: _updated, ...fields } = sent;
      requireNamed('upstream', named, upstream);
      return itemOf(await putUpstream(trx, deps, { ...fields, upstream }, by, now));
    },
  }),
  remove: ({ trx, by, now }, { upstream }) => removeUpstream(trx, upstream, by, now),
});
