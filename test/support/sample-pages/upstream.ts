/** Providers on the sign-in page, the question whether to connect one, and the page of the account about them. */
import { connectionsPage } from '../../../src/views/account/connections.ts';
import type { Frame } from '../../../src/views/layout.ts';
import { loginPage } from '../../../src/views/login.ts';
import { upstreamSentences } from '../../../src/views/sentences/upstream.ts';
import { connectPage } from '../../../src/views/upstream.ts';
import { accountFrame } from './account.ts';
import { hostile } from './frame.ts';

const form = { form_token: 'form-token' };
const icon =
  'data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCA4IDgiPjxjaXJjbGUgY3g9IjQiIGN5PSI0IiByPSI0Ii8+PC9zdmc+';
const google = { upstream: 'google', label: 'Google', icon };
const work = { upstream: 'work', label: 'The company’s own sign-in', icon: null };
const connection = {
  upstream: 'google',
  upstream_sub: '4711',
  label: 'Google',
  name: 'ada@example.test',
  works: true,
  created_at: '2025-11-20T19:23:00Z',
  used_at: '2025-11-21T07:02:00Z',
};

export const upstreamSamples = (frame: Frame) => ({
  'login-upstreams': loginPage({
    ...form,
    frame,
    action: '/login',
    username: '',
    cancel: false,
    upstreams: [google, work],
    password_optional: true,
    note: upstreamSentences(frame.lang).connect({ upstream: 'Google' }),
  }),
  'login-everything': loginPage({
    ...form,
    frame,
    action: '/login',
    username: '',
    cancel: true,
    passkey: { options: JSON.stringify({ challenge: 'AAAA', rpId: 'id.example.test', allowCredentials: [] }) },
    forgot_url: '/forgot-password',
    signup_url: '/signup',
    email_url: '/login/email',
    upstreams: [google, work],
  }),
  connect: connectPage({ ...form, frame, action: '/interaction/x/connect', label: 'Google', name: 'ada@example.test' }),
  'connect-hostile': connectPage({ ...form, frame, action: '/interaction/x/connect', label: hostile, name: hostile }),
  'account-connections': connectionsPage({
    ...form,
    frame: accountFrame(frame, 'connections'),
    action: '/account/connections',
    connections: [
      connection,
      { ...connection, upstream: 'work', label: 'The company’s own sign-in', name: null, works: false },
    ],
    waiting: { label: 'GitHub', name: 'ada' },
    others: [work],
    done: 'connected',
  }),
  'account-connections-hostile': connectionsPage({
    ...form,
    frame: accountFrame(frame, 'connections'),
    action: '/account/connections',
    connections: [{ ...connection, upstream: 'x', label: hostile, name: hostile, upstream_sub: hostile }],
    waiting: { label: hostile, name: hostile },
    others: [{ ...work, label: hostile }],
    problem: hostile,
  }),
});
