/**
 * The account API's table: what people can do about their own account with an access token. Each row calls what its page calls; routes and
 * the OpenAPI document are made from it.
 */
import { z } from 'zod';
import { Problem } from '../../admin/index.ts';
import { requestOwnDeletion } from '../../authorize/own-account.ts';
import { PROFILE_CLAIMS } from '../../protocol/claims.ts';
import { endOthersOf, endOwnSession, sessionsOfPerson } from '../../sessions/of-person.ts';
import type { User } from '../../store/users.ts';
import { activityOf } from '../../users/activity.ts';
import { describeAccount } from '../../users/accounts.ts';
import { applicationsOf, disconnectApplication } from '../../users/applications.ts';
import { downloadData } from '../../users/personal-data.ts';
import { updateProfile } from '../../users/profile.ts';
import { addressPrefix } from '../network.ts';
import { gone, listOf, moment, operation, type Call, type Operation } from './operation.ts';
import { waysIn } from './ways-in.ts';

const account = z.strictObject({
  sub: z.string(),
  username: z.string(),
  email: z.string().nullable(),
  email_verified: z.boolean(),
  claims: z.record(z.string(), z.unknown()).describe('The standard claims (OpenID Connect Core §5.1)'),
  editable_claims: z.array(z.string()).describe('What of them PATCH /profile changes'),
  created_at: moment,
  updated_at: moment,
  signed_in: z
    .strictObject({ sid: z.string(), auth_time: moment, amr: z.array(z.string()), client_id: z.string() })
    .describe('The sign-in that the access token stands on'),
});

function accountOf({ deps, owner }: Pick<Call<unknown, unknown, unknown>, 'deps' | 'owner'>, user: User) {
  const { disabled: _, ...described } = describeAccount(user);
  const { sid, auth_time, amr, client_id } = owner;
  const signed_in = { sid, auth_time, amr, client_id };
  return { ...described, editable_claims: deps.config.PROFILE_CLAIMS, signed_in };
}

const session = z.strictObject({
  sid: z.string(),
  current: z.boolean().describe('Is it that of this access token?'),
  kind: z.enum(['browser', 'login']).describe('A browser, or a script at POST /login'),
  program: z.string(),
  system: z.string(),
  network: z.string().nullable(),
  amr: z.array(z.string()),
  auth_time: moment,
  seen_at: moment,
  expires_at: moment,
});

const application = z.strictObject({
  client_id: z.string(),
  client_name: z.string(),
  scope: z.array(z.string()),
  agreed: z.array(z.string()).describe('The part of it that the person was asked for'),
  resource: z.array(z.string()),
  authorization_details: z.array(z.looseObject({ type: z.string() })),
  offline_access: z.boolean(),
  has_access: z.boolean(),
  since: moment,
  last_used: moment.nullable(),
});

const activity = z.strictObject({
  items: z.array(
    z.strictObject({
      event_id: z.string(),
      at: moment,
      event: z.string(),
      client_id: z.string().nullable(),
      client_name: z.string().nullable(),
      by: z.enum(['you', 'operator']),
      network: z.string().nullable(),
      detail: z.record(z.string(), z.unknown()),
    }),
  ),
  next: z.string().nullable().describe('What `before` is for the next page'),
});

const profile = z.strictObject(
  Object.fromEntries(PROFILE_CLAIMS.map((name) => [name, z.string().max(2000).nullable().optional()])),
);

export const operations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/',
    name: 'account_get',
    summary: 'Show the account, and who is signed in',
    answer: account,
    run: async (call) => accountOf(call, call.owner.user),
  }),
  operation({
    method: 'PATCH',
    path: '/profile',
    name: 'profile_update',
    summary: 'Change claims of the profile; null takes one away',
    body: profile,
    answer: account,
    async run(call) {
      const { deps, owner, body, by, now } = call;
      const changed = await updateProfile(deps, owner.sub, body, by, now);
      if (!changed) throw gone('account');
      if (!('problems' in changed)) return accountOf(call, changed);
      const errors = Object.entries(changed.problems).map(([name, code]) => ({
        pointer: `/${name}`,
        detail: code === 'not_yours' ? 'is not changed by people here' : 'is not valid',
        code,
      }));
      throw new Problem('invalid', 'the profile was not changed', { errors });
    },
  }),
  operation({
    method: 'GET',
    path: '/sessions',
    name: 'sessions_list',
    summary: 'List where somebody is signed in',
    answer: listOf(session),
    async run({ deps, owner, now }) {
      const items = await sessionsOfPerson(deps, owner.sub, now);
      return { items: items.map((each) => ({ ...each, current: each.sid === owner.sid })) };
    },
  }),
  operation({
    method: 'DELETE',
    path: '/sessions/{sid}',
    name: 'sessions_end',
    summary: 'End one session, with what was granted in it',
    // ASVS 7.5.2, as on the page.
    fresh: true,
    answer: null,
    async run({ deps, owner, ids, by, now }) {
      if (!(await endOwnSession(deps, owner.sub, ids.sid, by, now))) throw gone('session');
    },
  }),
  operation({
    method: 'POST',
    path: '/sessions/end-others',
    name: 'sessions_end_others',
    summary: 'End every session but that of the access token',
    fresh: true,
    answer: z.strictObject({ sessions_ended: z.int(), grants_revoked: z.int() }),
    run: ({ deps, owner: { sub, sid }, by, now }) => endOthersOf(deps, { sub, sid }, by, now),
  }),
  operation({
    method: 'GET',
    path: '/applications',
    name: 'applications_list',
    summary: 'List connected applications, and what each may do',
    answer: listOf(application),
    run: async ({ deps, owner, now }) => ({ items: await applicationsOf(deps, owner.sub, now) }),
  }),
  operation({
    method: 'DELETE',
    path: '/applications/{client_id}',
    name: 'applications_disconnect',
    summary: 'Take back everything that an application may do, with every token',
    answer: null,
    async run({ deps, owner, ids, by, now }) {
      if (!(await disconnectApplication(deps, owner.sub, ids.client_id, by, now))) throw gone('application');
    },
  }),
  operation({
    method: 'GET',
    path: '/activity',
    name: 'activity_list',
    summary: 'List what happened with the account, the newest first',
    query: z.strictObject({
      before: z.string().optional().describe('`next` of the page before'),
      limit: z.coerce.number().int().min(1).max(100).default(25),
    }),
    answer: activity,
    async run({ deps, owner, query }) {
      const { items, next = null } = await activityOf(deps, owner.sub, query.before, query.limit);
      const shown = items.map(({ ip, ...item }) => ({ ...item, network: ip === null ? null : addressPrefix(ip) }));
      return { items: shown, next };
    },
  }),
  operation({
    method: 'GET',
    path: '/data',
    name: 'data_download',
    summary: 'Download everything that is kept about the person',
    trusted: true,
    fresh: true,
    answer: z.record(z.string(), z.unknown()),
    run: ({ deps, owner, by, now }) => downloadData(deps, owner.sub, by, now),
  }),
  operation({
    method: 'POST',
    path: '/deletion',
    name: 'deletion_request',
    summary: 'Have the account erased in a week; every session and token ends now',
    trusted: true,
    fresh: true,
    answer: z.strictObject({ erase_after: moment }),
    async run({ deps, owner, by, now }) {
      return { erase_after: await requestOwnDeletion(deps, owner, by, now) };
    },
  }),
  ...waysIn,
];
