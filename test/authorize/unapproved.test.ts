/** Open registration is no open redirector: RFC 9700 §4.11.2. */
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { setClientDisabled } from '../../src/clients/disabling.ts';
import type { User } from '../../src/store/users.ts';
import * as consents from '../../src/store/consents.ts';
import { transact } from '../../src/store/postgres/db.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  type AClient,
  aClient,
  aUser,
  authorizationUrl,
  authorize,
  BY,
  changeClient,
  signIn,
  someTokens,
  TestBrowser,
} from '../support/fixtures.ts';
import { answerTo, crossSitePost, expectErrorPage, follow, open, proceed, signInAt, submit } from '../support/pages.ts';

const ISSUER = 'https://id.example.test';
const CALLBACK = 'https://evil.example.test/callback';
let at: TestApp;
let client: AClient;
let user: User;
let browser: TestBrowser;
beforeAll(async () => {
  at = await testApp({ config: { REGISTRATION: 'open' } });
  client = await aStranger();
});
beforeEach(async () => {
  user = await aUser(at);
  browser = await signIn(at, user);
});
afterAll(() => at.close());

interface Made {
  client_id: string;
  client_secret?: string;
  redirect_uris: string[];
}

/** A client that registered itself. */
async function aStranger(metadata: Record<string, unknown> = {}): Promise<AClient> {
  const payload = { redirect_uris: [CALLBACK], client_name: 'Your Bank', ...metadata };
  const made = await at.app.inject({ method: 'POST', url: '/register', payload });
  expect(made.statusCode).toBe(201);
  const { client_id, client_secret, redirect_uris } = made.json<Made>();
  return { client_id, client_secret: client_secret ?? '', redirect_uri: redirect_uris[0]! };
}

const UNMET = { claims: JSON.stringify({ id_token: { acr: { values: ['none such'], essential: true } } }) };
const unescaped = (text: string): string => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"');
/** The way on that a page offers. */
const linkOn = (page: LightMyRequestResponse): string =>
  unescaped(/<a[^>]*id="onward"[^>]*href="([^"]*)"/.exec(page.body)?.[1] ?? '');

test.each<[what: string, parameters: Record<string, string>, error: string]>([
  ['a response_type that is not supported', { response_type: 'token' }, 'unsupported_response_type'],
  ['a scope nobody knows', { scope: 'nothing' }, 'invalid_scope'],
  ['prompt=none with another', { prompt: 'none login' }, 'invalid_request'],
  ['an acr that nobody can meet', UNMET, 'unmet_authentication_requirements'],
])(
  'RFC 9700 §4.11.2: a link with %s leads nobody, unasked, to a client that registered itself',
  async (_what, parameters, error) => {
    for (const of of [browser, new TestBrowser(at)]) {
      const { response } = await open(of, client, parameters);
      expectErrorPage(response, error);
      expect(response.body).toContain('Go to https://evil.example.test');
      expect(response.body).not.toContain('Your Bank');
      const answer = new URL(linkOn(response));
      expect(answer.origin + answer.pathname).toBe(CALLBACK);
      expect(Object.fromEntries(answer.searchParams)).toMatchObject({ error, state: 'a state', iss: ISSUER });
    }
    // A client of an operator's is told at once, as ever.
    const known = await aClient(at);
    expect(answerTo(known, (await open(browser, known, parameters)).response)).toMatchObject({ error });
  },
);

test('RFC 9700 §4.11.2: it is the person in this browser who has to have agreed, to this client, and not to have changed their mind', async () => {
  const asked = { response_type: 'token' };
  expect((await authorize(browser, client)).get('code')).toBeTruthy();
  const { response } = await open(browser, client, asked);
  expect(answerTo(client, response)).toMatchObject({ error: 'unsupported_response_type' });
  expectErrorPage((await open(await signIn(at, await aUser(at)), client, asked)).response, 'unsupported_response_type');
  expectErrorPage((await open(browser, await aStranger(), asked)).response, 'unsupported_response_type');
  await transact(at.deps.db, (trx) => consents.withdraw(trx, user.sub, client.client_id, at.clock.now()));
  expectErrorPage((await open(browser, client, asked)).response, 'unsupported_response_type');
});

