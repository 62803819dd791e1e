/** Scopes: the names that clients may ask for. The id of one is its name. */
import { z } from 'zod';
import { putScope, removeScope, scopeFields, type ScopeChanges } from '../clients/scopes.ts';
import { isBuiltInScope } from '../protocol/scope.ts';
import type { Trx } from '../store/db.ts';
import * as store from '../store/scopes.ts';
import { flag } from './list.ts';
import { requireNamed } from './problem.ts';
import { listOf, replaceOf, type AdminResource, type Item } from './resource.ts';

const built_in = z.boolean().describe('The server needs it: it cannot be deleted, and only its description can change');
const item = z.strictObject({ ...scopeFields.required().shape, built_in });

/** Everything but the name goes back to its default when it is not named. */
const body = z.strictObject({
  ...scopeFields.shape,
  name: scopeFields.shape.name.optional(),
  // Accepted, so that what was read can be sent back.
  built_in: built_in.optional(),
});

const itemOf = (scope: store.Scope): Item => ({ ...scope, built_in: isBuiltInScope(scope.name) });

export const scopes: AdminResource = {
  noun: 'scope',
  summary: 'scopes',
  path: '/scopes',
  id: 'name',
  subject: 'scopes',
  item,
  list: listOf({
    filters: z.strictObject({ for_people: flag, for_machines: flag }),
    sorts: { name: ['name'] },
    async page({ deps }, _ids, filters, keyset) {
      const { rows, ...rest } = await store.page(deps.db, filters, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
  }),
  async find({ deps }, { name }, lock) {
    const scope = await (lock ? store.findLocked(deps.db as Trx, name!) : store.find(deps.db, name!));
    return scope && itemOf(scope);
  },
  replace: replaceOf({
    body,
    creates: true,
    writable: ({ name: _name, built_in: _built_in, ...fields }) => fields,
    async run({ deps, by, now }, { name }, { name: said, built_in: _built_in, ...fields }) {
      requireNamed('name', said, name!);
      return itemOf(await putScope(deps, name!, fields satisfies ScopeChanges, by, now));
    },
  }),
  remove: ({ deps, by, now }, { name }) => removeScope(deps, name!, by, now),
};
