/** /logout: OpenID Connect RP-Initiated Logout 1.0, and what ends with a session. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  aUser,
  formTokenOf,
  introspect,
  refresh,
  signIn,
  someTokens,
  TestBrowser,
  userinfo,
} from '../support/fixtures.ts';
import type { AClient, ACode, Tokens } from '../support/fixtures.ts';
import { crossSitePost, expectErrorPage, follow, titleOf, valueOf } from '../support/pages.ts';

const ISSUER = 'https://id.example.test';
const DONE = `${ISSUER}/logout/done`;
const BYE = 'https://app.example.test/bye';
const BYE_QUERY = 'https://app.example.test/bye?from=us';
const SESSION = '__Host-postern_session';

let at: TestApp;
let client: AClient;
/** An ID token of somebody who is not signed in any more. */
let hint: string;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at, { post_logout_redirect_uris: [BYE, BYE_QUERY], skip_consent: true, client_name: 'Notes' });
  hint = (await signedIn()).tokens.id_token;
});
afterAll(() => at.close());

const signedIn = async (): Promise<ACode & { tokens: Tokens }> => someTokens(at, { client, user: await aUser(at) });
const isSignedIn = async (browser: TestBrowser): Promise<boolean> => (await browser.get('/account')).statusCode === 200;
const logoutUrl = (parameters: Record<string, string>): string =>
  `/logout?${new URLSearchParams(parameters).toString()}`;

