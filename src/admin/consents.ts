/** Consents: what a person has agreed to with a client, and is not asked again. Withdrawing one ends the grants of the pair. */
import { z } from 'zod';
import { formatScope } from '../protocol/scope.ts';
import * as store from '../store/consents.ts';
import { withdrawConsent } from '../users/access.ts';
import { collectionOf } from './api/collection.ts';
import { requireUser } from './users.ts';

const item = z.strictObject({
  client_id: z.string(),
  client_name: z.string().nullable(),
  agreed: z.array(
    z.strictObject({
      resource: z.array(z.string()).describe('For these resources together; none where none was asked for'),
      scope: z.string(),
      claims: z.array(z.string()).describe('Beyond those that the scope opens'),
      updated_at: z.iso.datetime(),
    }),
  ),
});

const itemOf = ({ client_id, client_name, agreed }: store.ConsentOf): z.output<typeof item> => ({
  client_id,
  client_name,
  agreed: agreed
    .toSorted((a, b) => (a.resource < b.resource ? -1 : 1))
    .map(({ resource, scope, claims, updated_at }) => ({
      resource: resource === '' ? [] : resource.split(' '),
      scope: formatScope(scope),
      claims,
      updated_at: new Date(updated_at).toISOString(),
    })),
});

const collection = collectionOf({
  noun: 'consent',
  summary: 'the consents of a user',
  path: '/users/{sub}/consents',
  id: 'client_id',
  subject: 'grants',
  item,
});

export const userConsents = collection.with({
  list: collection.list({
    filters: z.strictObject({}),
    sorts: { client_id: ['client_id'] },
    async page(call, { sub }, _filters, keyset) {
      await requireUser(call, sub);
      const { rows, ...rest } = await store.page(call.db, sub, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
  }),
  async find({ db }, { sub, client_id }) {
    const consent = await store.findOf(db, sub, client_id);
    return consent && itemOf(consent);
  },
  remove: ({ trx, by, now }, { sub, client_id }) => withdrawConsent(trx, sub, client_id, by, now),
});
