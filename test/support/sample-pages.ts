/** Every page with props as they come in life, and with the worst that strangers may put in them. */
import { claimSentence, scopeSentence } from '../../src/views/claims.ts';
import type { ClientView } from '../../src/views/client.ts';
import { deviceDonePage, devicePage } from '../../src/views/device.ts';
import { consentPage } from '../../src/views/consent.ts';
import { errorPage } from '../../src/views/error.ts';
import { formPostPage } from '../../src/views/form-post.ts';
import type { Html } from '../../src/views/html.ts';
import type { Frame } from '../../src/views/layout.ts';
import { loginPage } from '../../src/views/login.ts';
import { logoutPage } from '../../src/views/logout.ts';
import { adviceSentences } from '../../src/views/sentences/advice.ts';
import { deviceSentences } from '../../src/views/sentences/device.ts';
import { errorSentences } from '../../src/views/sentences/error.ts';
import { loginSentences } from '../../src/views/sentences/login.ts';
import { passkeySentences } from '../../src/views/sentences/passkey.ts';
import { selectAccountPage } from '../../src/views/select-account.ts';
import { signedOutPage } from '../../src/views/signed-out.ts';
import { accountSamples } from './sample-pages/account.ts';
import { passkeySamples } from './sample-pages/passkeys.ts';
import { developerSamples } from './sample-pages/developers.ts';
import { recoverySamples } from './sample-pages/recovery.ts';
import { frame as english, hostile, nonce } from './sample-pages/frame.ts';
import { registrationSamples } from './sample-pages/registration.ts';
import { secondFactorSamples } from './sample-pages/second-factor.ts';
import { upstreamSamples } from './sample-pages/upstream.ts';

export { hostile };
export const frame = english;

/** As http sends them. */
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; script-src 'nonce-${nonce}' 'strict-dynamic'; style-src 'nonce-${nonce}'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; object-src 'none'`,
};

/** The headers of one page, which may frame others. */
export const headersOf = (name: string): Record<string, string> => ({
  ...pageHeaders,
  ...(name === 'signed-out-told' && {
    'content-security-policy': `${pageHeaders['content-security-policy']}; frame-src https://notes.example.test`,
  }),
});

/** Pages that leave by themselves, and so are not there to be looked at in a browser. */
export const FLEETING = ['form-post', 'signed-out', 'signed-out-native'];

export const notes: ClientView = {
  client_id: 'demo-web',
  client_name: 'Notes',
  client_host: 'notes.example.test',
  policy_uri: 'https://notes.example.test/privacy',
  tos_uri: 'https://notes.example.test/terms',
  registered_by: 'operator',
};
const longClient: ClientView = {
  client_id: 'long',
  client_name:
    'The Inter-Departmental Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
  client_host: 'a-very-long-subdomain-of-somebody.who-registers-long-names.example.test',
  registered_by: 'self',
};
const hostileClient: ClientView = {
  client_id: hostile,
  client_name: hostile,
  client_host: hostile,
  policy_uri: 'javascript:alert(3)',
  tos_uri: 'java\tscript:alert(4)',
  registered_by: 'self',
};

/** As dark and as light as a theme may be: what is written on its colours is legible. */
const themes = new Map([
  [null, { name: 'Example & Sons', color: '#0b5d3b', color_dark: '#7fd6ae', policy_uri: 'https://example.test/p' }],
]);

