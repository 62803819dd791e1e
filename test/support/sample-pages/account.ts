/** The pages of the account. */
import { accountPages, type AccountPageName } from '../../../src/protocol/endpoint.ts';
import type { AccountFrame } from '../../../src/views/account/frame.ts';
import { applicationsPage } from '../../../src/views/account/applications.ts';
import { dataPage } from '../../../src/views/account/data.ts';
import { deletedPage, deletePage } from '../../../src/views/account/delete.ts';
import { ownPasswordPage } from '../../../src/views/own-password.ts';
import { keepAccountPage } from '../../../src/views/keep-account.ts';
import { activityPage } from '../../../src/views/account/activity.ts';
import { profilePage } from '../../../src/views/account/profile.ts';
import { overviewPage } from '../../../src/views/account/overview.ts';
import { passwordPage } from '../../../src/views/account/password.ts';
import { sessionsPage } from '../../../src/views/account/sessions.ts';
import type { Frame } from '../../../src/views/layout.ts';
import { hostile } from './frame.ts';

/** The frame of a page of the account, with the ways to all others. */
export const accountFrame = (frame: Frame, name: AccountPageName): AccountFrame => ({
  ...frame,
  ways: Object.entries(accountPages).map(([page, href]) => ({
    name: page as AccountPageName,
    href,
    current: page === name,
  })),
  logout_url: '/logout',
});

const ada = { name: 'Ada Lovelace', email: 'ada@example.test' };
const session = {
  kind: 'browser' as const,
  program: 'Firefox',
  system: 'Windows',
  network: '192.0.2.0/24',
  auth_time: '2025-11-20T19:23:00Z',
  seen_at: '2025-11-21T07:02:00Z',
};
const form = { action: '/account', form_token: 'form-token' };

const password = {
  ...form,
  username: 'ada',
  has_password: true,
  drawn: false,
  asks_current: true,
  end_others: true,
  min_length: 8,
  strength_url: '/password-strength',
};

