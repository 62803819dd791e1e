/** The factors a person can show: that they are there, and since when; never what they are. */
import { z } from 'zod';
import * as store from '../store/users.ts';
import { removePassword } from '../users/accounts.ts';
import { listOf, type AdminResource, type Item } from './resource.ts';
import type { Db } from '../store/db.ts';
import { requireUser } from './users.ts';

const PASSWORD = 'password';

async function passwordOf(db: Db, sub: string): Promise<Item | undefined> {
  const changed_at = await store.passwordChangedAt(db, sub);
  return changed_at && { credential_id: PASSWORD, type: PASSWORD, changed_at: changed_at.toISOString() };
}

export const userCredentials: AdminResource = {
  noun: 'credential',
  summary: 'the credentials of a user',
  path: '/users/{sub}/credentials',
  id: 'credential_id',
  subject: 'users',
  item: z.strictObject({ credential_id: z.string(), type: z.enum([PASSWORD]), changed_at: z.iso.datetime() }),
  list: listOf({
    filters: z.strictObject({}),
    sorts: { credential_id: ['credential_id'] },
    async page(call, { sub }) {
      await requireUser(call, sub!);
      const password = await passwordOf(call.deps.db, sub!);
      return { items: password ? [password] : [], last: undefined, more: false };
    },
  }),
  find: async ({ deps }, { sub, credential_id }) =>
    credential_id === PASSWORD ? passwordOf(deps.db, sub!) : undefined,
  remove: async ({ deps, by, now }, { sub, credential_id }) =>
    credential_id === PASSWORD && removePassword(deps, sub!, by, now),
};
