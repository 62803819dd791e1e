/** What every page tells the browser: their policy, caching, referrers, framing, and transport. */
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildApp } from '../../../src/app.ts';
import { configWith } from '../../../src/config.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { aClient, aUser, signIn, TestBrowser, type AClient } from '../../support/fixtures.ts';
import { follow, open, type At } from '../../support/pages.ts';

let at: TestApp;
let client: AClient;
let browser: TestBrowser;
let skipping: AClient;
let stranger: TestBrowser;
/** Of somebody whose password was drawn for them. */
let drawn: TestBrowser;
const pages = new Map<string, LightMyRequestResponse>();
const page = (walked: Promise<At>): Promise<LightMyRequestResponse> => walked.then(({ response }) => response);

/** Every page, and how one comes there. */
const ways: Readonly<Record<string, () => Promise<LightMyRequestResponse>>> = {
  'sign-in': () => page(open(stranger, client)),
  consent: () => page(open(browser, client)),
  'select account': () => page(open(browser, client, { prompt: 'select_account' })),
  error: () => stranger.get('/authorize'),
  'not found': () => stranger.get('/nowhere'),
  'form post': () => page(open(browser, skipping, { response_mode: 'form_post' })),
  'form post of a JWT': () => page(open(browser, skipping, { response_mode: 'form_post.jwt' })),
  'own sign-in': () => stranger.get('/login'),
  registration: () => stranger.get('/signup'),
  'stale link': () => stranger.get('/verify/none'),
  'sign-in by mail': () => stranger.get('/login/email'),
  'link of a sign-in by mail that is over': () => stranger.get('/login/link/none'),
  'invitation that is over': () => stranger.get('/invitation/none'),
  device: () => browser.get('/device'),
  account: () => browser.get('/account'),
  'account passkeys': () => browser.get('/account/passkeys'),
  'account: authenticator': () => browser.get('/account/authenticator'),
  'account: recovery codes': () => browser.get('/account/recovery-codes'),
  'second factor': () => page(open(browser, client, { acr_values: '2' })),
  'own password': () => page(open(drawn, client)),
  'account email': () => browser.get('/account/email'),
  'account applications': () => browser.get('/account/applications'),
  'account profile': () => browser.get('/account/profile'),
  'account activity': () => browser.get('/account/activity'),
  'account data': () => browser.get('/account/data'),
  'account delete': () => browser.get('/account/delete'),
  'account connections': () => browser.get('/account/connections'),
  'account password': () => browser.get('/account/password'),
  'account sessions': () => browser.get('/account/sessions'),
  'forgotten password': () => stranger.get('/forgot-password'),
  'link that is over': () => stranger.get('/reset-password/x'),
  'sign-out': () => browser.get('/logout'),
  'signed out': () => stranger.get('/logout/done'),
  'wrong method': () => browser.post('/account', {}),
};
const names = Object.keys(ways);
const isOfAccount = (name: string): boolean => name.startsWith('account');

beforeAll(async () => {
  at = await testApp({ config: { SELF_REGISTRATION: 'on', EMAIL_SIGN_IN: 'on' } });
  client = await aClient(at);
  skipping = await aClient(at, { skip_consent: true });
  stranger = new TestBrowser(at);
  browser = await signIn(at, await aUser(at));
  const given = await aUser(at);
  const changed_at = at.clock.now();
  await at.deps.db
    .updateTable('password_credentials')
    .set({ changed_at, drawn_at: changed_at })
    .where('sub', '=', given.sub)
    .execute();
  drawn = await signIn(at, given);
  at.clock.advance(2);
  for (const [name, way] of Object.entries(ways)) pages.set(name, await way());
});
afterAll(() => at.close());

const policyOf = (page: LightMyRequestResponse): Map<string, string> =>
  new Map(
    String(page.headers['content-security-policy'])
      .split('; ')
      .map((directive) => [directive.split(' ')[0]!, directive.split(' ').slice(1).join(' ')]),
  );

