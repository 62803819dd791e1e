/** Registration: an account is made by whoever has the address, with a password that they chose, and nobody learns who has one. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LightMyRequestResponse } from 'fastify';
import { deliverMails } from '../../../src/mail/deliver.ts';
import * as users from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  authorizationUrl,
  aUser,
  formTokenOf,
  PASSWORD,
  signIn,
  TestBrowser,
} from '../../support/fixtures.ts';
import { recordStatements } from '../../support/lists.ts';
import { lettersTo } from '../../support/letters.ts';
import {
  answerTo,
  expectErrorPage,
  follow,
  open,
  proceed,
  stepOf,
  submit,
  titleOf,
  valueOf,
  type At,
} from '../../support/pages.ts';
import { codesOn, setupForm } from '../../support/second-factor.ts';

let at: TestApp;
let other: TestApp;
beforeAll(async () => {
  const config = { SELF_REGISTRATION: 'on' } as const;
  at = await testApp({ config });
  other = await testApp({ config, clock: at.clock, database: at.database });
});
afterAll(async () => {
  await other.close();
  await at.close();
});

let count = 0;
const anAddress = (): string => `new${(count += 1)}@example.test`;
const person = (email: string) => ({ email, name: 'Grace Hopper', 'new-password': PASSWORD, action: 'signup' });

/** Types an address on the page; returns the page that follows. */
async function signUp(browser: TestBrowser, fields: Record<string, string>, url = '/signup'): Promise<At> {
  const response = await browser.get(url);
  return follow(browser, await browser.post(url, { form_token: formTokenOf(response), ...fields }), url);
}
const typeCode = (browser: TestBrowser, page: At, otp: string): Promise<At> =>
  proceed(browser, page, { request: valueOf(page.response, 'request') ?? '', otp, action: 'verify' });
const accountOf = (email: string) => users.findByName(at.deps.db, email);
const canSignIn = async (username: string, password: string): Promise<boolean> => {
  const answer = await at.app.inject({ method: 'POST', url: '/login', payload: { username, password } });
  return answer.statusCode === 200;
};

test('somebody signs up, types the code of the mail, and is signed in; before that there is no account', async () => {
  const browser = new TestBrowser(at);
  const email = anAddress();
  const waiting = await signUp(browser, person(email));
  expect(titleOf(waiting.response)).toBe('Check your mail');
  const [letter] = await lettersTo(at, email);
  expect(letter).toMatchObject({ template: 'verify-email', subject: 'Confirm your address for id.example.test' });
  expect(await accountOf(email)).toBeUndefined();
  expect(await canSignIn(email, PASSWORD)).toBe(false);
  const wrong = await typeCode(browser, waiting, letter!.code === '000000' ? '000001' : '000000');
  expect([wrong.response.statusCode, titleOf(wrong.response)]).toEqual([400, 'Error: Check your mail']);
  const done = await typeCode(browser, waiting, ` ${letter!.code.slice(0, 3)} ${letter!.code.slice(3)} `);
  expect(done.url).toBe('https://id.example.test/account');
  const user = await accountOf(email);
  expect(user).toMatchObject({ email, email_verified: true, claims: { name: 'Grace Hopper', locale: 'en' } });
  expect(user!.username).toMatch(/^new\d+-[a-z0-9]{6}$/);
  expect(await canSignIn(email, PASSWORD)).toBe(true);
  const events = await at.deps.db.selectFrom('audit_events').selectAll().where('sub', '=', user!.sub).execute();
  expect(events.map(({ event }) => event).slice(0, 3)).toEqual(['user_created', 'registered', 'sign_in']);
  // A page that is done leads on, and takes nothing more.
  expect((await follow(browser, await browser.get(waiting.url))).url).toBe('https://id.example.test/account');
  expect((await typeCode(new TestBrowser(at), waiting, letter!.code)).response.statusCode).toBe(400);
});

test('Initiating User Registration §4.1: prompt=create shows the registration, and the request goes on after it', async () => {
  const client = await aClient(at, { skip_consent: true });
  const discovery = (await at.app.inject('/.well-known/openid-configuration')).json<{
    prompt_values_supported: string[];
  }>();
  expect(discovery.prompt_values_supported).toContain('create');
  const browser = await signIn(at, await aUser(at));
  at.clock.advance(5);
  const form = await open(browser, client, { prompt: 'create' });
  expect([stepOf(form), titleOf(form.response)]).toEqual(['signup', 'Create an account for Test App']);
  const email = anAddress();
  const waiting = await proceed(browser, form, person(email));
  const [letter] = await lettersTo(at, email);
  const done = await typeCode(browser, waiting, letter!.code);
  expect(answerTo(client, done.response)).toHaveProperty('code');
  at.clock.advance(1);
  // Somebody who has an account after all signs in there instead; Cancel tells the client.
  const again = await open(browser, client, { prompt: 'create' });
  const login = /id="signup-login" href="([^"]+)"/.exec(again.response.body)![1]!;
  const ada = await aUser(at);
  const page = { url: login, response: await browser.get(login) };
  const signed = await proceed(browser, page, { username: ada.username, password: PASSWORD, action: 'login' });
  expect(answerTo(client, signed.response)).toHaveProperty('code');
  at.clock.advance(1);
  const third = await open(browser, client, { prompt: 'create' });
  const cancelled = await proceed(browser, third, { action: 'cancel' });
  expect(answerTo(client, cancelled.response)).toMatchObject({ error: 'access_denied' });
  const silent = await open(browser, client, { prompt: 'none create' });
  expect(answerTo(client, silent.response)).toMatchObject({ error: 'invalid_request' });
});

