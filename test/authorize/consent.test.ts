/** Consent: who agreed to what, for which client and resource, how long it is remembered, and whose click counts. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  aPublicClient,
  aScope,
  aUser,
  authorize,
  aVerifier,
  formTokenOf,
  signIn,
  someTokens,
} from '../support/fixtures.ts';
import { refresh, type AClient, type TestBrowser } from '../support/fixtures.ts';
import { answerTo, expectErrorPage, follow, open, proceed, signInAt, stepOf, submit } from '../support/pages.ts';
import { aResource } from '../support/oauth.ts';

const NOTES = 'https://notes.example.test';
let at: TestApp;
let client: AClient;
beforeAll(async () => {
  at = await testApp();
  await aScope(at, 'notes:write', { description: 'Write <b>your</b> notes', for_machines: false });
  await aScope(at, 'notes:raw', { for_machines: false });
  await aResource(at, NOTES);
  client = await aClient(at, {
    client_name: 'Notes <script>',
    client_uri: 'https://notes-app.example.test/about',
    scope: 'openid profile email offline_access notes:write notes:raw',
  });
});
afterAll(() => at.close());

const someone = async (): Promise<TestBrowser> => signIn(at, await aUser(at));
const PKCE = { code_challenge: aVerifier().code_challenge, code_challenge_method: 'S256' };

test('specification §What the service does 1: consent is obtained to a set of scopes, before any code', async () => {
  const page = await open(await someone(), client, { scope: 'openid email notes:write notes:raw offline_access' });
  expect(stepOf(page)).toBe('consent');
  const { body } = page.response;
  expect(body).toContain('Notes &lt;script&gt;');
  expect(body).toContain('notes-app.example.test');
  expect(body).toContain('https://app.example.test</b>');
  expect(body).toContain('See your e-mail address');
  expect(body).toContain('Write &lt;b&gt;your&lt;/b&gt; notes');
  expect(body).toContain('notes:raw');
  expect(body).toContain('Keep this access when you are signed out');
  expect(body).not.toContain('See your name and profile');
});

test('RFC 6749 §4.1.2.1: Deny returns access_denied with state and iss, and nothing is remembered', async () => {
  const browser = await someone();
  const { response } = await proceed(browser, await open(browser, client), { action: 'deny' });
  expect(answerTo(client, response)).toMatchObject({ error: 'access_denied', state: 'a state', iss: browser.issuer });
  expect(stepOf(await open(browser, client))).toBe('consent');
});

test('a consent is remembered: the same or fewer scopes do not ask again, a new one does and is marked', async () => {
  const browser = await someone();
  await authorize(browser, client, { scope: 'openid profile' });
  expect((await authorize(browser, client, { scope: 'openid profile' })).get('code')).not.toBeNull();
  expect(answerTo(client, (await open(browser, client, { scope: 'profile' })).response)).toHaveProperty('code');
  const page = await open(browser, client, { scope: 'openid profile email' });
  expect(stepOf(page)).toBe('consent');
  expect(page.response.body.match(/class="new"/g)).toHaveLength(1);
  await proceed(browser, page, { action: 'approve' });
  const all = await open(browser, client, { scope: 'email profile openid' });
  expect(answerTo(client, all.response)).toHaveProperty('code');
});

test('consent is per person, per client and per resource', async () => {
  const browser = await someone();
  await authorize(browser, client, { scope: 'openid' });
  expect(stepOf(await open(await someone(), client, { scope: 'openid' }))).toBe('consent');
  expect(stepOf(await open(browser, await aClient(at), { scope: 'openid' }))).toBe('consent');
  const page = await open(browser, client, { scope: 'openid', resource: NOTES });
  expect(stepOf(page)).toBe('consent');
  await proceed(browser, page, { action: 'approve' });
  const again = await open(browser, client, { scope: 'openid', resource: NOTES });
  expect(answerTo(client, again.response)).toHaveProperty('code');
});

test('RFC 8252 §8.6: a public native client is asked for every time, a public web client once', async () => {
  const native = await aPublicClient(at, { application_type: 'native', redirect_uris: ['com.example.app:/cb'] });
  const spa = await aPublicClient(at);
  const browser = await someone();
  for (let times = 0; times < 2; times += 1) {
    const page = await open(browser, native, PKCE);
    expect(stepOf(page)).toBe('consent');
    expect(answerTo(native, (await proceed(browser, page, { action: 'approve' })).response)).toHaveProperty('code');
  }
  await authorize(browser, spa, PKCE);
  expect(answerTo(spa, (await open(browser, spa, PKCE)).response)).toHaveProperty('code');
});

test('skip_consent skips it, and a public native client cannot have it', async () => {
  const own = await aClient(at, { skip_consent: true });
  expect(answerTo(own, (await open(await someone(), own)).response)).toHaveProperty('code');
  const redirect_uris = ['com.example.app:/cb'];
  await expect(aPublicClient(at, { application_type: 'native', redirect_uris, skip_consent: true })).rejects.toThrow(
    /skip_consent/,
  );
});

test('approved five times at once: one code, one consent, no 5xx', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const page = await open(browser, client);
  const answers = await Promise.all(Array.from({ length: 5 }, () => submit(browser, page, { action: 'approve' })));
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([303]));
  const codes = await Promise.all(answers.map(({ headers }) => browser.get(headers.location!)));
  expect(codes.filter(({ statusCode }) => statusCode === 302)).toHaveLength(1);
  const rows = await at.deps.db.selectFrom('consents').selectAll().where('sub', '=', user.sub).execute();
  expect(rows).toHaveLength(1);
  const grants = await at.deps.db.selectFrom('grants').selectAll().where('sub', '=', user.sub).execute();
  expect(grants).toHaveLength(1);
});

test('RFC 6749 §10.12: the page shown to one person cannot be approved in the name of another', async () => {
  const browser = await someone();
  const bob = await aUser(at);
  const page = await open(browser, client);
  expect(stepOf(page)).toBe('consent');
  // In another tab somebody else signs in.
  const other = await browser.get('/login');
  const signedIn = await browser.post('/login', {
    username: bob.username,
    password: 'correct horse battery staple',
    form_token: formTokenOf(other),
  });
  expect(signedIn.statusCode).toBe(303);
  expectErrorPage(await submit(browser, page, { action: 'approve' }));
  expect(await at.deps.db.selectFrom('consents').selectAll().where('sub', '=', bob.sub).execute()).toEqual([]);
  // Nor does what the first agreed to count for the second.
  const now = await follow(browser, await browser.get(page.url.replace('/consent', '')));
  expect(stepOf(now)).toBe('consent');
  expect(now.response.body).toContain(bob.email);
});

test('"Not you?" on the consent page: what the first person approved does not count for the next', async () => {
  const browser = await someone();
  const bob = await aUser(at);
  const page = await open(browser, client);
  const approved = await submit(browser, page, { action: 'approve' });
  expect(approved.statusCode).toBe(303);
  // Before the answer is fetched, another tab signs in as somebody else on this very request.
  const login = {
    url: page.url.replace('/consent', '/login'),
    response: await browser.get(page.url.replace('/consent', '/login?switch')),
  };
  at.clock.advance(1);
  expect(stepOf(await signInAt(browser, login, bob))).toBe('consent');
});

test('after signing out in another tab, an old consent page approves nothing', async () => {
  const browser = await someone();
  const page = await open(browser, client);
  const logout = await browser.get('/logout');
  await browser.post('/logout', { form_token: formTokenOf(logout), action: 'logout' });
  expectErrorPage(await submit(browser, page, { action: 'approve' }));
  expect(stepOf(await follow(browser, await browser.get(page.url.replace('/consent', ''))))).toBe('login');
});

test('a consent outlives the grants made under it, also one that died of a replay', async () => {
  const user = await aUser(at);
  const { tokens, browser } = await someTokens(at, { client, user });
  expect((await refresh(at, client, tokens.refresh_token)).statusCode).toBe(200);
  at.clock.advance(at.deps.config.REFRESH_TOKEN_RETRY_WINDOW + 1);
  expect((await refresh(at, client, tokens.refresh_token)).statusCode).toBe(400);
  expect(answerTo(client, (await open(browser, client)).response)).toHaveProperty('code');
});

test('consent and its refusal leave a row in the audit, with who, which client and what scope', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  await proceed(browser, await open(browser, client, { scope: 'openid' }), { action: 'deny' });
  await authorize(browser, client, { scope: 'openid' });
  const rows = await at.deps.db
    .selectFrom('audit_events')
    .selectAll()
    .where('sub', '=', user.sub)
    .orderBy('event_id')
    .execute();
  const consents = rows.filter(({ event }) => event.startsWith('consent'));
  expect(consents).toMatchObject([
    { event: 'consent_denied', client_id: client.client_id, detail: { scope: ['openid'], resource: '' } },
    { event: 'consent', client_id: client.client_id, ip: '127.0.0.1' },
  ]);
});
