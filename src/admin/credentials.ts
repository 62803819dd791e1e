/** The factors a person can show: that they are there, and since when; never what they are. */
import { z } from 'zod';
import { removePassword } from '../users/accounts.ts';
import {
  CREDENTIALS,
  credentialOf,
  credentialsOf,
  type CredentialType,
  type ToldCredential,
} from '../users/credentials.ts';
import { removeRecoveryCodes, removeTotp } from '../users/enrolment.ts';
import { collectionOf } from './api/collection.ts';
import { requireUser } from './users.ts';

const item = z.strictObject({
  credential_id: z.string(),
  type: z.enum(CREDENTIALS),
  changed_at: z.iso.datetime().describe('When it was set, or set up'),
  expires_at: z.iso.datetime().optional().describe('Of a password that was drawn: until when it can be used'),
  used_at: z.iso.datetime().nullable().optional().describe('Of an authenticator app: when a code of it was taken last'),
  left: z.int().optional().describe('Of recovery codes: how many are left'),
});

const itemOf = ({ type, changed_at, expires_at, used_at, left }: ToldCredential): z.output<typeof item> => ({
  credential_id: type,
  type,
  changed_at: changed_at.toISOString(),
  ...(expires_at !== undefined && { expires_at: expires_at.toISOString() }),
  ...(used_at !== undefined && { used_at: used_at?.toISOString() ?? null }),
  ...(left !== undefined && { left }),
});

const typeOf = (credential_id: string): CredentialType | undefined =>
  CREDENTIALS.find((type) => type === credential_id);

const REMOVE: Readonly<Record<CredentialType, typeof removePassword>> = {
  password: removePassword,
  recovery_codes: removeRecoveryCodes,
  totp: removeTotp,
};

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
      return { items: (await credentialsOf(call.db, sub)).map(itemOf), last: undefined, more: false };
    },
  }),
  async find({ db }, { sub, credential_id }) {
    const type = typeOf(credential_id);
    const found = type && (await credentialOf(db, sub, type));
    return found && itemOf(found);
  },
  async remove({ trx, deps, by, now }, { sub, credential_id }) {
    const type = typeOf(credential_id);
    return type !== undefined && REMOVE[type](trx, deps, sub, by, now);
  },
});
