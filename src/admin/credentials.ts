/** The factors a person can show: that they are there, and since when; never what they are. */
import { z } from 'zod';
import * as store from '../store/users.ts';
import { removePassword } from '../users/accounts.ts';
import { collectionOf } from './api/collection.ts';
import type { Db } from '../store/postgres/db.ts';
import { requireUser } from './users.ts';

const PASSWORD = 'password';
const item = z.strictObject({ credential_id: z.string(), type: z.enum([PASSWORD]), changed_at: z.iso.datetime() });

async function passwordOf(db: Db, sub: string): Promise<z.output<typeof item> | undefined> {
  const changed_at = await store.passwordChangedAt(db, sub);
  return changed_at && { credential_id: PASSWORD, type: PASSWORD, changed_at: changed_at.toISOString() };
}

const collection = collectionOf({
  noun: 'credential',
  summary: 'the credentials of a user',
  path: '/users/{sub}/credentials',
  id: 'credential_id',
  subject: 'users',
  item,
});

export const userCredentials = collection.with({
  list: collection.list({
    filters: z.strictObject({}),
    sorts: { credential_id: ['credential_id'] },
    async page(call, { sub }) {
      await requireUser(call, sub);
      const password = await passwordOf(call.db, sub);
      return { items: password ? [password] : [], last: undefined, more: false };
    },
  }),
  find: async ({ db }, { sub, credential_id }) => (credential_id === PASSWORD ? passwordOf(db, sub) : undefined),
  remove: async ({ trx, deps, by, now }, { sub, credential_id }) =>
    credential_id === PASSWORD && removePassword(trx, deps, sub, by, now),
});
