/** Scopes: the names that clients may ask for. The id of one is its name. */
import { z } from 'zod';
import { putScope, removeScope, scopeFields, type ScopeChanges } from '../clients/scopes.ts';
import { isBuiltInScope } from '../protocol/scope.ts';
import * as store from '../store/scopes.ts';
import { flag } from './api/list.ts';
import { requireNamed } from './api/problem.ts';
import { collectionOf } from './api/collection.ts';

const built_in = z
  .boolean()
  .describe('The server needs it: it cannot be deleted, and only its descriptions can change');
const item = z.strictObject({ ...scopeFields.required().shape, built_in });

/** Everything but the name goes back to its default when it is not named. */
const body = z.strictObject({
  ...scopeFields.shape,
  name: scopeFields.shape.name.optional(),
  // Accepted, so that what was read can be sent back.
  built_in: built_in.optional(),
});

const itemOf = (scope: store.Scope): z.output<typeof item> => ({ ...scope, built_in: isBuiltInScope(scope.name) });

const collection = collectionOf({
  noun: 'scope',
  summary: 'scopes',
  path: '/scopes',
  id: 'name',
  subject: 'scopes',
  item,
});

export const scopes = collection.with({
  list: collection.list({
    filters: z.strictObject({ for_people: flag, for_machines: flag }),
    sorts: { name: ['name'] },
    async page({ db }, _ids, filters, keyset) {
      const { rows, ...rest } = await store.page(db, filters, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
  }),
  async find({ db }, { name }) {
    const scope = await store.find(db, name);
    return scope && itemOf(scope);
  },
  async findLocked({ trx }, { name }) {
    const scope = await store.findLocked(trx, name);
    return scope && itemOf(scope);
  },
  replace: collection.replace({
    body,
    creates: true,
    writable: ({ name: _name, built_in: _built_in, ...fields }) => fields,
    async run({ trx, by, now }, { name }, { name: sent, built_in: _built_in, ...fields }) {
      requireNamed('name', sent, name);
      return itemOf(await putScope(trx, name, fields satisfies ScopeChanges, by, now));
    },
  }),
  remove: ({ trx, by, now }, { name }) => removeScope(trx, name, by, now),
});
