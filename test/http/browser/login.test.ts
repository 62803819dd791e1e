/** GET and POST /login (docs/specification.md §4), and /account behind it: for scripts and for browsers. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transact } from '../../../src/store/postgres/db.ts';
import type { User } from '../../../src/store/users.ts';
import * as accounts from '../../../src/users/accounts.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  aUser,
  authorizationUrl,
  BY,
  formTokenOf,
  introspect,
  PASSWORD,
  signIn,
  TestBrowser,
  userinfo,
} from '../../support/fixtures.ts';
import { errorOn, expectErrorPage, titleOf } from '../../support/pages.ts';

let at: TestApp;
let ada: User;
beforeAll(async () => {
  at = await testApp();
  ada = await aUser(at);
});
afterAll(() => at.close());

type Headers = Record<string, string>;
const send = (payload: string, headers: Headers) => at.app.inject({ method: 'POST', url: '/login', headers, payload });
const asJson = (body: unknown, headers: Headers = {}) =>
  send(typeof body === 'string' ? body : JSON.stringify(body), { 'content-type': 'application/json', ...headers });
const asForm = (fields: Record<string, string> | string, headers: Headers = {}) =>
  send(typeof fields === 'string' ? fields : new URLSearchParams(fields).toString(), {
    'content-type': 'application/x-www-form-urlencoded',
    ...headers,
  });
const credentials = () => ({ username: ada.username, password: PASSWORD });
interface LoginAnswer {
  access_token: string;
  expires_in: number;
}

test('specification §Endpoints 4: POST /login with username and password returns JSON with access_token and expires_in', async () => {
  for (const answer of [await asJson(credentials()), await asForm(credentials())]) {
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.json()).toEqual({
      access_token: expect.stringMatching(/^[0-9a-z]+_[\w-]{43}$/),
      token_type: 'Bearer',
      expires_in: 600,
      scope: 'openid profile email',
    });
  }
});

test('specification §Endpoints 4: the client then sends Authorization: Bearer on later requests', async () => {
  const { access_token } = (await asJson(credentials())).json<LoginAnswer>();
  const info = await userinfo(at, access_token);
  expect(info.json()).toMatchObject({ sub: ada.sub, email: ada.email, name: 'Ada Lovelace' });
});

test('its audience is the issuer, its client the built-in one, and nobody’s client sees it', async () => {
  const { access_token } = (await asJson(credentials())).json<LoginAnswer>();
  expect(await introspect(at, await aClient(at), access_token)).toEqual({ active: false });
  const operator = await aClient(at, { may_introspect: true });
  expect(await introspect(at, operator, access_token)).toMatchObject({
    active: true,
    aud: 'https://id.example.test',
    client_id: 'postern',
    sub: ada.sub,
    scope: 'openid profile email',
  });
});

test('it lives as long as expires_in says, and not longer', async () => {
  const { access_token, expires_in } = (await asJson(credentials())).json<LoginAnswer>();
  at.clock.advance(expires_in - 1);
  expect((await userinfo(at, access_token)).statusCode).toBe(200);
  at.clock.advance(1);
  expect((await userinfo(at, access_token)).statusCode).toBe(401);
});

test('it dies with its session, and when the person is disabled', async () => {
  const user = await aUser(at);
  const own = { username: user.username, password: PASSWORD };
  const first = (await asJson(own)).json<LoginAnswer>();
  await at.deps.db.updateTable('sessions').set({ ended_at: at.clock.now() }).where('sub', '=', user.sub).execute();
  expect((await userinfo(at, first.access_token)).statusCode).toBe(401);
  const second = (await asJson(own)).json<LoginAnswer>();
  await transact(at.deps.db, (trx) => accounts.setDisabled(trx, user.sub, true, BY, at.clock.now()));
  expect((await userinfo(at, second.access_token)).statusCode).toBe(401);
});

test('its session is no browser’s: the token is no cookie, and it appears in no URL or log', async () => {
  const { access_token } = (await asJson(credentials())).json<LoginAnswer>();
  const headers = { host: 'id.example.test', cookie: `__Host-postern_session=${access_token}` };
  expect((await at.app.inject({ url: '/account', headers })).statusCode).toBe(302);
  expect(at.logged.join('')).not.toContain(access_token);
});

test('401 is JSON invalid_credentials', async () => {
  const answer = await asJson({ username: ada.username, password: 'not the password' });
  expect(answer.statusCode).toBe(401);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.json()).toMatchObject({ error: 'invalid_credentials' });
});

const nested = (depth: number, open: string, close: string): string => open.repeat(depth) + '1' + close.repeat(depth);

test.each<[what: string, payload: () => string]>([
  ['malformed', () => '{"username":'],
  ['empty', () => ''],
  ['not an object', () => '["ada","x"]'],
  ['null', () => 'null'],
  ['a string', () => '"ada"'],
  ['without a password', () => JSON.stringify({ username: ada.username })],
  ['without a name', () => JSON.stringify({ password: PASSWORD })],
  ['with an empty name', () => JSON.stringify({ username: '', password: PASSWORD })],
  ['with an array for a name', () => JSON.stringify({ username: [ada.username], password: PASSWORD })],
  ['with an object for a password', () => JSON.stringify({ username: ada.username, password: { $ne: null } })],
  ['with a number for a password', () => JSON.stringify({ username: ada.username, password: 1 })],
  ['with a null byte in the name', () => JSON.stringify({ username: `${ada.username}\0`, password: PASSWORD })],
  ['with a name of 321 characters', () => JSON.stringify({ username: 'a'.repeat(321), password: PASSWORD })],
  ['with a password of 8193 characters', () => JSON.stringify({ username: 'a', password: 'a'.repeat(8193) })],
  ['with __proto__', () => `{"__proto__":{"username":"a"},"username":"${ada.username}","password":"x"}`],
  ['with constructor.prototype', () => '{"constructor":{"prototype":{"a":1}},"username":"a","password":"x"}'],
  ['an array 20000 deep', () => nested(20_000, '[', ']')],
])('specification §Endpoints 5, input: JSON that is %s is 400 invalid_request', async (_what, payload) => {
  const answer = await asJson(payload());
  expect([answer.statusCode, answer.json()]).toMatchObject([400, { error: 'invalid_request' }]);
});

test('members that mean nothing do nothing, however deep or named', async () => {
  const deep = nested(5000, '{"a":', '}');
  const more = `"scope":"admin","client_id":"x","sub":"y","toString":"z","deep":${deep}`;
  const answer = await asJson(`${JSON.stringify(credentials()).slice(0, -1)},${more}}`);
  expect(answer.json()).toMatchObject({ scope: 'openid profile email' });
});

test.each<[what: string, payload: () => string]>([
  ['a name sent twice', () => `username=${ada.username}&username=x&password=x`],
  ['an invalid percent escape', () => 'username=%zz&password=x'],
  ['a null byte', () => 'username=a%00b&password=x'],
  ['nothing', () => ''],
])('RFC 6749 §3.2, input: a form with %s is 400 invalid_request', async (_what, payload) => {
  const answer = await asForm(payload());
  expect([answer.statusCode, answer.json()]).toMatchObject([400, { error: 'invalid_request' }]);
});

test.each([
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/x-www-form-urlencoded; charset=utf-16',
])('specification §Endpoints 5: a body of %s is refused', async (type) => {
  const answer = await send(new URLSearchParams(credentials()).toString(), { 'content-type': type });
  expect([400, 415]).toContain(answer.statusCode);
  expect(answer.json()).toMatchObject({ error: 'invalid_request' });
});

test.each([
  [undefined, 'application/json'],
  ['*/*', 'application/json'],
  ['application/json', 'application/json'],
  ['application/json, text/html;q=0.5', 'application/json'],
  ['application/xml', 'application/json'],
  [';;;,,q=x', 'application/json'],
  ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html'],
  ['text/html;q=1, application/json;q=0.9', 'text/html'],
])('specification §Endpoints 5: content negotiation by Accept: %s is answered with %s', async (accept, type) => {
  const headers = accept === undefined ? {} : { accept };
  const refused = await asForm({ username: `nobody-${accept}`, password: 'x' }, headers);
  expect(refused.headers['content-type']).toBe(`${type}; charset=utf-8`);
  expect(refused.statusCode).toBe(type === 'text/html' ? 400 : 401);
});

