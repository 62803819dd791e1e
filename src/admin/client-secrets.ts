/** The secrets of a client: several may live at a time, so that one can replace another without a gap. */
import { z } from 'zod';
import { addSecretTo, removeSecret } from '../clients/secrets.ts';
import { clientSecret, isPublic } from '../protocol/client.ts';
import { DAY } from '../protocol/numeric-date.ts';
import * as store from '../store/clients.ts';
import { refuseEscalation } from './api/escalation.ts';
import { Problem } from './api/problem.ts';
import { collectionOf, type ReadCall, type WriteCall } from './api/collection.ts';

const item = z.strictObject({
  secret_id: z.string(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  client_secret: clientSecret.optional().describe('Shown once, in the answer that made it'),
});

const itemOf = ({ secret_id, created_at, expires_at }: store.SecretRow): z.output<typeof item> => ({
  secret_id,
  created_at: created_at.toISOString(),
  expires_at: expires_at?.toISOString() ?? null,
});

const noSuchClient = (): Problem => new Problem('not-found', 'there is no such client');

async function requireClient({ db }: ReadCall, client_id: string): Promise<store.Client> {
  const client = await store.find(db, client_id);
  if (!client) throw noSuchClient();
  return client;
}

/** The same for a write, held until it is done. @throws Problem not-found, forbidden */
async function requireSecretClient(call: WriteCall, client_id: string): Promise<store.Client> {
  const client = await store.findLocked(call.trx, client_id);
  if (!client) throw noSuchClient();
  refuseEscalation(call, client.scope);
  return client;
}

const collection = collectionOf({
  noun: 'client secret',
  summary: 'the secrets of a client',
  path: '/clients/{client_id}/secrets',
  id: 'secret_id',
  subject: 'clients',
  item,
});

export const clientSecrets = collection.with({
  list: collection.list({
    filters: z.strictObject({}),
    sorts: { created_at: ['created_at', 'secret_id'] },
    async page(call, { client_id }, _filters, keyset) {
      await requireClient(call, client_id);
      const { rows, ...rest } = await store.pageOfSecrets(call.db, client_id, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
  }),
  async find({ db }, { client_id, secret_id }) {
    const row = await store.findSecret(db, client_id, secret_id);
    return row && itemOf(row);
  },
  create: collection.create({
    body: z.strictObject({
      client_secret: clientSecret.optional(),
      overlap: z
        .int()
        .min(0)
        .max(365 * DAY)
        .optional()
        .describe('Seconds that the other secrets keep working; without it they stay as they are'),
    }),
    once: ['client_secret'],
    async run(call, { client_id }, given) {
      const client = await requireSecretClient(call, client_id);
      const made = await addSecretTo(call.trx, call.deps, client_id, given, call.by, call.now);
      if (!made) {
        const kind = isPublic(client) ? 'is a public client' : `uses ${client.token_endpoint_auth_method}`;
        throw new Problem('not-allowed', `${client_id} ${kind}: it has no secret`);
      }
      const row = (await store.findSecret(call.trx, client_id, made.secret_id))!;
      return { ...itemOf(row), client_secret: made.client_secret };
    },
  }),
  async remove(call, { client_id, secret_id }) {
    const client = await store.findLocked(call.trx, client_id);
    if (!client) return false;
    refuseEscalation(call, client.scope);
    return removeSecret(call.trx, client_id, secret_id, call.by, call.now);
  },
});
