/** People as operators keep them: accounts, their state, and what ends all that hangs off one. */
import { z } from 'zod';
import { personClaims } from '../protocol/claims.ts';
import { estimateRows } from '../store/listing.ts';
import type { Trx } from '../store/db.ts';
import * as store from '../store/users.ts';
import { revokeEverything, signOutEverywhere } from '../users/access.ts';
import {
  describeAccount,
  drawPassword,
  hashNewPassword,
  insertAccount,
  removeAccount,
  setDisabled,
  storePassword,
  updateAccount,
} from '../users/accounts.ts';
import { flag, moment } from './list.ts';
import { Problem } from './problem.ts';
import { actionOf, createOf, listOf, replaceOf, type AdminResource, type Call, type Item } from './resource.ts';

const account = {
  username: z.string().max(500),
  email: z.string().max(500).nullable(),
  email_verified: z.boolean(),
  claims: personClaims,
  disabled: z.boolean(),
};
/** What the server says of an account. In a body it is accepted, so that what was read can be sent back, and not used. */
const said = { sub: z.string(), created_at: z.iso.datetime(), updated_at: z.iso.datetime() };

const { username, ...optional } = account;
const changeable = {
  username,
  ...z.object(optional).partial().shape,
  email_verified: account.email_verified
    .optional()
    .describe('Without it an address that stays keeps what was known of it, and a new one is not verified'),
};

const itemOf = (user: store.User): Item => {
  const { created_at, updated_at, ...rest } = describeAccount(user);
  return { ...rest, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() };
};

const unknown = (): Problem => new Problem('not-found', 'there is no such user');

/** @throws Problem when there is no such person */
export async function requireUser({ deps }: Call, sub: string): Promise<void> {
  if (!(await store.find(deps.db, sub))) throw unknown();
}

/** What an action answers; it cannot be there only where the account is not. */
function found<T>(answer: T | undefined): T {
  if (answer === undefined) throw unknown();
  return answer;
}

const nothing = z.strictObject({}).optional();
const ended = { sessions_ended: z.int(), grants_revoked: z.int() };

export const users: AdminResource = {
  noun: 'user',
  summary: 'users',
  path: '/users',
  id: 'sub',
  subject: 'users',
  item: z.strictObject({ ...account, ...said }),
  list: listOf({
    filters: z.strictObject({
      username: account.username.describe('The whole name, in any case'),
      email: z.string().max(500).describe('The whole address, in any case'),
      disabled: flag,
      created_after: moment.describe('Made then, or later'),
      created_before: moment.describe('Made before then'),
    }),
    sorts: { created_at: ['created_at', 'sub'], username: ['username_folded'] },
    descending: true,
    async page({ deps }, _ids, filters, keyset) {
      // No index has both orders.
      if (keyset.columns[0] !== 'created_at' && (filters.created_after ?? filters.created_before)) {
        throw new Problem('invalid', 'the query is not valid', {
          errors: [{ pointer: '?sort', detail: 'a time of creation goes with sort=created_at', code: 'custom' }],
        });
      }
      const { rows, ...rest } = await store.page(deps.db, filters, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
    estimate: ({ deps }) => estimateRows(deps.db, 'users'),
  }),
  async find({ deps }, { sub }, lock) {
    const user = await (lock ? store.findLocked(deps.db as Trx, sub!) : store.find(deps.db, sub!));
    return user && itemOf(user);
  },
  create: createOf({
    body: z.strictObject({
      ...changeable,
      sub: z.string().optional().describe('Instead of a random one; never one that was given out before'),
      password: z.string().max(4096).optional().describe('Without one nobody can sign in yet'),
    }),
    async prepare({ deps }, _ids, { password, ...names }) {
      return password === undefined ? undefined : hashNewPassword(deps, password, names);
    },
    async run({ deps, by, now }, _ids, { email, password: _password, ...given }, phc: string | undefined) {
      return itemOf(await insertAccount(deps, { ...given, email: email ?? undefined }, phc, by, now));
    },
  }),
  replace: replaceOf({
    body: z.strictObject({ ...changeable, ...z.object(said).partial().shape }),
    // Whether an address is verified is said of that address: a patch that changes it starts from nothing.
    writable: ({ username: name, email, claims, disabled }) => ({ username: name, email, claims, disabled }),
    async run({ deps, by, now }, ids, { sub = ids['sub'], email = null, claims = {}, disabled = false, ...given }) {
      if (sub !== ids['sub']) throw new Problem('invalid', 'sub is another one than that of the path');
      const { username: name, email_verified } = given;
      const changes = { username: name, email, email_verified, claims, disabled };
      return itemOf(found(await updateAccount(deps, sub!, changes, by, now)));
    },
  }),
  remove: ({ deps, by, now }, { sub }) => removeAccount(deps, sub!, by, now),
  actions: {
    'set-password': actionOf({
      summary: 'Give a user a random password, shown once, and end all sessions and grants',
      body: nothing,
      answer: z.strictObject({ password: z.string().optional().describe('Shown once; nobody chose it') }),
      once: ['password'],
      async prepare({ deps }) {
        const password = drawPassword(deps);
        return { password, phc: await hashNewPassword(deps, password, { username: '' }) };
      },
      async run({ deps, by, now }, { sub }, _body, { password, phc }: { password: string; phc: string }) {
        if (!(await storePassword(deps, sub!, phc, by, now))) throw unknown();
        return { password };
      },
    }),
    disable: actionOf({
      summary: 'Keep a user from signing in, and end all sessions and grants',
      body: nothing,
      answer: null,
      async run({ deps, by, now }, { sub }) {
        await setDisabled(deps, sub!, true, by, now);
        return undefined;
      },
    }),
    enable: actionOf({
      summary: 'Let a disabled user sign in again',
      body: nothing,
      answer: null,
      async run({ deps, by, now }, { sub }) {
        await setDisabled(deps, sub!, false, by, now);
        return undefined;
      },
    }),
    'sign-out': actionOf({
      summary: 'End all sessions of a user, and what was granted under them, but for grants with offline_access',
      body: nothing,
      answer: z.strictObject(ended),
      run: async ({ deps, by, now }, { sub }) => ({ ...found(await signOutEverywhere(deps, sub!, by, now)) }),
    }),
    'revoke-everything': actionOf({
      summary: 'End all sessions and grants of a user, offline ones too, and withdraw all consents',
      body: nothing,
      answer: z.strictObject({ ...ended, consents_withdrawn: z.int() }),
      run: async ({ deps, by, now }, { sub }) => ({ ...found(await revokeEverything(deps, sub!, by, now)) }),
    }),
  },
};