/** Presses a button of the confirmation page, sending along what it hides. */
async function press(browser: TestBrowser, page: Awaited<ReturnType<TestBrowser['get']>>, action: string) {
  const hidden = [...page.body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  const fields = Object.fromEntries(hidden.map(([, name, value]) => [name!, value!.replaceAll('&amp;', '&')]));
  return browser.post('/logout', { ...fields, action });
}

test('RP-Initiated Logout §2: without parameters the person is asked, and then sees that they are signed out', async () => {
  const { browser } = await signedIn();
  const cookie = browser.cookies.get(SESSION)!;
  const page = await browser.get('/logout');
  expect([page.statusCode, titleOf(page)]).toEqual([200, 'Sign out of id.example.test']);
  expect(page.body).toContain('id="logout-confirm"');
  expect(await isSignedIn(browser)).toBe(true);
  const answer = await press(browser, page, 'logout');
  expect([answer.statusCode, answer.headers.location]).toEqual([303, DONE]);
  expect(browser.cookies.has(SESSION)).toBe(false);
  const done = await browser.get(DONE);
  expect(titleOf(done)).toBe('Signed out');
  expect(done.headers['clear-site-data']).toBe('"cache", "storage"');
  // ASVS 7.4.1: the cookie that was copied before is worth nothing either.
  browser.cookies.set(SESSION, cookie);
  expect(await isSignedIn(browser)).toBe(false);
});

test('"Stay signed in" keeps the session', async () => {
  const { browser } = await signedIn();
  const answer = await press(browser, await browser.get('/logout'), 'cancel');
  expect([answer.statusCode, answer.headers.location]).toEqual([303, `${ISSUER}/account`]);
  expect(await isSignedIn(browser)).toBe(true);
});

test('RP-Initiated Logout §2, §3: a hint of the person signed in signs out at once and leads back with exactly state', async () => {
  const { browser, tokens } = await signedIn();
  const state = `a b&c=d"'<é>\r\n`;
  const answer = await browser.get(logoutUrl({ id_token_hint: tokens.id_token, post_logout_redirect_uri: BYE, state }));
  expect(answer.statusCode).toBe(302);
  expect(answer.headers.location).toBe(`${BYE}?state=${encodeURIComponent(state)}`);
  expect(await isSignedIn(browser)).toBe(false);
});

test('RP-Initiated Logout §3: without state none is added, and a query of the uri stays', async () => {
  const first = await signedIn();
  const plain = logoutUrl({ id_token_hint: first.tokens.id_token, post_logout_redirect_uri: BYE });
  expect((await first.browser.get(plain)).headers.location).toBe(BYE);
  const second = await signedIn();
  const more = logoutUrl({ id_token_hint: second.tokens.id_token, post_logout_redirect_uri: BYE_QUERY, state: 's' });
  expect((await second.browser.get(more)).headers.location).toBe(`${BYE_QUERY}&state=s`);
});

test('RP-Initiated Logout §2: a hint that has expired is as good', async () => {
  const { browser, tokens } = await signedIn();
  at.clock.advance(7200);
  const url = logoutUrl({ id_token_hint: tokens.id_token, post_logout_redirect_uri: BYE });
  expect((await browser.get(url)).headers.location).toBe(BYE);
  expect(await isSignedIn(browser)).toBe(false);
});

test('RP-Initiated Logout §2: when nobody is signed in, a genuine hint still leads back', async () => {
  const { tokens } = await signedIn();
  const url = logoutUrl({ id_token_hint: tokens.id_token, post_logout_redirect_uri: BYE, state: 'x' });
  expect((await new TestBrowser(at).get(url)).headers.location).toBe(`${BYE}?state=x`);
  expect((await new TestBrowser(at).get('/logout')).headers.location).toBe(DONE);
});

test('RP-Initiated Logout §6: a hint of somebody else asks the person who is signed in', async () => {
  const { browser } = await signedIn();
  const url = logoutUrl({ id_token_hint: hint, post_logout_redirect_uri: BYE, state: 'x' });
  const page = await browser.get(url);
  expect([page.statusCode, page.headers.location]).toEqual([200, undefined]);
  expect(page.body).toContain('Notes');
  expect(await isSignedIn(browser)).toBe(true);
  expect((await press(browser, page, 'logout')).headers.location).toBe(`${BYE}?state=x`);
  expect(await isSignedIn(browser)).toBe(false);
});

test.each([
  'https://evil.example.test/',
  `${BYE}/`,
  `${BYE}?`,
  `${BYE}#x`,
  'https://APP.example.test/bye',
  'https://app.example.test/by%65',
  'https://app.example.test@evil.example.test/bye',
  '//evil.example.test',
  '/\\evil.example.test',
  'https:evil.example.test',
  'java\tscript:alert(1)',
  'https://app.example.test/callback',
])('ASVS 10.6.2: post_logout_redirect_uri %s, not registered, leads nowhere, and that is said', async (uri) => {
  const browser = new TestBrowser(at);
  const url = logoutUrl({ id_token_hint: hint, post_logout_redirect_uri: uri, state: 'x' });
  const page = await browser.get(url);
  expectErrorPage(page);
  expect(titleOf(page)).toBe('Error: This address isn’t registered');
  expect(page.body).toContain('Go to Notes');
  expect(page.body).not.toContain('evil');
});

test('RFC 6749 §3.1: a post_logout_redirect_uri without a value was not sent', async () => {
  const url = logoutUrl({ id_token_hint: hint, post_logout_redirect_uri: '' });
  expect((await new TestBrowser(at).get(url)).headers.location).toBe(DONE);
});

test('RP-Initiated Logout §3: with an address that is not registered nobody is signed out unasked, and nobody led there', async () => {
  const { browser, tokens } = await signedIn();
  const asked = { id_token_hint: tokens.id_token, post_logout_redirect_uri: `${BYE}/other`, state: 'x' };
  const page = await browser.get(logoutUrl(asked));
  expect([page.statusCode, titleOf(page)]).toEqual([200, 'Sign out of id.example.test']);
  expect(page.body).toContain('an address that it has not registered');
  expect(await isSignedIn(browser)).toBe(true);
  await at.deps.refusals.flush(at.clock.now());
  const kept = await at.deps.db.selectFrom('refusals').selectAll().where('client_id', '=', client.client_id).execute();
  expect(kept).toContainEqual(
    expect.objectContaining({ check: 'post_logout_redirect_uri', received: `${BYE}/other`, status: 200 }),
  );
  expect((await press(browser, page, 'logout')).headers.location).toBe(DONE);
  expect(await isSignedIn(browser)).toBe(false);
});

test('RP-Initiated Logout §2: a forged hint, an access token or no hint at all asks, and never leads back', async () => {
  const { browser, tokens } = await signedIn();
  const [header = '', payload = '', signature = ''] = tokens.id_token.split('.');
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  const tampered = Buffer.from(Buffer.from(payload, 'base64url').toString().replace('Ada', 'Eve')).toString(
    'base64url',
  );
  const hints = [`${header}.${tampered}.${signature}`, `${none}.${payload}.`, tokens.access_token, 'garbage', ''];
  for (const id_token_hint of hints) {
    const { client_id } = client;
    const page = await browser.get(logoutUrl({ id_token_hint, client_id, post_logout_redirect_uri: BYE, state: 'x' }));
    expect([page.statusCode, titleOf(page)]).toEqual([200, 'Sign out of id.example.test']);
    expect(await isSignedIn(browser)).toBe(true);
  }
  const page = await browser.get(logoutUrl({ id_token_hint: hints[0]!, post_logout_redirect_uri: BYE }));
  expect((await press(browser, page, 'logout')).headers.location).toBe(DONE);
});

test('RP-Initiated Logout §2: client_id that is not the audience of the hint is an error, and nothing happens', async () => {
  const { browser, tokens } = await signedIn();
  const other = await aClient(at, { post_logout_redirect_uris: [BYE] });
  const parameters = { id_token_hint: tokens.id_token, client_id: other.client_id, post_logout_redirect_uri: BYE };
  expectErrorPage(await browser.get(logoutUrl(parameters)));
  expect(await isSignedIn(browser)).toBe(true);
});

test('RP-Initiated Logout §2: another client’s hint does not open this client’s uris', async () => {
  const other = await aClient(at, { skip_consent: true });
  const { tokens, browser } = await someTokens(at, { client: other });
  const url = logoutUrl({ id_token_hint: tokens.id_token, post_logout_redirect_uri: BYE });
  const page = await browser.get(url);
  expect([page.statusCode, page.headers.location]).toEqual([200, undefined]);
  expect((await press(browser, page, 'logout')).headers.location).toBe(DONE);
});

test('RP-Initiated Logout §2: a POST of another site answers 303 to a GET of ours, which decides with the cookie in hand', async () => {
  const { browser, tokens } = await signedIn();
  const sent = { id_token_hint: tokens.id_token, post_logout_redirect_uri: BYE, state: 'é&' };
  const answer = await crossSitePost(at, '/logout', { ...sent, evil: 'x' });
  expect(answer.statusCode).toBe(303);
  expect(answer.headers.location).toBe(`${ISSUER}${logoutUrl(sent)}`);
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect(await isSignedIn(browser)).toBe(true);
  const end = await follow(browser, await browser.get(answer.headers.location!));
  expect(end.response.headers.location).toBe(`${BYE}?state=%C3%A9%26`);
});

test('a POST of another site with our cookies, but without our form token, signs nobody out', async () => {
  const { browser } = await signedIn();
  const evil = { origin: 'https://evil.example.test', 'sec-fetch-site': 'cross-site' };
  expect((await browser.post('/logout', { action: 'logout' }, evil)).headers.location).toMatch(/\/logout\?$/);
  expect(await isSignedIn(browser)).toBe(true);
  const form_token = formTokenOf(await browser.get('/logout'));
  expectErrorPage(await browser.post('/logout', { action: 'logout', form_token }, evil));
  expectErrorPage(await browser.post('/logout', { action: 'logout', form_token: 'x' }));
  expect(await isSignedIn(browser)).toBe(true);
});

test('RFC 6749 §10.12: the sign-out page of one session does not end another', async () => {
  const { browser } = await signedIn();
  const page = await browser.get('/logout');
  const user = await aUser(at);
  const form_token = formTokenOf(await browser.get('/login'));
  await browser.post('/login', { username: user.username, password: 'correct horse battery staple', form_token });
  expectErrorPage(await press(browser, page, 'logout'));
  expect(await isSignedIn(browser)).toBe(true);
});

test('grants without offline_access end with the session, those with it outlive it', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const online = await someTokens(at, { client, user, browser });
  const offline = await someTokens(at, { client, user, browser, parameters: { scope: 'openid offline_access' } });
  await press(browser, await browser.get('/logout'), 'logout');
  expect((await userinfo(at, online.tokens.access_token)).statusCode).toBe(401);
  expect(await introspect(at, client, online.tokens.refresh_token)).toEqual({ active: false });
  expect((await refresh(at, client, online.tokens.refresh_token)).json()).toMatchObject({ error: 'invalid_grant' });
  expect((await userinfo(at, offline.tokens.access_token)).statusCode).toBe(200);
  expect((await refresh(at, client, offline.tokens.refresh_token)).statusCode).toBe(200);
  const rows = await at.deps.db.selectFrom('audit_events').selectAll().where('sub', '=', user.sub).execute();
  expect(rows.find(({ event }) => event === 'sign_out')).toMatchObject({ detail: { grants_revoked: 1 } });
});

