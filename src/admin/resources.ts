/** Resources (RFC 8707): the APIs that tokens are for. The id of one is its URI, percent-encoded in the path. */
import { z } from 'zod';
import { putResource, removeResource, resourceFields, type ResourceChanges } from '../clients/scopes.ts';
import type { Trx } from '../store/db.ts';
import * as store from '../store/resources.ts';
import { requireNamed } from './problem.ts';
import { listOf, replaceOf, type AdminResource, type Item } from './resource.ts';

const body = z.strictObject({ ...resourceFields.shape, resource: resourceFields.shape.resource.optional() });

const itemOf = (resource: store.Resource): Item => ({ ...resource });

export const resources: AdminResource = {
  noun: 'resource',
  summary: 'resources',
  path: '/resources',
  id: 'resource',
  subject: 'resources',
  item: resourceFields.required(),
  list: listOf({
    filters: z.strictObject({ client_id: z.string().max(255) }),
    sorts: { resource: ['resource'] },
    async page({ deps }, _ids, filters, keyset) {
      const { rows, ...rest } = await store.page(deps.db, filters, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
  }),
  async find({ deps }, { resource }, lock) {
    const row = await (lock ? store.findLocked(deps.db as Trx, resource!) : store.find(deps.db, resource!));
    return row && itemOf(row);
  },
  replace: replaceOf({
    body,
    creates: true,
    writable: ({ resource: _resource, ...fields }) => fields,
    async run({ deps, by, now }, { resource }, { resource: said, ...fields }) {
      requireNamed('resource', said, resource!);
      return itemOf(await putResource(deps, resource!, fields satisfies ResourceChanges, by, now));
    },
  }),
  remove: ({ deps, by, now }, { resource }) => removeResource(deps, resource!, by, now),
};