test('from the sign-in page of a request the link of the mail goes on with it, in that browser', async () => {
  const client = await aClient(at, { skip_consent: true });
  const browser = new TestBrowser(at);
  const login = await open(browser, client);
  const url = /id="signup" href="([^"]+)"/.exec(login.response.body)![1]!;
  const email = anAddress();
  const waiting = await signUp(browser, person(email), url);
  const [letter] = await lettersTo(at, email);
  // Scanners of mail open links: nothing happens by that.
  for (let time = 0; time < 3; time += 1) expect((await new TestBrowser(at).get(letter!.link)).statusCode).toBe(200);
  expect(await accountOf(email)).toBeUndefined();
  const page = await browser.get(letter!.link);
  expect(page.body).not.toContain('new-password');
  const done = await proceed(browser, { url: letter!.link, response: page }, {});
  expect(answerTo(client, done.response)).toHaveProperty('code');
  expect((await browser.get(letter!.link)).statusCode).toBe(400);
  expect((await browser.get(waiting.url)).statusCode).toBe(400);
});

test('SECOND_FACTOR=required: whoever just signed up sets a second factor up before anything is open', async () => {
  const config = { SELF_REGISTRATION: 'on', SECOND_FACTOR: 'required' } as const;
  const strict = await testApp({ config, clock: at.clock, database: at.database });
  const client = await aClient(at, { skip_consent: true });
  const browser = new TestBrowser(strict);
  const email = anAddress();
  const create = await open(browser, client, { prompt: 'create' });
  const waiting = await proceed(browser, create, person(email));
  const [letter] = await lettersTo(strict, email);
  const setup = await typeCode(browser, waiting, letter!.code);
  expect([stepOf(setup), titleOf(setup.response)]).toEqual(['second-factor', expect.stringMatching(/^Set up/)]);
  expect(stepOf(await follow(browser, await browser.get('/account')))).toBe('second-factor');
  const script = { username: email, password: PASSWORD };
  expect((await strict.app.inject({ method: 'POST', url: '/login', payload: script })).statusCode).toBe(401);
  expect(codesOn(await submit(browser, setup, setupForm(strict, setup.response)))).toHaveLength(10);
  const done = await follow(browser, await browser.get(setup.url.replace(/\/second-factor.*/, '')));
  expect(answerTo(client, done.response)).toHaveProperty('code');
  await strict.close();
});

test('whoever signs up with the address of somebody else has no password that works once its owner opens the link', async () => {
  const [attacker, owner] = [new TestBrowser(at), new TestBrowser(at)];
  const email = anAddress();
  const waiting = await signUp(attacker, { ...person(email), 'new-password': 'chosen by the attacker' });
  const [letter] = await lettersTo(at, email);
  const page = { url: letter!.link, response: await owner.get(letter!.link) };
  expect(page.response.body).toContain('id="new-password"');
  const none = await proceed(owner, page, {});
  expect(none.response.statusCode).toBe(400);
  const easy = await proceed(owner, page, { 'new-password': 'password' });
  expect([easy.response.statusCode, easy.response.body.includes('new-password-problem')]).toEqual([400, true]);
  const done = await proceed(owner, page, { 'new-password': 'chosen by its owner instead' });
  expect(done.url).toBe('https://id.example.test/account');
  expect(await canSignIn(email, 'chosen by the attacker')).toBe(false);
  expect(await canSignIn(email, 'chosen by its owner instead')).toBe(true);
  // The page that waited says that it is over, and signs nobody in.
  const after = await attacker.get(waiting.url);
  expect(titleOf(after)).toBe('Your address is confirmed');
  expect((await attacker.get('/account')).statusCode).toBe(302);
  expect((await typeCode(attacker, waiting, letter!.code)).url).not.toContain('/account');
});