test('what was granted before a re-authentication ends with the session, too', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const { tokens } = await someTokens(at, { client, user, browser });
  const form_token = formTokenOf(await browser.get('/login'));
  await browser.post('/login', { username: user.username, password: 'correct horse battery staple', form_token });
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(200);
  await press(browser, await browser.get('/logout'), 'logout');
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(401);
});

test('a session that merely expires takes nothing with it, and a sign-out elsewhere neither', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const { tokens } = await someTokens(at, { client, user, browser });
  const elsewhere = await signIn(at, user);
  await press(elsewhere, await elsewhere.get('/logout'), 'logout');
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(200);
  at.clock.advance(86_401);
  expect(await isSignedIn(browser)).toBe(false);
  await browser.get('/logout');
  expect((await refresh(at, client, tokens.refresh_token)).statusCode).toBe(200);
});

test('hostile parameters of /logout are answered on a page, or ignored', async () => {
  const { browser } = await signedIn();
  for (const query of ['state=a&state=b', 'id_token_hint=%00', 'state=%zz', 'post_logout_redirect_uri=%ff']) {
    expectErrorPage(await browser.get(`/logout?${query}`));
  }
  const page = await browser.get(`/logout?state=${encodeURIComponent('"><script>')}&client_id=nobody`);
  expect(page.statusCode).toBe(200);
  expect(valueOf(page, 'state')).toBe('&quot;&gt;&lt;script&gt;');
  expect(await isSignedIn(browser)).toBe(true);
});

