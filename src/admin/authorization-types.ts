/** Types of authorization details (RFC 9396). The id of one is its name, percent-encoded in the path. */
import { z } from 'zod';
import {
  authorizationTypeFields,
  putAuthorizationType,
  removeAuthorizationType,
  typeOf,
  type AuthorizationTypeChanges,
} from '../clients/authorization-types.ts';
import * as store from '../store/authorization-types.ts';
import { requireNamed } from './api/problem.ts';
import { collectionOf } from './api/collection.ts';

const fieldsOf = authorizationTypeFields.shape;
const body = z.strictObject({ ...fieldsOf, name: fieldsOf.name.optional() });

const collection = collectionOf({
  noun: 'authorization type',
  summary: 'types of authorization details',
  path: '/authorization-types',
  id: 'name',
  subject: 'authorization_types',
  item: authorizationTypeFields.required(),
});

export const authorizationTypes = collection.with({
  list: collection.list({
    filters: z.strictObject({}),
    sorts: { name: ['name'] },
    async page({ db }, _ids, _filters, keyset) {
      const { rows, ...rest } = await store.page(db, keyset);
      return { items: rows.map(typeOf), ...rest };
    },
  }),
  async find({ db }, { name }) {
    const row = await store.find(db, name);
    return row && typeOf(row);
  },
  async findLocked({ trx }, { name }) {
    const row = await store.findLocked(trx, name);
    return row && typeOf(row);
  },
  replace: collection.replace({
    body,
    creates: true,
    writable: ({ name: _name, ...fields }) => fields,
    async run({ trx, by, now }, { name }, { name: sent, ...fields }) {
      requireNamed('name', sent, name);
      return putAuthorizationType(trx, name, fields satisfies AuthorizationTypeChanges, by, now);
    },
  }),
  remove: ({ trx, by, now }, { name }) => removeAuthorizationType(trx, name, by, now),
});