test.each(names)('the policy of the %s page is exactly this', (name) => {
  const page = pages.get(name)!;
  const nonce = /script-src 'nonce-([\w-]{22})'/.exec(String(page.headers['content-security-policy']))?.[1];
  expect(Object.fromEntries(policyOf(page))).toEqual({
    'default-src': `'none'`,
    'script-src': `'nonce-${nonce}' 'strict-dynamic'`,
    'style-src': `'nonce-${nonce}'`,
    'img-src': `'self' data:`,
    'connect-src': `'self'`,
    'base-uri': `'none'`,
    'frame-ancestors': `'none'`,
    'object-src': `'none'`,
    // The forms of one lead to other servers.
    ...(isOfAccount(name) && name !== 'account connections' && { 'form-action': `'self'` }),
  });
  expect([...page.body.matchAll(/<(?:script|style)\b[^>]*>/g)].every(([tag]) => tag.includes(`nonce="${nonce}"`))).toBe(
    true,
  );
});

test.each(names)(
  'the %s page is not stored, not framed, not sniffed, and sends its referrer to itself only',
  (name) => {
    const { headers } = pages.get(name)!;
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
      'permissions-policy': 'publickey-credentials-get=(self), publickey-credentials-create=(self)',
    });
    expect(headers['cross-origin-opener-policy']).toBe(isOfAccount(name) ? 'same-origin' : undefined);
    expect(Object.keys(headers).filter((header) => header.startsWith('access-control-'))).toEqual([]);
    expect(headers['server'] ?? headers['x-powered-by']).toBeUndefined();
  },
);

test.each(names)(
  'RFC 9700 §4.2.4: the %s page loads nothing from elsewhere and has no inline handler or style',
  (name) => {
    const { body } = pages.get(name)!;
    const loaded = [...body.matchAll(/<(?:link|script|img|iframe|object|embed)\b[^>]*?\b(?:src|href)="([^"]*)"/gs)];
    expect(loaded.map(([, url]) => url!.split(',')[0])).toEqual(['data:image/svg+xml']);
    expect(body).not.toMatch(/\son[a-z]+="|\sstyle="|javascript:/);
    expect(body).toMatch(/<html lang="[a-z]/);
  },
);

test('every page has a nonce of its own', async () => {
  const nonces = [...pages.values()].map((page) => policyOf(page).get('style-src'));
  expect(new Set(nonces).size).toBe(names.length);
});

test('RFC 9700 §4.2.4: redirects carry the same headers as pages', async () => {
  const { headers } = await browser.get('/interaction/none');
  const redirect = await new TestBrowser(at).get('/account');
  for (const name of ['cache-control', 'referrer-policy', 'x-content-type-options']) {
    expect(redirect.headers[name]).toBe(headers[name]);
  }
});

test('ASVS 3.4.1: HSTS is sent by an https issuer only', async () => {
  const app = await buildApp({ ...at.deps, config: configWith(at.deps.config, { ISSUER: 'http://localhost:3000' }) });
  const answer = await app.inject({ url: '/login', headers: { host: 'localhost:3000' } });
  await app.close();
  expect(answer.headers['strict-transport-security']).toBeUndefined();
  expect(answer.headers['content-security-policy']).not.toContain('upgrade-insecure-requests');
});

test('ASVS 14.3.2: the answer to a script at /login is not stored either', async () => {
  const { headers } = await at.app.inject({ method: 'POST', url: '/login', payload: {} });
  expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
});

test('ASVS 13.4.2: in production no page shows what is meant for developers, nor a demo', async () => {
  for (const [name, page] of pages) {
    expect(page.body, name).not.toContain('<span>Development</span>');
    expect(page.body, name).not.toContain('<details open');
    expect(page.body, name).not.toMatch(/node_modules|\.ts:\d+/);
  }
  expect((await follow(browser, await browser.get('/demo'))).response.statusCode).toBe(404);
});
