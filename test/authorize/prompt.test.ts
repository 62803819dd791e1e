/** prompt, max_age and the hints (OpenID Connect Core §3.1.2.1): when a person is asked, and what is said when nobody may be. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { User } from '../../src/store/users.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  aPublicClient,
  aUser,
  authorize,
  aVerifier,
  redeem,
  signIn,
  someTokens,
} from '../support/fixtures.ts';
import { formTokenOf, TestBrowser, type AClient, type Tokens } from '../support/fixtures.ts';
import { answerTo, open, proceed, signInAt, stepOf, titleOf, valueOf, type At } from '../support/pages.ts';

let at: TestApp;
let client: AClient;
let firstParty: AClient;
let ada: User;
let bob: User;
let browser: TestBrowser;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at);
  firstParty = await aClient(at, { skip_consent: true });
  ada = await aUser(at);
  bob = await aUser(at, { username: 'bob', claims: { name: 'Bob' } });
});
beforeEach(async () => {
  browser = await signIn(at, ada);
  at.clock.advance(5);
});
afterAll(() => at.close());

const answerOf = (walked: At, of: AClient = firstParty): Record<string, string> => answerTo(of, walked.response);

async function idTokenOf(answer: Record<string, string>, of: AClient = firstParty): Promise<Record<string, unknown>> {
  const given = { code: answer['code']!, code_verifier: '', client: of, browser, user: ada };
  const tokens = (await redeem(at, given, { code_verifier: undefined })).json<Tokens>();
  return JSON.parse(Buffer.from(tokens.id_token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;
}
const interactions = async (): Promise<number> =>
  (await at.deps.db.selectFrom('interactions').select('hash').execute()).length;

test('OpenID Connect Core §3.1.2.1: prompt=none without a session is login_required, and shows and stores nothing', async () => {
  const before = await interactions();
  const walked = await open(new TestBrowser(at), client, { prompt: 'none' });
  expect(answerOf(walked, client)).toMatchObject({ error: 'login_required', state: 'a state', iss: browser.issuer });
  expect(await interactions()).toBe(before);
});

test('OpenID Connect Core §3.1.2.1: prompt=none without consent is consent_required, and answers silently with it', async () => {
  const fresh = await aClient(at);
  const request = { prompt: 'none', scope: 'openid profile' };
  expect(answerOf(await open(browser, fresh, request), fresh)).toMatchObject({ error: 'consent_required' });
  await authorize(browser, fresh, { scope: 'openid profile' });
  expect(answerOf(await open(browser, fresh, request), fresh)).toHaveProperty('code');
  const more = answerOf(await open(browser, fresh, { ...request, scope: 'openid profile email' }), fresh);
  expect(more).toMatchObject({ error: 'consent_required' });
});

test('RFC 8252 §8.6: prompt=none is never enough for a public native client', async () => {
  const native = await aPublicClient(at, { application_type: 'native', redirect_uris: ['com.example.app:/cb'] });
  const pkce = { code_challenge: aVerifier().code_challenge, code_challenge_method: 'S256' };
  await authorize(browser, native, pkce);
  expect(answerOf(await open(browser, native, { ...pkce, prompt: 'none' }), native)).toMatchObject({
    error: 'consent_required',
  });
});

test.each(['none login', 'none consent', 'login none', 'select_account none', 'login none consent'])(
  'OpenID Connect Core §3.1.2.1: prompt="%s" is invalid_request',
  async (prompt) => {
    expect(answerOf(await open(browser, firstParty, { prompt }))).toMatchObject({ error: 'invalid_request' });
  },
);

test('OpenID Connect Core §3.1.2.1: prompt=login asks again in a live session, once, and auth_time is the new one', async () => {
  const page = await open(browser, firstParty, { prompt: 'login' });
  expect(stepOf(page)).toBe('login');
  expect(page.response.body).toContain('Confirm it’s you');
  expect(valueOf(page.response, 'username')).toBe(ada.username);
  // The page again, without signing in: still asked.
  expect(stepOf({ ...page, url: (await browser.get(page.url.replace('/login', ''))).headers.location! })).toBe('login');
  at.clock.advance(30);
  const answer = answerOf(await signInAt(browser, page, ada));
  const now = Math.floor(at.clock.now().getTime() / 1000);
  expect(await idTokenOf(answer)).toMatchObject({ auth_time: now, sub: ada.sub });
});

test('OpenID Connect Core §3.1.2.1: a sign-in in another tab satisfies prompt=login', async () => {
  const page = await open(browser, firstParty, { prompt: 'login' });
  const other = await open(browser, firstParty, { prompt: 'login' });
  at.clock.advance(1);
  expect(answerOf(await signInAt(browser, other, ada))).toHaveProperty('code');
  expect(answerTo(firstParty, await browser.get(page.url.replace('/login', '')))).toHaveProperty('code');
});

test('OpenID Connect Core §3.1.2.1, RFC 9470 §4: max_age asks only when the sign-in is older, and auth_time says how old it is', async () => {
  const signedInAt = Math.floor(at.clock.now().getTime() / 1000) - 5;
  const fresh = answerOf(await open(browser, firstParty, { max_age: '60' }));
  expect((await idTokenOf(fresh))['auth_time']).toBe(signedInAt);
  at.clock.advance(60);
  expect(answerOf(await open(browser, firstParty, { max_age: '60', prompt: 'none' }))).toMatchObject({
    error: 'login_required',
  });
  const page = await open(browser, firstParty, { max_age: '60' });
  expect(stepOf(page)).toBe('login');
  const answer = answerOf(await signInAt(browser, page, ada));
  expect((await idTokenOf(answer))['auth_time']).toBe(signedInAt + 65);
});

test('OpenID Connect Core §3.1.2.1: max_age=0 asks always, and a fresh sign-in satisfies it', async () => {
  const page = await open(browser, firstParty, { max_age: '0' });
  expect(stepOf(page)).toBe('login');
  expect(answerOf(await signInAt(browser, page, ada))).toHaveProperty('code');
});

test('OpenID Connect Core §3.1.2.1: prompt=consent asks although it is remembered, and although the client may skip it', async () => {
  await authorize(browser, client);
  expect(answerOf(await open(browser, client), client)).toHaveProperty('code');
  for (const of of [client, firstParty]) {
    const page = await open(browser, of, { prompt: 'consent' });
    expect(stepOf(page)).toBe('consent');
    expect(answerOf(await proceed(browser, page, { action: 'approve' }), of)).toHaveProperty('code');
  }
});

test('OpenID Connect Core §3.1.2.1: prompt=select_account shows who is signed in, and goes on as them', async () => {
  const page = await open(browser, firstParty, { prompt: 'select_account' });
  expect(stepOf(page)).toBe('select-account');
  expect(page.response.body).toContain('Ada Lovelace');
  expect(answerOf(await proceed(browser, page, { account: ada.sub }))).toHaveProperty('code');
});

test('another account can be chosen, and only a sign-in from then on counts', async () => {
  const page = await open(browser, firstParty, { prompt: 'select_account' });
  at.clock.advance(1);
  const login = await proceed(browser, page, { action: 'another' });
  expect(stepOf(login)).toBe('login');
  expect(login.response.body).not.toContain(ada.username);
  at.clock.advance(1);
  const answer = answerOf(await signInAt(browser, login, bob));
  expect((await idTokenOf(answer))['sub']).toBe(bob.sub);
});

test('Cancel on the account chooser returns access_denied', async () => {
  const page = await open(browser, firstParty, { prompt: 'select_account' });
  expect(answerOf(await proceed(browser, page, { action: 'cancel' }))).toMatchObject({ error: 'access_denied' });
});

test('a button that does not exist decides nothing', async () => {
  const page = await open(browser, firstParty, { prompt: 'select_account' });
  expect(stepOf(await proceed(browser, page, { action: 'toString' }))).toBe('select-account');
});

test('OpenID Connect Core §3.1.2.1: select_account without a session is a sign-in, which is choice enough', async () => {
  const stranger = new TestBrowser(at);
  const page = await open(stranger, firstParty, { prompt: 'select_account' });
  expect(stepOf(page)).toBe('login');
  expect(answerOf(await signInAt(stranger, page, ada))).toHaveProperty('code');
});

test('OpenID Connect Core §3.1.2.1: login, select_account and consent together ask for each, in this order', async () => {
  const page = await open(browser, client, { prompt: 'consent select_account login' });
  expect(stepOf(page)).toBe('login');
  at.clock.advance(1);
  const next = await signInAt(browser, page, ada);
  expect(stepOf(next)).toBe('consent');
  expect(answerOf(await proceed(browser, next, { action: 'approve' }), client)).toHaveProperty('code');
});

test('OpenID Connect Core §3.1.2.1: login_hint prefills the name, whatever it holds', async () => {
  const stranger = new TestBrowser(at);
  const hinted = (login_hint: string) => open(stranger, client, { login_hint });
  expect(valueOf((await hinted('ada@example.test')).response, 'username')).toBe('ada@example.test');
  expect(valueOf((await hinted(`"><script>alert('1')`)).response, 'username')).toBe(
    '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)',
  );
  expect(valueOf((await hinted('x'.repeat(320))).response, 'username')).toHaveLength(320);
});

test('OpenID Connect Core §3.1.2.1: id_token_hint, also an expired one, selects the session', async () => {
  const { tokens } = await someTokens(at, { client: firstParty, user: ada, browser });
  at.clock.advance(3700);
  const request = { prompt: 'none', id_token_hint: tokens.id_token };
  expect(answerOf(await open(browser, firstParty, request))).toHaveProperty('code');
  const bobs = await signIn(at, bob);
  expect(answerOf(await open(bobs, firstParty, request))).toMatchObject({ error: 'login_required' });
});

test('OpenID Connect Core §3.1.2.1: with an id_token_hint nobody else can go on', async () => {
  const { tokens } = await someTokens(at, { client: firstParty, user: ada, browser });
  const bobs = await signIn(at, bob);
  const page = await open(bobs, firstParty, { id_token_hint: tokens.id_token });
  expect(stepOf(page)).toBe('login');
  expect(page.response.body).not.toContain(bob.username);
  const again = await signInAt(bobs, page, bob);
  expect(stepOf(again)).toBe('login');
  at.clock.advance(1);
  expect((await idTokenOf(answerOf(await signInAt(bobs, again, ada))))['sub']).toBe(ada.sub);
});

test('RFC 9068 §5: an access token, a forged or a foreign token is no id_token_hint', async () => {
  const { tokens } = await someTokens(at, { client: firstParty, user: ada, browser });
  const [header = '', payload = '', signature = ''] = tokens.id_token.split('.');
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  const forged = Buffer.from(JSON.stringify({ iss: browser.issuer, sub: bob.sub, aud: 'x' })).toString('base64url');
  const hints = [
    tokens.access_token,
    `${none}.${payload}.`,
    `${none}.${payload}.${signature}`,
    `${header}.${forged}.${signature}`,
  ];
  for (const id_token_hint of [...hints, tokens.id_token.slice(0, -4), 'x']) {
    expect(answerOf(await open(browser, firstParty, { id_token_hint }))).toMatchObject({ error: 'invalid_request' });
  }
});

test('"Not Ada?" shows the sign-in page of a stranger, and changes nothing yet', async () => {
  const page = await open(browser, firstParty, { prompt: 'login' });
  expect(page.response.body).toContain(`${page.url}?switch`);
  const blank = await browser.get(`${page.url}?switch`);
  expect(blank.body).not.toContain(ada.username);
  expect(titleOf(blank)).toMatch(/^Sign in/);
  at.clock.advance(1);
  const switched = await signInAt(browser, { url: page.url, response: blank }, bob);
  expect((await idTokenOf(answerOf(switched)))['sub']).toBe(bob.sub);
  expect(formTokenOf(blank)).not.toBe('');
});
