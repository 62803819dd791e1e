/** The pages of the account. */
import { accountPages, type AccountPageName } from '../../../src/protocol/endpoint.ts';
import type { AccountFrame } from '../../../src/views/account/frame.ts';
import { overviewPage } from '../../../src/views/account/overview.ts';
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

export const accountSamples = (frame: Frame) => ({
  account: overviewPage({
    ...form,
    frame: accountFrame(frame, 'overview'),
    person: { ...ada, username: 'ada', email_verified: true },
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
      { ...session, sid: 's3', kind: 'login', program: 'curl', system: '' },
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
});
