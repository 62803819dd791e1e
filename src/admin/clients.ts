/** Clients as operators keep them: RFC 7591 documents, and their secrets. */
import { z } from 'zod';
import {
  describeClient,
  insertClient,
  OPERATORS,
  removeClient,
  replaceClient,
  type ClientDocument,
} from '../clients/register.ts';
import { setClientDisabled } from '../clients/disabling.ts';
import { fetchSector, type Sector } from '../clients/sector.ts';
import { clientId, clientSecret } from '../protocol/client.ts';
import { clientMetadataFields, localizedTexts, type ClientMetadataInput } from '../protocol/client-metadata.ts';
import { withLanguages } from '../protocol/localized.ts';
import { parseScope } from '../protocol/scope.ts';
import * as store from '../store/clients.ts';
import { estimateRows } from '../store/postgres/listing.ts';
import { refuseEscalation } from './api/escalation.ts';
import { flag } from './api/list.ts';
import { Problem } from './api/problem.ts';
import { collectionOf, type Item, type WriteCall } from './api/collection.ts';

/** Members that the server sets. A body may hold them, so that what was read can be sent back; they are ignored. */
const ofServer = {
  client_id_issued_at: z.int(),
  registered_by: z.enum(['operator', 'self']),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable(),
  disabled_at: z.iso.datetime().nullable(),
};
/** What a client brought when it registered itself (RFC 7591 §2.3): shown with it, and nothing that an operator sets. */
const ofRegistration = { software_statement: z.string().optional() };
const secret = {
  client_secret: clientSecret.describe('Shown once, in the answer that made it'),
  client_secret_expires_at: z.int(),
};

const item = withLanguages(
  {
    ...clientMetadataFields.partial().shape,
    client_id: clientId,
    ...ofServer,
    ...ofRegistration,
    client_secret: secret.client_secret.optional(),
    client_secret_expires_at: secret.client_secret_expires_at.optional(),
  },
  localizedTexts,
);

const members = {
  ...clientMetadataFields.shape,
  client_id: clientId.optional(),
  client_secret: clientSecret.optional(),
  ...z.object(ofServer).partial().shape,
};

const itemOf = (row: store.ClientRow): z.output<typeof item> => ({
  ...describeClient(row),
  registered_by: row.registered_by,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  last_used_at: row.last_used_at?.toISOString() ?? null,
  disabled_at: row.disabled_at?.toISOString() ?? null,
});

/** A document without what is not metadata. */
function writable(document: Item): ClientMetadataInput {
  const ignored = new Set([
    ...Object.keys(ofServer),
    ...Object.keys(ofRegistration),
    ...Object.keys(secret),
    'client_id',
  ]);
  return Object.fromEntries(Object.entries(document).filter(([name]) => !ignored.has(name)));
}

/** What was written, as it is now, with the secret that was made. */
async function written(
  { trx }: WriteCall,
  { client_id, client_secret }: ClientDocument,
): Promise<z.output<typeof item>> {
  const row = (await store.find(trx, client_id))!;
  return { ...itemOf(row), ...(client_secret !== undefined && { client_secret, client_secret_expires_at: 0 }) };
}

const ability = (summary: string, disabled: boolean) =>
  collection.action({
    summary,
    body: z.strictObject({}).default({}),
    answer: item,
    async run(call, { client_id }) {
      const { trx, by, now } = call;
      refuseEscalation(call, (await store.findLocked(trx, client_id))!.scope);
      await setClientDisabled(trx, client_id, disabled, by, now);
      return itemOf((await store.find(trx, client_id))!);
    },
  });

const collection = collectionOf({
  noun: 'client',
  summary: 'clients',
  path: '/clients',
  id: 'client_id',
  subject: 'clients',
  item,
});

export const clients = collection.with({
  list: collection.list({
    filters: z.strictObject({
      client_name: z.string().max(200),
      registered_by: ofServer.registered_by,
      disabled: flag,
    }),
    sorts: { created_at: ['created_at', 'client_id'], client_id: ['client_id'] },
    descending: true,
    async page({ db }, _ids, filters, keyset) {
      const { rows, ...rest } = await store.page(db, filters, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
    estimate: ({ db }) => estimateRows(db, 'clients'),
  }),
  async find({ db }, { client_id }) {
    const row = await store.find(db, client_id);
    return row && itemOf(row);
  },
  async findLocked({ trx }, { client_id }) {
    const row = await store.findLocked(trx, client_id);
    return row && itemOf(row);
  },
  create: collection.create({
    body: withLanguages(members, localizedTexts),
    once: ['client_secret', 'client_secret_expires_at'],
    prepare: ({ deps }, _ids, given) => fetchSector(deps, writable(given), undefined, { trusted: true }),
    async run(call, _ids, given, sector: Sector | undefined) {
      const { trx, deps, by, now } = call;
      const { client_id, client_secret } = given;
      refuseEscalation(call, parseScope(given.scope));
      const registration = { client_id, client_secret, metadata: writable(given) };
      return written(call, await insertClient(trx, deps, registration, sector, OPERATORS, by, now));
    },
  }),
  replace: collection.replace({
    body: withLanguages({ ...members, ...ofRegistration }, localizedTexts),
    writable,
    async prepare({ db, deps }, { client_id }, given) {
      const present = await store.find(db, client_id);
      // Who changes a client that registered itself does not make its address an operator's.
      const trusted = present?.registered_by === 'operator';
      return fetchSector(deps, writable(given), present, { trusted });
    },
    async run(call, { client_id }, given, sector: Sector | undefined) {
      if (given.client_id !== undefined && given.client_id !== client_id) {
        throw new Problem('invalid', 'client_id is another one than that of the path');
      }
      if (given.client_secret !== undefined) throw new Problem('invalid', 'secrets are added at /secrets');
      const { trx, deps, by, now } = call;
      const present = (await store.findLocked(trx, client_id))!;
      refuseEscalation(call, [...present.scope, ...parseScope(given.scope)]);
      return written(call, await replaceClient(trx, deps, present, writable(given), sector, {}, by, now));
    },
  }),
  async remove(call, { client_id }) {
    const { trx, by, now } = call;
    refuseEscalation(call, (await store.findLocked(trx, client_id))?.scope ?? []);
    return removeClient(trx, client_id, by, now);
  },
  actions: {
    disable: ability('Disable a client and end everything it was granted', true),
    enable: ability('Let a client that was disabled be used again', false),
  },
});