export const accountSamples = (frame: Frame) => ({
  account: overviewPage({
    ...form,
    frame: accountFrame(frame, 'overview'),
    person: { ...ada, username: 'Ada', email_verified: true },
    sub: '0197f3a2-6c1e-7b5d-9f0a-3f1d2c4b5a69',
    signed_in_at: '2025-11-20T19:23:00Z',
    logout_url: '/logout',
    login_url: '/login',
    others: [{ sub: 'bob', name: 'Bob' }],
  }),
  'account-hostile': overviewPage({
    ...form,
    frame: accountFrame(frame, 'overview'),
    person: { name: hostile, username: hostile, email: hostile },
    sub: hostile,
    signed_in_at: hostile,
    logout_url: 'javascript:alert(10)',
    others: [{ sub: hostile, name: hostile, email: hostile }],
    login_url: 'javascript:alert(13)',
  }),
  'account-sessions': sessionsPage({
    ...form,
    frame: accountFrame(frame, 'sessions'),
    current: 's1',
    logout_url: '/logout',
    done: 'ended',
    sessions: [
      { ...session, sid: 's2', program: '', system: 'Linux', network: null },
      { ...session, sid: 's1' },
      { ...session, sid: 's3', kind: 'login', program: 'curl', system: '', network: '::/56' },
      { ...session, sid: 's4', network: '192.168.7.0/24' },
    ],
  }),
  'account-sessions-hostile': sessionsPage({
    ...form,
    frame: accountFrame(frame, 'sessions'),
    current: '',
    logout_url: 'javascript:alert(14)',
    done: hostile,
    sessions: [{ ...session, sid: hostile, program: hostile, system: hostile, network: hostile, seen_at: hostile }],
  }),
  'account-password': passwordPage({ ...password, frame: accountFrame(frame, 'password'), done: 'changed' }),
  'account-password-wrong': passwordPage({
    ...password,
    frame: accountFrame(frame, 'password'),
    problem: 'wrong_current',
    end_others: false,
  }),
  'account-password-guessable': passwordPage({
    ...password,
    frame: accountFrame(frame, 'password'),
    problem: { refusal: 'guessable', score: 1, warning: 'userInputs', min_length: 8 },
  }),
  'account-password-hostile': passwordPage({
    ...password,
    frame: accountFrame(frame, 'password'),
    username: hostile,
    strength_url: hostile,
    has_password: false,
    asks_current: false,
    done: hostile,
  }),
  'account-applications': applicationsPage({
    ...form,
    frame: accountFrame(frame, 'applications'),
    applications: [
      {
        client: { client_id: 'demo-web', client_name: 'Notes', client_host: 'notes.example.test' },
        scopes: [
          { name: 'openid', description: 'Know that you are you', agreed: true },
          { name: 'urn:notes:archive', description: null, agreed: true },
        ],
        resource: ['https://notes.example.test'],
        offline_access: true,
        offline_agreed: true,
        has_access: true,
        since: '2025-06-01T10:00:00Z',
        last_used: '2025-11-20T19:23:00Z',
      },
    ],
  }),
  'account-profile': profilePage({
    ...form,
    frame: accountFrame(frame, 'profile'),
    wrong: 'birthdate',
    fields: [
      { name: 'name', value: 'Ada Lovelace' },
      { name: 'birthdate', value: '10.12.1815' },
      {
        name: 'locale',
        value: 'tlh',
        choices: [
          ['en', 'English'],
          ['de', 'Deutsch'],
        ],
      },
    ],
  }),
  'account-profile-fixed': profilePage({ ...form, frame: accountFrame(frame, 'profile'), fields: [], done: 'saved' }),
  'account-profile-hostile': profilePage({
    ...form,
    frame: accountFrame(frame, 'profile'),
    fields: [
      { name: 'name', value: hostile },
      { name: 'locale', value: hostile, choices: [] },
    ],
    done: hostile,
  }),
  'account-activity': activityPage({
    frame: accountFrame(frame, 'activity'),
    events: [
      { at: '2025-11-20T19:23:00Z', event: 'consent', client_name: 'Notes', by: 'you', network: '192.0.2.0/24' },
      { at: '2025-11-20T19:22:00Z', event: 'user_enabled', client_name: null, by: 'operator', network: null },
    ],
    older_url: '/account/activity?before=1',
    newest_url: '/account/activity',
  }),
  'account-activity-hostile': activityPage({
    frame: accountFrame(frame, 'activity'),
    events: [{ at: hostile, event: hostile as 'sign_in', client_name: hostile, by: 'you', network: hostile }],
    older_url: 'javascript:alert(15)',
    newest_url: undefined,
  }),
  'account-data': dataPage({ ...form, frame: accountFrame(frame, 'data') }),
  'account-delete': deletePage({
    ...form,
    frame: accountFrame(frame, 'delete'),
    erase_after: null,
    data_url: '/account/data',
  }),
  'account-delete-keep': deletePage({
    ...form,
    frame: accountFrame(frame, 'delete'),
    erase_after: '2025-11-27T19:23:00Z',
    data_url: '/account/data',
  }),
  'account-deleted': deletedPage(frame, { erase_after: '2025-11-27T19:23:00Z', login_url: '/login' }),
  'own-password': ownPasswordPage({
    frame,
    action: '/interaction/1/new-password',
    form_token: 'form-token',
    client: { client_id: 'demo-web', client_name: 'Notes' },
    person: ada,
    username: 'ada',
    has_password: true,
    drawn: true,
    asks_current: false,
    end_others: true,
    min_length: 8,
    strength_url: '/password-strength',
    problem: { refusal: 'drawn', score: 4, warning: null, min_length: 8 },
    request_id: '01JD0000000000000000000000',
  }),
  'account-keep': keepAccountPage({
    frame,
    action: '/interaction/1/keep-account',
    form_token: 'form-token',
    client: { client_id: 'demo-web', client_name: 'Notes' },
    person: ada,
    erase_after: '2025-11-27T19:23:00Z',
  }),
  'account-applications-none': applicationsPage({
    ...form,
    frame: accountFrame(frame, 'applications'),
    applications: [],
    done: 'revoked',
  }),
  'account-applications-hostile': applicationsPage({
    ...form,
    frame: accountFrame(frame, 'applications'),
    applications: [
      {
        client: { client_id: hostile, client_name: hostile, client_host: hostile, registered_by: 'self' },
        scopes: [{ name: hostile, description: hostile, agreed: true }],
        resource: [hostile],
        offline_access: false,
        offline_agreed: false,
        has_access: false,
        since: hostile,
        last_used: null,
      },
    ],
  }),
});