test('specification §Endpoints 4: the session-cookie variant sets HttpOnly, Secure and SameSite, and goes to /account', async () => {
  const browser = new TestBrowser(at);
  const page = await browser.get('/login');
  expect(titleOf(page)).toBe('Sign in');
  const answer = await browser.post('/login', { ...credentials(), form_token: formTokenOf(page) });
  expect([answer.statusCode, answer.headers.location, answer.body]).toEqual([
    303,
    'https://id.example.test/account',
    '',
  ]);
  const session = answer.cookies.find(({ name }) => name === '__Host-postern_session');
  expect(session).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Lax', path: '/', maxAge: 1_209_600 });
  expect(session).not.toHaveProperty('domain');
  const account = await browser.get('/account');
  expect([account.statusCode, titleOf(account)]).toEqual([200, 'Your account']);
  expect(account.body).toContain(ada.email);
  expect(account.body).toContain(ada.sub);
});

test('a script that wants HTML needs no form token, since nobody lent it a cookie', async () => {
  const answer = await asForm(credentials(), { accept: 'text/html', host: 'id.example.test' });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, 'https://id.example.test/account']);
});

test('a browser’s form needs the form token, for JSON too', async () => {
  const origin = { host: 'id.example.test', origin: 'https://id.example.test' };
  expectErrorPage(await asForm(credentials(), { ...origin, accept: 'text/html' }));
  const json = await asForm(credentials(), origin);
  expect([json.statusCode, json.json()]).toMatchObject([400, { error: 'invalid_request' }]);
  const site = await asForm(credentials(), { host: 'id.example.test', 'sec-fetch-site': 'same-origin' });
  expect(site.statusCode).toBe(400);
});