test('RFC 9700 §4.11.2: a form of another site comes without our cookies: it leads nobody there either', async () => {
  const sent = { client_id: client.client_id, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid' };
  expectErrorPage(
    await crossSitePost(at, '/authorize', { ...sent, response_type: 'token' }),
    'unsupported_response_type',
  );
  const waiting = await crossSitePost(at, '/authorize', { ...sent, ...UNMET });
  const { response } = await follow(browser, waiting);
  expectErrorPage(response, 'unmet_authentication_requirements');
});

test('RFC 9700 §4.11.2: the silent case is exempted', async () => {
  const signedOut = new TestBrowser(at);
  const none = await open(signedOut, client, { prompt: 'none' });
  expect(answerTo(client, none.response)).toMatchObject({ error: 'login_required' });
  expect(answerTo(client, (await open(browser, client, { prompt: 'none' })).response)).toMatchObject({
    error: 'consent_required',
  });
  const wrong = await open(signedOut, client, { prompt: 'none', response_type: 'token' });
  expect(answerTo(client, wrong.response)).toMatchObject({ error: 'unsupported_response_type' });
});

test('RFC 9700 §4.11.2: who refuses, or signs in for the request, is led on by that', async () => {
  const page = await open(new TestBrowser(at), client);
  const stranger = new TestBrowser(at);
  const cancelled = await proceed(stranger, await open(stranger, client), { action: 'cancel' });
  expect(answerTo(client, cancelled.response)).toMatchObject({ error: 'access_denied' });
  expect(page.response.statusCode).toBe(200);
  const denied = await proceed(browser, await open(browser, client), { action: 'deny' });
  expect(answerTo(client, denied.response)).toMatchObject({ error: 'access_denied' });
  // Somebody else signs in than the request is about: asking again would not help.
  const claims = JSON.stringify({ id_token: { sub: { value: (await aUser(at)).sub } } });
  const fresh = new TestBrowser(at);
  const login = await open(fresh, client, { claims });
  at.clock.advance(1);
  expect(answerTo(client, (await signInAt(fresh, login, user)).response)).toMatchObject({ error: 'login_required' });
});

test('form_post: the page posts nothing by itself', async () => {
  const { response } = await open(browser, client, { response_mode: 'form_post', scope: 'nothing' });
  expectErrorPage(response, 'invalid_scope');
  expect(response.body).toMatch(/<form method="post" action="https:\/\/evil\.example\.test\/callback"/);
  expect(response.body).toContain('name="error" value="invalid_scope"');
  expect(response.headers['content-security-policy']).not.toContain('form-action');
});

test.each([
  ['jwt', /href="https:\/\/evil\.example\.test\/callback\?response=[\w-]+\.[\w-]+\.[\w-]+"/],
  ['form_post.jwt', /action="https:\/\/evil\.example\.test\/callback"[^>]*>\s*<input[^>]*name="response"/],
])('JARM §2.3: %s: the way on brings nothing but the JWT', async (response_mode, way) => {
  const { response } = await open(browser, client, { response_mode, scope: 'nothing' });
  expectErrorPage(response, 'invalid_scope');
  expect(response.body).toMatch(way);
  expect(response.body).not.toMatch(/name="(error|state|iss)"|[?&;](error|state|iss)=/);
});

test('RFC 8252 §7.1: a native application is named by its scheme', async () => {
  const native = await aStranger({
    redirect_uris: ['com.evil.app:/cb'],
    application_type: 'native',
    token_endpoint_auth_method: 'none',
  });
  const { response } = await open(browser, native, { scope: 'nothing' });
  expectErrorPage(response);
  expect(response.body).toContain('Go to com.evil.app:');
  expect(linkOn(response)).toMatch(/^com\.evil\.app:\/cb\?error=invalid_request&/);
});

test('OpenID Connect Core §4: /initiate leads to a client that somebody here has used, to others by their click', async () => {
  const initiate_login_uri = 'https://evil.example.test/start?a=b';
  const started = await aStranger({ initiate_login_uri });
  const url = `/initiate?client_id=${started.client_id}&login_hint=ada`;
  const page = await browser.get(url);
  expectErrorPage(page, 'access_denied');
  expect(page.body).toContain('Go to https://evil.example.test');
  const there = `${initiate_login_uri}&iss=${encodeURIComponent(ISSUER)}&login_hint=ada`;
  expect(linkOn(page)).toBe(there);
  expect((await authorize(browser, started)).get('code')).toBeTruthy();
  expect((await browser.get(url)).headers.location).toBe(there);
  expectErrorPage(await new TestBrowser(at).get(url), 'access_denied');
  await transact(at.deps.db, (trx) => setClientDisabled(trx, started.client_id, true, BY, at.clock.now()));
  at.deps.directory.clear();
  expectErrorPage(await browser.get(url));
});

test('RFC 9700 §4.11.2: a page’s way back to a client that registered itself is called by where it leads', async () => {
  const named = await aStranger({ client_uri: 'https://evil.example.test/' });
  const page = await browser.get(`/initiate?client_id=${named.client_id}`);
  expectErrorPage(page);
  expect(page.body).toContain('Go to https://evil.example.test');
  expect(page.body).not.toContain('Your Bank');
});

test('RP-Initiated Logout §3: where nobody signs out, an ID token of a client that registered itself leads nobody away', async () => {
  const bye = 'https://evil.example.test/bye';
  const leaver = await aStranger({ post_logout_redirect_uris: [bye] });
  const { tokens } = await someTokens(at, { client: leaver, user, browser, parameters: { scope: 'openid' } });
  const query = new URLSearchParams({ id_token_hint: tokens.id_token, post_logout_redirect_uri: bye, state: 'x' });
  const url = `/logout?${query.toString()}`;
  const victim = new TestBrowser(at);
  const page = await victim.get(url);
  expect([page.statusCode, page.headers.location, page.headers['refresh']]).toEqual([200, undefined, undefined]);
  expect(page.body).toContain('Go to https://evil.example.test');
  expect(page.body).toContain(`${bye}?state=x`);
  expect(page.body).not.toMatch(/http-equiv="refresh"/);
  // Somebody else's hint asks who is signed in; their answer leads on. So does the hint of this very session.
  const other = await signIn(at, await aUser(at));
  const asking = { url, response: await other.get(url) };
  expect(asking.response.statusCode).toBe(200);
  const answer = await submit(other, asking, {
    action: 'logout',
    id_token_hint: tokens.id_token,
    post_logout_redirect_uri: bye,
  });
  expect(answer.headers.location).toBe(bye);
  expect((await browser.get(url)).headers.location).toBe(`${bye}?state=x`);
});

test('an operator who lets a client skip consent has approved it', async () => {
  const skipped = await aStranger();
  await changeClient(at, skipped, { skip_consent: true });
  const response = await browser.get(authorizationUrl(ISSUER, skipped, { scope: 'nothing' }));
  expect(answerTo(skipped, response)).toMatchObject({ error: 'invalid_scope' });
});