test('two people who sign up with one address: the first to show that it is theirs has it', async () => {
  const [one, two] = [new TestBrowser(at), new TestBrowser(at)];
  const email = anAddress();
  const first = await signUp(one, person(email));
  const [letterOne] = await lettersTo(at, email);
  const second = await signUp(two, { ...person(email.toUpperCase()), 'new-password': 'quite another password' });
  const [letterTwo] = await lettersTo(at, email.toUpperCase());
  expect((await typeCode(two, second, letterTwo!.code)).url).toContain('/account');
  const late = await typeCode(one, first, letterOne!.code);
  expect([late.response.statusCode, late.response.body.includes('has an account already')]).toEqual([400, true]);
  expect(await canSignIn(email, PASSWORD)).toBe(false);
});

test('a code and a link that come fifty times at once over two servers make one account', async () => {
  for (const way of ['code', 'link'] as const) {
    const browser = new TestBrowser(at);
    const email = anAddress();
    const waiting = await signUp(browser, person(email));
    const [letter] = await lettersTo(at, email);
    const beside = new TestBrowser(other);
    for (const [name, value] of browser.cookies) beside.cookies.set(name, value);
    const page = { url: letter!.link, response: await browser.get(letter!.link) };
    const form_token = formTokenOf(way === 'code' ? waiting.response : page.response);
    const request = valueOf(waiting.response, 'request') ?? '';
    const fields = { form_token, request, otp: letter!.code, action: 'verify' };
    const url = way === 'code' ? waiting.url.split('?')[0]! : page.url;
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? browser : beside).post(url, fields)),
    );
    const made = answers.filter(({ statusCode, headers }) => statusCode === 303 && headers['set-cookie'] !== undefined);
    expect(made.length, way).toBeLessThanOrEqual(1);
    expect(answers.filter(({ statusCode }) => statusCode === 500)).toEqual([]);
    const rows = await at.deps.db.selectFrom('users').select('sub').where('email', '=', email).execute();
    expect(rows, way).toHaveLength(1);
  }
});

/** What a browser sees of a page: all but what is drawn anew each time. */
const seen = ({ statusCode, headers, body }: LightMyRequestResponse) => ({
  statusCode,
  headers: Object.keys(headers).toSorted(),
  body: body
    .replaceAll(/nonce="[^"]*"|value="[^"]*"|request=[\w-]+|<code>[^<]*<\/code>/g, '')
    .replaceAll(/[\w.+-]+@example\.test/g, 'ADDRESS'),
});

test('an address that has an account is answered as any other: page, statements, and wrong codes; its owner is told by mail', async () => {
  const owner = await aUser(at);
  const walk = async (email: string) => {
    const browser = new TestBrowser(at);
    const form_token = formTokenOf(await browser.get('/signup'));
    const watched = recordStatements();
    const answer = await browser.post('/signup', { form_token, ...person(email) });
    const waiting = await follow(browser, answer);
    const before = await browser.get(waiting.url);
    const statements = watched.take().map(({ text }) => text);
    watched.stop();
    await lettersTo(at, email);
    const codes: unknown[] = [];
    for (let time = 0; time < 6; time += 1) codes.push(seen((await typeCode(browser, waiting, '12345x')).response));
    const again = await proceed(browser, waiting, {
      request: valueOf(waiting.response, 'request') ?? '',
      action: 'again',
    });
    return [statements, seen(answer), seen(waiting.response), seen(before), codes, seen(again.response)];
  };
  expect(await walk(owner.email!)).toEqual(await walk(anAddress()));
  const letters = await lettersTo(at, owner.email!);
  expect(letters.map(({ template }) => template)).toEqual(['already-registered', 'already-registered']);
  expect(letters[0]).toMatchObject({ link: 'https://id.example.test/login', code: '' });
});

test.each([
  ['no address', { email: 'ada' }],
  ['two addresses', { email: 'ada@example.test,eve@example.test' }],
  ['a line more', { email: 'ada@example.test\r\nBcc: eve@example.test' }],
  ['an address with what cannot be seen', { email: 'ada\u200B@example.test' }],
  ['a very long address', { email: `${'a'.repeat(400)}@example.test` }],
  ['a name of two lines', { name: 'Ada\r\nBcc: eve@example.test' }],
  ['a very long name', { name: 'a'.repeat(5000) }],
  ['a short password', { 'new-password': 'short' }],
  [
    'a password that is the address',
    { email: 'somebody.somewhere@example.test', 'new-password': 'somebody.somewhere@example.test' },
  ],
  ['a very long password', { 'new-password': 'ab1'.repeat(5000) }],
])('%s is said beside its field, and nothing waits', async (_name, fields) => {
  const page = await signUp(new TestBrowser(at), { ...person(anAddress()), ...fields });
  expect([page.response.statusCode, titleOf(page.response)]).toEqual([400, 'Error: Create an account']);
  expect(page.response.body).toMatch(/id="(?:email|name|new-password)-problem"/);
  expect(page.response.body).not.toContain(PASSWORD);
});