test('JSON from a page of another origin is refused, from our own it is answered', async () => {
  const headers = { host: 'id.example.test' };
  expect((await asJson(credentials(), { ...headers, origin: 'https://evil.example.test' })).statusCode).toBe(400);
  expect((await asJson(credentials(), { ...headers, 'sec-fetch-site': 'cross-site' })).statusCode).toBe(400);
  expect((await asJson(credentials(), { ...headers, origin: 'https://id.example.test' })).statusCode).toBe(200);
});

test('/account without a session goes to /login', async () => {
  const answer = await new TestBrowser(at).get('/account');
  expect([answer.statusCode, answer.headers.location]).toEqual([302, 'https://id.example.test/login']);
});

test('RFC 9110 §15.5.6: other methods of /login and /account are 405 with Allow', async () => {
  for (const method of ['PUT', 'DELETE', 'PATCH', 'HEAD'] as const) {
    expect((await at.app.inject({ method, url: '/login' })).headers.allow).toBe('GET, POST');
    expect((await at.app.inject({ method, url: '/account' })).headers.allow).toBe('GET, POST');
  }
  const page = await at.app.inject({ method: 'PUT', url: '/account', headers: { accept: 'text/html' } });
  expect([page.statusCode, errorOn(page)]).toEqual([405, 'method_not_allowed']);
});

test('names are escaped wherever they are shown', async () => {
  const user = await aUser(at, { claims: { name: '"><script>alert(1)</script>' } });
  const browser = await signIn(at, user);
  const page = await browser.get('/account');
  expect(page.body).toContain('&gt;&lt;script&gt;');
  expect(page.body).not.toContain('<script>alert');
  const form_token = formTokenOf(await browser.get('/login'));
  const wrong = await browser.post('/login', { username: '"><img src=x onerror=a>', password: 'x', form_token });
  expect(wrong.body).not.toContain('<img');
});

test('the sign-in page is made for password managers and people', async () => {
  const { body } = await new TestBrowser(at).get('/login');
  expect(body).toMatch(/id="username"[^>]*autocomplete="username webauthn"/s);
  expect(body).toMatch(/id="password"[^>]*type="password"[^>]*autocomplete="current-password"/s);
  expect(body).toContain('id="login-submit"');
  expect(body).not.toMatch(/onpaste|autocomplete="off"/);
});

test('a page of a request in progress is logged and counted with the status that it answered, and answered once', async () => {
  const [browser, client] = [new TestBrowser(at), await aClient(at)];
  const from = at.logged.length;
  const answers: Array<Awaited<ReturnType<TestBrowser['get']>>> = [];
  const get = async (url: string) => (answers[answers.length] = await browser.get(url));
  const post = async (url: string, fields: Record<string, string>) =>
    (answers[answers.length] = await browser.post(url, fields));
  const signInAt = async (url: string, user: User) => {
    const form_token = formTokenOf(await get(url));
    await post(url, { form_token, username: user.username, password: 'wrong' });
    return post(url, { form_token, username: user.username, password: PASSWORD });
  };

  const first = await get(authorizationUrl(browser.issuer, client));
  await signInAt(first.headers.location!, ada);
  const consent = (await get(first.headers.location!.replace(/\/login$/, ''))).headers.location!;
  await post(consent, { form_token: formTokenOf(await get(consent)), action: 'approve' });
  const choice = await get(authorizationUrl(browser.issuer, client, { prompt: 'select_account' }));
  await get(choice.headers.location!);

  const lines = at.logged.slice(from).map((line) => JSON.parse(line) as { msg: string; status: number; level: number });
  expect(lines.filter(({ msg }) => msg === 'request').map(({ status }) => status)).toEqual(
    answers.map(({ statusCode }) => statusCode),
  );
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([302, 200, 400, 303, 302, 200, 303, 302, 200]);
  expect(lines.filter(({ level }) => level >= 40)).toEqual([]);
});
