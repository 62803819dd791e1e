/** People as operators keep them: accounts, their state, and what ends all that hangs off one. */
import { z } from 'zod';
import { personClaims } from '../protocol/claims.ts';
import type { Db } from '../store/postgres/db.ts';
import { estimateRows } from '../store/postgres/listing.ts';
import * as store from '../store/users.ts';
import { revokeEverything, signOutEverywhere } from '../users/access.ts';
import {
  describeAccount,
  drawPassword,
  hashNewPassword,
  hashPassword,
  insertAccount,
  removeAccount,
  setDisabled,
  storePassword,
  updateAccount,
} from '../users/accounts.ts';
import { endOfDrawn } from '../users/drawn-password.ts';
import { resetFactors } from '../users/enrolment.ts';
import { invite, invitedUntil } from '../users/invitations.ts';
import { sendVerification } from '../users/verification.ts';
import { flag, moment } from './api/list.ts';
import { Problem } from './api/problem.ts';
import { collectionOf, type ReadCall } from './api/collection.ts';
import { invitationMembers, invitationOf } from './invitations.ts';

const account = {
  username: z.string().max(500),
  email: z.string().max(500).nullable(),
  email_verified: z.boolean(),
  claims: personClaims,
  disabled: z.boolean(),
};
/** Members that the server sets. A body may hold them, so that what was read can be sent back; they are ignored. */
const ofServer = {
  sub: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  erase_after: z.iso
    .datetime()
    .nullable()
    .describe('When it is erased, if its person asked for that and does not return'),
  invited_until: z.iso
    .datetime()
    .nullable()
    .optional()
    .describe('Until when they are invited, if they have not come yet; of one user, not in lists'),
};

const { username, ...optional } = account;
const changeable = {
  username,
  ...z.object(optional).partial().shape,
  email_verified: account.email_verified
    .optional()
    .describe('Without it an address that stays keeps what was known of it, and a new one is not verified'),
};

const itemOf = (user: store.User) => {
  const { created_at, updated_at, ...rest } = describeAccount(user);
  const times = { created_at: created_at.toISOString(), updated_at: updated_at.toISOString() };
  return { ...rest, ...times, erase_after: user.erase_after?.toISOString() ?? null };
};

const unknown = (): Problem => new Problem('not-found', 'there is no such user');

/** One of them, with what is looked up for one alone. */
async function oneOf(db: Db, user: store.User, now: Date) {
  return { ...itemOf(user), invited_until: (await invitedUntil(db, user, now))?.toISOString() ?? null };
}

/** @throws Problem when there is no such person */
export async function requireUser({ db }: ReadCall, sub: string): Promise<void> {
  if (!(await store.find(db, sub))) throw unknown();
}

/** What an action answers; it cannot be there only where the account is not. */
function found<T>(answer: T | undefined): T {
  if (answer === undefined) throw unknown();
  return answer;
}

const nothing = z.strictObject({}).optional();
const ended = { sessions_ended: z.int(), grants_revoked: z.int() };

const collection = collectionOf({
  noun: 'user',
  summary: 'users',
  path: '/users',
  id: 'sub',
  subject: 'users',
  item: z.strictObject({ ...account, ...ofServer }),
});

