/** The passkeys of a person: what they are called and when they were used; and their removal, for a device that was lost. */
import { z } from 'zod';
import * as store from '../store/passkeys.ts';
import { endAll } from '../users/access.ts';
import { removePasskey } from '../users/passkeys.ts';
import { collectionOf } from './api/collection.ts';
import { requireUser } from './users.ts';

const moment = z.iso.datetime();
const item = z.strictObject({
  passkey_id: z.string(),
  name: z.string().describe('What its person calls it'),
  aaguid: z.string().describe('The model of the authenticator, as it says itself; zeros where it says nothing'),
  synchronised: z.boolean().describe('It can leave the device it was made on'),
  created_at: moment,
  last_used_at: moment.nullable(),
});

const itemOf = (passkey: store.Passkey): z.output<typeof item> => ({
  passkey_id: passkey.passkey_id,
  name: passkey.name,
  aaguid: passkey.aaguid,
  synchronised: passkey.backup_eligible,
  created_at: passkey.created_at.toISOString(),
  last_used_at: passkey.last_used_at?.toISOString() ?? null,
});

const collection = collectionOf({
  noun: 'passkey',
  summary: 'the passkeys of a user',
  path: '/users/{sub}/passkeys',
  id: 'passkey_id',
  subject: 'users',
  item,
});

export const userPasskeys = collection.with({
  list: collection.list({
    filters: z.strictObject({}),
    sorts: { passkey_id: ['passkey_id'] },
    async page(call, { sub }) {
      await requireUser(call, sub);
      // No more than a page: a person has few (users/passkeys.ts).
      return { items: (await store.allOf(call.db, sub)).map(itemOf), last: undefined, more: false };
    },
  }),
  async find({ db }, { sub, passkey_id }) {
    const found = (await store.allOf(db, sub)).find((passkey) => passkey.passkey_id === passkey_id);
    return found && itemOf(found);
  },
  async remove({ trx, deps, by, now }, { sub, passkey_id }) {
    if (!(await removePasskey(trx, deps, sub, passkey_id, by, now))) return false;
    // As with a password: whoever has the device may be signed in.
    await endAll(trx, sub, 'operator', now);
    return true;
  },
});