test('RFC 9110 §15.5.6: no other method signs anybody out', async () => {
  const { browser } = await signedIn();
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  for (const method of ['HEAD', 'PUT', 'DELETE', 'PATCH'] as const) {
    const answer = await at.app.inject({ method, url: '/logout', headers: { host: 'id.example.test', cookie } });
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, POST']);
  }
  expect(await isSignedIn(browser)).toBe(true);
});

test('a hint of an earlier session of the same person asks: an old token must not sign anybody out', async () => {
  const { tokens, client, user, browser } = await someTokens(at);
  await browser.post('/logout', { action: 'logout', form_token: formTokenOf(await browser.get('/logout')) });
  const again = await signIn(at, user);
  const asked = await again.get(`/logout?id_token_hint=${tokens.id_token}&client_id=${client.client_id}`);
  expect(asked.statusCode).toBe(200);
  expect(asked.body).toContain('logout-confirm');
  expect((await again.get('/account')).statusCode).toBe(200);
});

test('a hint of an earlier session leads back once the person has confirmed', async () => {
  const bye = await aClient(at, { post_logout_redirect_uris: [BYE] });
  const { tokens, user, browser } = await someTokens(at, { client: bye });
  await browser.post('/logout', { action: 'logout', form_token: formTokenOf(await browser.get('/logout')) });
  const again = await signIn(at, user);
  const hidden = { id_token_hint: tokens.id_token, post_logout_redirect_uri: BYE, state: 'back' };
  const asked = await again.get(`/logout?${new URLSearchParams(hidden).toString()}`);
  expect(asked.statusCode).toBe(200);
  const answer = await again.post('/logout', { ...hidden, action: 'logout', form_token: formTokenOf(asked) });
  expect(answer.headers.location).toBe(`${BYE}?state=back`);
});