export const users = collection.with({
  list: collection.list({
    filters: z.strictObject({
      username: account.username.describe('The whole name, in any case'),
      email: z.string().max(500).describe('The whole address, in any case'),
      disabled: flag,
      created_after: moment.describe('Made then, or later'),
      created_before: moment.describe('Made before then'),
    }),
    sorts: { created_at: ['created_at', 'sub'], username: ['username_folded'] },
    descending: true,
    async page({ db }, _ids, filters, keyset) {
      // No index has both orders.
      if (keyset.columns[0] !== 'created_at' && (filters.created_after ?? filters.created_before)) {
        throw new Problem('invalid', 'the query is not valid', {
          errors: [{ pointer: '?sort', detail: 'a time of creation goes with sort=created_at', code: 'custom' }],
        });
      }
      const { rows, ...rest } = await store.page(db, filters, keyset);
      return { items: rows.map(itemOf), ...rest };
    },
    estimate: ({ db }) => estimateRows(db, 'users'),
  }),
  async find({ db, now }, { sub }) {
    const user = await store.find(db, sub);
    return user && oneOf(db, user, now);
  },
  async findLocked({ trx, now }, { sub }) {
    const user = await store.findLocked(trx, sub);
    return user && oneOf(trx, user, now);
  },
  create: collection.create({
    body: z.strictObject({
      ...changeable,
      sub: z.string().optional().describe('Instead of a random one; never one that was given out before'),
      password: z.string().max(4096).optional().describe('Without one nobody can sign in yet'),
    }),
    async prepare({ deps }, _ids, { password, ...names }) {
      return password === undefined ? undefined : hashNewPassword(deps, password, names);
    },
    async run({ trx, deps, by, now }, _ids, { email, password: _password, ...given }, phc: string | undefined) {
      const user = await insertAccount(trx, deps, { ...given, email: email ?? undefined }, phc, by, now);
      return oneOf(trx, user, now);
    },
  }),
  replace: collection.replace({
    body: z.strictObject({ ...changeable, ...z.object(ofServer).partial().shape }),
    // email_verified belongs to the address: a patch that changes the address does not keep it.
    writable: ({ username: name, email, claims, disabled }) => ({ username: name, email, claims, disabled }),
    async run({ trx, by, now }, ids, { sub = ids['sub'], email = null, claims = {}, disabled = false, ...given }) {
      if (sub !== ids['sub']) throw new Problem('invalid', 'sub is another one than that of the path');
      const { username: name, email_verified } = given;
      const changes = { username: name, email, email_verified, claims, disabled };
      return oneOf(trx, found(await updateAccount(trx, sub, changes, by, now)), now);
    },
  }),
  remove: ({ trx, by, now }, { sub }) => removeAccount(trx, sub, by, now),
  actions: {
    'set-password': collection.action({
      summary: 'Give a user a random password for a first sign-in, shown once, and end all sessions and grants',
      body: nothing,
      answer: z.strictObject({
        password: z.string().optional().describe('Shown once; whoever signs in with it chooses another first'),
        expires_at: z.iso.datetime().describe('Until when it can be used'),
      }),
      once: ['password'],
      async prepare({ deps }) {
        const password = drawPassword(deps);
        return { password, phc: await hashPassword(deps, password) };
      },
      async run({ trx, deps, by, now }, { sub }, _body, { password, phc }: { password: string; phc: string }) {
        if (!(await storePassword(trx, deps, sub, phc, by, now, { drawn: true }))) throw unknown();
        return { password, expires_at: endOfDrawn(now).toISOString() };
      },
    }),
    disable: collection.action({
      summary: 'Keep a user from signing in, and end all sessions and grants',
      body: nothing,
      answer: null,
      async run({ trx, by, now }, { sub }) {
        await setDisabled(trx, sub, true, by, now);
        return undefined;
      },
    }),
    enable: collection.action({
      summary: 'Let a disabled user sign in again',
      body: nothing,
      answer: null,
      async run({ trx, by, now }, { sub }) {
        await setDisabled(trx, sub, false, by, now);
        return undefined;
      },
    }),
    'reset-factors': collection.action({
      summary: 'Take all second factors of a user away, who lost them, and end all sessions and grants',
      body: nothing,
      answer: z.strictObject({ ...ended, factors: z.array(z.string()) }),
      run: async ({ trx, deps, by, now }, { sub }) => found(await resetFactors(trx, deps, sub, by, now)),
    }),
    invite: collection.action({
      summary: 'Send a user who cannot sign in yet a link to choose their first password; one sent before is void',
      body: z
        .strictObject({ link: z.boolean().optional().describe('Show the link as well, to hand it on') })
        .optional(),
      answer: z.strictObject(invitationMembers),
      once: ['url'],
      run: async ({ trx, deps, by, now }, { sub }, body) =>
        invitationOf(found(await invite(trx, deps, { sub, link: body?.link === true }, by, now))),
    }),
    'send-verification': collection.action({
      summary: 'Send a mail with a link by which the address of a user is verified',
      body: nothing,
      answer: z.strictObject({ sent: z.boolean().describe('Not where the address is verified already') }),
      run: async ({ trx, deps, by, now }, { sub }) => ({
        sent: found(await sendVerification(trx, deps, sub, by, now)),
      }),
    }),
    'sign-out': collection.action({
      summary: 'End all sessions of a user, and what was granted under them, but for grants with offline_access',
      body: nothing,
      answer: z.strictObject(ended),
      run: async ({ trx, by, now }, { sub }) => ({ ...found(await signOutEverywhere(trx, sub, by, now)) }),
    }),
    'revoke-everything': collection.action({
      summary: 'End all sessions and grants of a user, offline ones too, and withdraw all consents',
      body: nothing,
      answer: z.strictObject({ ...ended, consents_withdrawn: z.int() }),
      run: async ({ trx, by, now }, { sub }) => ({ ...found(await revokeEverything(trx, sub, by, now)) }),
    }),
  },
});