test('links name the issuer, whatever a Host header says, and a name is one line of the mail', async () => {
  const browser = new TestBrowser(at);
  const email = anAddress();
  const form_token = formTokenOf(await browser.get('/signup'));
  await browser.post(
    '/signup',
    { form_token, ...person(email), name: 'https://evil.example/ <b>Click</b>' },
    { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
  );
  const [letter] = await lettersTo(at, email);
  expect(letter!.link).toMatch(/^https:\/\/id\.example\.test\/verify\/[\w-]+$/);
  expect(letter!.text).not.toContain('evil.example');
  await deliverMails(at.deps);
});

test('a form of another browser, or of another page, takes nothing', async () => {
  const [mine, theirs] = [new TestBrowser(at), new TestBrowser(at)];
  const email = anAddress();
  const waiting = await signUp(mine, person(email));
  const [letter] = await lettersTo(at, email);
  await theirs.get('/signup');
  const request = valueOf(waiting.response, 'request') ?? '';
  const form = { form_token: formTokenOf(waiting.response), request, otp: letter!.code, action: 'verify' };
  expectErrorPage(await theirs.post('/signup', form));
  expectErrorPage(await mine.post('/signup', form, { origin: 'https://evil.example' }));
  expectErrorPage(await mine.post('/signup', { ...form, form_token: formTokenOf(await mine.get('/login')) }));
  const own = await theirs.get('/signup');
  expect((await theirs.post('/signup', { ...form, form_token: formTokenOf(own) })).statusCode).toBe(400);
  expect(await accountOf(email)).toBeUndefined();
});

test('a code and its page are good for an hour', async () => {
  const browser = new TestBrowser(at);
  const email = anAddress();
  const waiting = await signUp(browser, person(email));
  const [letter] = await lettersTo(at, email);
  at.clock.advance(3600);
  expect((await typeCode(browser, waiting, letter!.code)).response.statusCode).toBe(400);
  expect((await browser.get(letter!.link)).statusCode).toBe(400);
  expect((await browser.get(waiting.url)).statusCode).toBe(400);
});

test('a mail can be asked for again, and not without end', async () => {
  const browser = new TestBrowser(at);
  const email = anAddress();
  let page = await signUp(browser, person(email));
  const first = page;
  const [letter] = await lettersTo(at, email);
  for (let time = 0; time < 4; time += 1) {
    at.clock.advance(1);
    page = await proceed(browser, page, { request: valueOf(page.response, 'request') ?? '', action: 'again' });
    expect(page.response.statusCode).toBe(200);
  }
  const refused = await proceed(browser, page, { request: valueOf(page.response, 'request') ?? '', action: 'again' });
  expect([refused.response.statusCode, refused.response.headers['retry-after']]).toEqual([429, '60']);
  expect((await signUp(new TestBrowser(at), person(email))).response.statusCode).toBe(429);
  const letters = await lettersTo(at, email);
  expect(letters).toHaveLength(5);
  expect((await typeCode(browser, first, letter!.code)).url).toContain('/account');
});

test('only addresses of the domains that are allowed, in whatever letters; those below them are others', async () => {
  const strict = await testApp({
    config: { SELF_REGISTRATION: 'on', SIGN_UP_DOMAINS: ['example.com', 'xn--mnchen-3ya.example'] },
    clock: at.clock,
    database: at.database,
  });
  const statusOf = async (email: string): Promise<number> =>
    (await signUp(new TestBrowser(strict), person(email))).response.statusCode;
  for (const email of ['a@example.com', 'b@EXAMPLE.com', 'c@münchen.example'])
    expect(await statusOf(email), email).toBe(200);
  for (const email of [
    'a@evil.example.com',
    'a@example.com.evil.test',
    'a@example.com/evil.test',
    'a@evil.test#example.com',
    'a@example.com.',
    'a@examp1e.com',
    'a@exаmple.com',
    'a@example.com@evil.test',
    'a@munchen.example',
  ])
    expect(await statusOf(email), email).toBe(400);
  await strict.close();
});

test('where registration is off there is no page, no link to one, and no prompt=create', async () => {
  const off = await testApp({ clock: at.clock, database: at.database });
  const browser = new TestBrowser(off);
  const client = await aClient(at);
  expect((await browser.get('/signup')).statusCode).toBe(404);
  expect((await browser.get('/login')).body).not.toContain('signup');
  const refused = await browser.get(authorizationUrl(browser.issuer, client, { prompt: 'create' }));
  expect(answerTo(client, refused)).toMatchObject({ error: 'invalid_request' });
  expect((await off.app.inject('/.well-known/openid-configuration')).body).not.toContain('"create"');
  // Turned off while a request waited: its page leads to the sign-in.
  const waiting = await open(new TestBrowser(at), client, { prompt: 'create' });
  expect(stepOf(waiting)).toBe('signup');
  await off.close();
});