/** Each of them in the language of this frame. */
export function samplePages(frame: Frame): Record<string, Html> {
  const said = loginSentences(frame.lang);
  const errors = errorSentences(frame.lang);
  const ada = { sub: 'ada', name: 'Ada Lovelace', email: 'ada@example.test' };
  const form = { frame, form_token: 'form-token' };
  const login = { ...form, action: '/interaction/1/login', username: '', cancel: true };
  const passkey = {
    options: JSON.stringify({
      challenge: 'AAAA',
      rpId: 'id.example.test',
      allowCredentials: [],
      userVerification: 'required',
    }),
  };
  const details = [
    {
      sentence: 'Pay {/money} to {/recipient}',
      detail: {
        type: 'payment',
        money: { amount: '1234567.50', currency: 'EUR' },
        recipient: hostile,
        actions: ['initiate', hostile],
        parts: [{ to: 'DE02 1203 0000 0000 2020 51', share: 0.25, urgent: true }, {}],
      },
    },
    { sentence: 'Of {/nothing}', detail: { type: hostile, locations: [], [hostile]: null } },
  ];
  const consent = {
    ...form,
    action: '/interaction/1/consent',
    client: notes,
    person: ada,
    switch_url: '/interaction/1/select-account',
    redirect_origin: 'https://notes.example.test',
    lasts: 2_592_000,
    scopes: [
      {
        name: 'openid',
        description: scopeSentence(frame.lang, 'openid', { description: 'Know who you are in this service' }),
        group: 'identity' as const,
        is_new: false,
      },
      {
        name: 'profile',
        description: scopeSentence(frame.lang, 'profile', { description: 'See your name and profile' }),
        group: 'identity' as const,
        is_new: false,
      },
      { name: 'email', description: claimSentence(frame.lang, 'email'), group: 'identity' as const, is_new: true },
      { name: 'notes:read', description: 'Read your notes', group: 'access' as const, is_new: false },
      {
        name: 'notes:write',
        description: 'Write, change and delete your notes',
        group: 'access' as const,
        is_new: true,
      },
      { name: 'urn:notes:archive', description: null, group: 'access' as const, is_new: true },
      {
        name: 'offline_access',
        description: scopeSentence(frame.lang, 'offline_access', {
          description: 'Keep this access when you are signed out',
        }),
        group: 'offline' as const,
        is_new: true,
      },
    ],
    resource: ['https://notes.example.test'],
  };
  const error = {
    frame,
    error: 'invalid_request',
    error_description: 'redirect_uri is not one of those registered for this client',
    request_id: '0197f3a2-6c1e-7b5d-9f0a-3f1d2c4b5a69',
  };
  return {
    login: loginPage(login),
    'login-client': loginPage({ ...login, client: notes }),
    'login-passkey': loginPage({ ...login, client: notes, passkey }),
    'login-passkey-problem': loginPage({
      ...login,
      client: notes,
      passkey: { ...passkey, forget: 'AAAA' },
      problem: passkeySentences(frame.lang).passkey_unknown,
      problem_of_passkey: true,
    }),
    'login-problem': loginPage({
      ...login,
      client: notes,
      username: 'ada',
      problem: said.invalid_credentials,
      request_id: '0197f3a2-6c1e-7b5d-9f0a-3f1d2c4b5a69',
    }),
    'login-empty-problem': loginPage({ ...login, problem: said.invalid_request }),
    'login-again': loginPage({
      ...login,
      client: notes,
      username: 'ada',
      fixed_account: ada,
      switch_url: '/interaction/1/select-account',
      reason: said.fresh,
    }),
    'login-long': loginPage({ ...login, client: longClient, username: `${'a'.repeat(80)}@example.test` }),
    'login-hostile': loginPage({
      ...login,
      client: hostileClient,
      action: 'javascript:alert(5)',
      username: hostile,
      problem: hostile,
      request_id: hostile,
      reason: hostile,
      fixed_account: { name: hostile, email: hostile },
      switch_url: ' javascript:alert(6)',
    }),
    consent: consentPage(consent),
    'consent-first': consentPage({
      ...consent,
      client: { ...notes, registered_by: 'self' },
      scopes: consent.scopes.slice(0, 3).map((scope) => ({ ...scope, is_new: true })),
      resource: [],
    }),
    'consent-details-hostile': consentPage({ ...consent, details }),
    'consent-long': consentPage({
      ...consent,
      client: longClient,
      person: {
        name: 'Adolph Blaine Charles David Earl Frederick Gerald Hubert',
        email: `${'a'.repeat(60)}@example.test`,
      },
      redirect_origin: 'https://a-very-long-subdomain-of-somebody.who-registers-long-names.example.test:8443',
      resource: ['https://notes.example.test/a/long/path/that/goes/on', 'https://files.example.test', 'urn:other'],
      scopes: [
        ...consent.scopes,
        { name: `https://example.test/${'scope'.repeat(20)}`, description: null, group: 'access', is_new: true },
      ],
    }),
    'consent-hostile': consentPage({
      ...consent,
      client: hostileClient,
      person: { name: hostile, email: hostile },
      switch_url: 'data:text/html,<script>alert(7)</script>',
      redirect_origin: hostile,
      resource: [hostile],
      scopes: [
        { name: hostile, description: null, group: 'access', is_new: true },
        { name: 'x', description: hostile, group: 'identity', is_new: false },
      ],
    }),
    'select-account': selectAccountPage({ ...form, action: '/a', client: notes, people: [ada], cancel: true }),
    'select-account-several': selectAccountPage({
      ...form,
      action: '/a',
      client: notes,
      people: [
        ada,
        { sub: 'bob', name: 'Bob' },
        { sub: 'long', name: 'Adolph Blaine', email: `${'a'.repeat(60)}@b.test` },
      ],
      cancel: true,
    }),
    'select-account-hostile': selectAccountPage({
      ...form,
      action: '/a',
      client: hostileClient,
      people: [{ sub: hostile, name: hostile, email: hostile }],
      cancel: true,
    }),
    device: devicePage({ ...form, action: '/device', user_code: '' }),
    'device-problem': devicePage({
      ...form,
      action: '/device',
      user_code: 'BBBB-BBBB',
      problem: deviceSentences(frame.lang).wrong_code,
      request_id: 'r-1',
    }),
    'device-hostile': devicePage({ ...form, action: '/device', user_code: hostile, problem: hostile }),
    'device-approved': deviceDonePage({ frame, outcome: 'approved' }),
    'device-denied': deviceDonePage({ frame, outcome: 'denied' }),
    'login-themed': loginPage({ ...login, frame: { ...frame, themes }, client: notes }),
    'logout-themed': logoutPage({ ...form, frame: { ...frame, themes }, action: '/logout', hidden: {} }),
    error: errorPage(error),
    'error-dev': errorPage({
      ...error,
      frame: { ...frame, dev: true },
      details: [
        ['Received redirect_uri', 'https://notes.example.test/callback?x=1'],
        ['Registered redirect_uri', 'https://notes.example.test/callback'],
      ],
    }),
    'error-expired': errorPage({
      ...error,
      heading: errors.stale,
      advice: adviceSentences(frame.lang).stale,
      link: { href: 'https://notes.example.test/', place: 'Notes' },
    }),
    'error-hostile': errorPage({
      frame,
      error: hostile,
      error_description: hostile,
      request_id: hostile,
      heading: hostile,
      advice: hostile,
      link: { href: 'vbscript:alert(8)', place: hostile },
      details: [[hostile, hostile]],
    }),
    'form-post': formPostPage({
      frame,
      action: 'https://notes.example.test/callback',
      fields: { code: 'spl-code', state: hostile, submit: 'not a method' },
    }),
    logout: logoutPage({ ...form, action: '/logout', person: ada, client: notes, hidden: { state: 'a"b' } }),
    'logout-unregistered': logoutPage({
      ...form,
      action: '/logout',
      person: ada,
      client: notes,
      stays: true,
      hidden: {},
    }),
    'logout-plain': logoutPage({ ...form, action: '/logout', hidden: {} }),
    'logout-several': logoutPage({ ...form, action: '/logout', person: ada, others: [{ name: 'Bob' }], hidden: {} }),
    'logout-hostile': logoutPage({
      ...form,
      action: '/logout',
      person: { name: hostile },
      others: [{ name: hostile }],
      client: hostileClient,
      hidden: { [hostile]: hostile },
    }),
    // These two go on by themselves.
    'signed-out': signedOutPage({ frame, client: notes, return_url: 'https://notes.example.test/' }),
    'signed-out-native': signedOutPage({ frame, client: notes, return_url: 'com.example.notes:/bye' }),
    'signed-out-told': signedOutPage({
      frame,
      notified: ['Notes', 'Calendar'],
      frames: ['https://notes.example.test/logout?iss=https%3A%2F%2Fid.example.test&sid=s'],
      others: [{ name: 'Bob' }],
    }),
    'signed-out-plain': signedOutPage({ frame }),
    'signed-out-hostile': signedOutPage({
      frame,
      client: hostileClient,
      return_url: '\u0001javascript:alert(9)',
      notified: [hostile],
      others: [{ name: hostile }],
    }),
    ...accountSamples(frame),
    ...registrationSamples(frame),
    ...secondFactorSamples(frame),
    ...passkeySamples(frame),
    ...upstreamSamples(frame),
    ...developerSamples(frame),
    ...recoverySamples(frame),
  };
}

export const pages = samplePages(frame);
