/** Resources (RFC 8707): the APIs that tokens are for. The id of one is its URI, percent-encoded in the path. */
import { z } from 'zod';
import { putResource, removeResource, resourceFields, type ResourceChanges } from '../clients/scopes.ts';
import * as store from '../store/resources.ts';
import { requireNamed } from './api/problem.ts';
import { collectionOf } from './api/collection.ts';

const body = z.strictObject({ ...resourceFields.shape, resource: resourceFields.shape.resource.optional() });

const itemOf = (resource: store.Resource) => ({ ...resource });

const collection = collectionOf({
  noun: 'resource',
  summary: 'resources',
  path: '/resources',
  id: 'resource',
  subject: 'resources',
  item: resourceFields.required(),
});

export const resources = collection.with({
  list: collection.list({
    filters: z.strictObject({ client_id: z.string().max(255) }),
    sorts: { resource: ['resource'] },
    async page({ db }, _ids, filters, keyset) {
      const { rows, ...rest } = await store.page(db, filters, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
  }),
  async find({ db }, { resource }) {
    const row = await store.find(db, resource);
    return row && itemOf(row);
  },
  async findLocked({ trx }, { resource }) {
    const row = await store.findLocked(trx, resource);
    return row && itemOf(row);
  },
  replace: collection.replace({
    body,
    creates: true,
    writable: ({ resource: _resource, ...fields }) => fields,
    async run({ trx, deps, by, now }, { resource }, { resource: sent, ...fields }) {
      requireNamed('resource', sent, resource);
      return itemOf(await putResource(trx, deps, resource, fields satisfies ResourceChanges, by, now));
    },
  }),
  remove: ({ trx, by, now }, { resource }) => removeResource(trx, resource, by, now),
});
