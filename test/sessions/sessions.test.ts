/** A browser's session: made by a sign-in, known by an id that is never reused, ended on the server. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transact } from '../../src/store/postgres/db.ts';
import type { User } from '../../src/store/users.ts';
import * as accounts from '../../src/users/accounts.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient, aUser, BY, formTokenOf, PASSWORD, signIn, TestBrowser, type AClient } from '../support/fixtures.ts';
import { answerTo, open, signInAt, stepOf } from '../support/pages.ts';

const SESSION = '__Host-postern_session';
let at: TestApp;
let client: AClient;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at, { skip_consent: true });
});
afterAll(() => at.close());

const isSignedIn = async (browser: TestBrowser): Promise<boolean> => (await browser.get('/account')).statusCode === 200;

/** A browser that sends this session cookie and nothing else. */
const withSession = (value: string): TestBrowser => {
  const browser = new TestBrowser(at);
  browser.cookies.set(SESSION, value);
  return browser;
};
async function signInAgain(browser: TestBrowser, user: User): Promise<void> {
  const form_token = formTokenOf(await browser.get('/login'));
  const answer = await browser.post('/login', { username: user.username, password: PASSWORD, form_token });
  expect(answer.statusCode).toBe(303);
}
const rowsOf = (user: User) => at.deps.db.selectFrom('sessions').selectAll().where('sub', '=', user.sub).execute();

test('ASVS 7.2.3, 11.5.1: a session id is 256 bits of chance, and only its hash is stored', async () => {
  const user = await aUser(at);
  const value = (await signIn(at, user)).cookies.get(SESSION)!;
  expect(value).toMatch(/^[0-9a-z]+_[\w-]{43}$/);
  const [row] = await rowsOf(user);
  expect(JSON.stringify(row)).not.toContain(value.slice(value.indexOf('_') + 1));
  expect(row!.sid).not.toBe(value);
  expect(value).not.toContain(row!.sid);
});

test('ASVS 7.2.4: a sign-in makes a new id, and the old one is dead', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const before = browser.cookies.get(SESSION)!;
  await signInAgain(browser, user);
  const after = browser.cookies.get(SESSION)!;
  expect(after).not.toBe(before);
  expect(await isSignedIn(withSession(before))).toBe(false);
  expect(await isSignedIn(withSession(after))).toBe(true);
});

test('ASVS 7.2.4: a re-authentication within a request makes a new id, too', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const before = browser.cookies.get(SESSION)!;
  at.clock.advance(5);
  const page = await open(browser, client, { prompt: 'login' });
  expect(answerTo(client, (await signInAt(browser, page, user)).response)).toHaveProperty('code');
  expect(await isSignedIn(withSession(before))).toBe(false);
});

test('ASVS 7.2.4: an id planted before the sign-in never becomes a session', async () => {
  const user = await aUser(at);
  const planted = `${Math.floor(at.clock.now().getTime() / 86_400_000 + 14).toString(36)}_${'A'.repeat(43)}`;
  const victim = withSession(planted);
  await signInAgain(victim, user);
  expect(victim.cookies.get(SESSION)).not.toBe(planted);
  expect(await isSignedIn(withSession(planted))).toBe(false);
});

test('ASVS 7.2.4: an attacker’s own session planted in a browser is not what its owner signs in to', async () => {
  const mallory = await signIn(at, await aUser(at));
  const planted = mallory.cookies.get(SESSION)!;
  const victim = withSession(planted);
  const user = await aUser(at);
  await signInAgain(victim, user);
  const [own, ...others] = victim.cookies.get(SESSION)!.split('.');
  expect(own).not.toBe(planted);
  expect(others).toEqual([planted]);
  expect((await victim.get('/account')).body).toContain(`<dd>${user.username}</dd>`);
  // Nor does the planted one learn of it, or lead there.
  expect((await withSession(planted).get('/account')).body).not.toContain(user.username);
});

test('ASVS 7.3.1: a session unused for SESSION_IDLE_TTL is over, use keeps it alive', async () => {
  const browser = await signIn(at, await aUser(at));
  for (let days = 0; days < 3; days += 1) {
    at.clock.advance(86_400 - 120);
    expect(await isSignedIn(browser)).toBe(true);
  }
  at.clock.advance(86_400);
  expect(await isSignedIn(browser)).toBe(false);
  expect(stepOf(await open(browser, client))).toBe('login');
});

test('ASVS 7.3.2: a session is over after SESSION_TTL, however busy it was', async () => {
  const browser = await signIn(at, await aUser(at));
  for (let times = 0; times < 15; times += 1) {
    at.clock.advance(80_000);
    expect(await isSignedIn(browser)).toBe(true);
  }
  at.clock.advance(1_209_600 - 15 * 80_000 - 1);
  expect(await isSignedIn(browser)).toBe(true);
  at.clock.advance(1);
  expect(await isSignedIn(browser)).toBe(false);
});

test('a session in constant use is noted once a minute, not with every request', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const [made] = await rowsOf(user);
  at.clock.advance(30);
  await browser.get('/account');
  expect((await rowsOf(user))[0]!.seen_at).toEqual(made!.seen_at);
  at.clock.advance(31);
  await browser.get('/account');
  expect((await rowsOf(user))[0]!.seen_at).toEqual(at.clock.now());
});

test('ASVS 7.4.2: disabling a person ends their sessions at once, in the middle of a request too', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  at.clock.advance(5);
  const page = await open(browser, client, { prompt: 'consent' });
  expect(stepOf(page)).toBe('consent');
  await transact(at.deps.db, (trx) => accounts.setDisabled(trx, user.sub, true, BY, at.clock.now()));
  expect(await isSignedIn(browser)).toBe(false);
  const post = await browser.post(page.url, { form_token: formTokenOf(page.response), action: 'approve' });
  expect(post.statusCode).toBe(400);
  expect(stepOf(await open(browser, client))).toBe('login');
  // Enabled again, the old sessions stay dead.
  await transact(at.deps.db, (trx) => accounts.setDisabled(trx, user.sub, false, BY, at.clock.now()));
  expect(await isSignedIn(browser)).toBe(false);
});

test('ASVS 7.4.3: a password change ends every session of the person, and nobody else’s', async () => {
  const user = await aUser(at);
  const browsers = await Promise.all([signIn(at, user), signIn(at, user)]);
  const other = await signIn(at, await aUser(at));
  at.clock.advance(1);
  await accounts.setPassword(at.deps, user.sub, 'an entirely new one', BY, at.clock.now());
  for (const browser of browsers) expect(await isSignedIn(browser)).toBe(false);
  expect(await isSignedIn(other)).toBe(true);
});

test('ASVS 7.6.2: no session is made without a sign-in', async () => {
  const count = async () => (await at.deps.db.selectFrom('sessions').select('sid').execute()).length;
  const before = await count();
  const browser = new TestBrowser(at);
  await open(browser, client);
  await browser.get('/login');
  await browser.get('/account');
  await browser.get('/logout');
  await browser.post('/login', {
    username: 'nobody',
    password: 'x',
    form_token: formTokenOf(await browser.get('/login')),
  });
  expect(await count()).toBe(before);
  expect(browser.cookies.has(SESSION)).toBe(false);
});

test.each([
  ['empty', ''],
  ['garbage', '%E0%A4%A'],
  ['no handle', 'hello'],
  ['a handle of nobody', `g15_${'a'.repeat(43)}`],
  ['a bucket no integer holds', `zzzzzz_${'a'.repeat(43)}`],
  ['a bucket that is no number', `______${'a'.repeat(43)}`],
  ['a null byte', `g15_${'a'.repeat(42)}\0`.replace('\0', '%00')],
  ['SQL', `g15_' or 1=1 --`],
  ['oversized', `g15_${'a'.repeat(4000)}`],
  ['quoted', `"g15_${'a'.repeat(43)}"`],
])('a session cookie that is %s is nobody, and no error', async (_what, value) => {
  const headers = { host: 'id.example.test', cookie: `${SESSION}=${value}` };
  const answer = await at.app.inject({ url: '/account', headers });
  expect([answer.statusCode, answer.headers.location]).toEqual([302, 'https://id.example.test/login']);
});

test('of a cookie sent twice one counts, and neither makes an error', async () => {
  const real = (await signIn(at, await aUser(at))).cookies.get(SESSION)!;
  for (const cookie of [
    `${SESSION}=x; ${SESSION}=${real}`,
    `${SESSION}=${real}; ${SESSION}=x`,
    `__proto__=x; ${SESSION}=x; =;;`,
  ]) {
    const { statusCode } = await at.app.inject({ url: '/account', headers: { host: 'id.example.test', cookie } });
    expect([200, 302]).toContain(statusCode);
  }
});

test('the cookie of a person who was deleted is nobody’s', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  await transact(at.deps.db, (trx) => accounts.removeAccount(trx, user.sub, BY, at.clock.now()));
  expect(await isSignedIn(browser)).toBe(false);
  expect(stepOf(await open(browser, client))).toBe('login');
});

test('one browser signing in five times at once is signed in, and signing out signs it out', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const before = browser.cookies.get(SESSION)!;
  const form_token = formTokenOf(await browser.get('/login'));
  const fields = { username: user.username, password: PASSWORD, form_token };
  const answers = await Promise.all(Array.from({ length: 5 }, () => browser.post('/login', fields)));
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([303]));
  expect(await isSignedIn(browser)).toBe(true);
  expect(await isSignedIn(withSession(before))).toBe(false);
  const kept = browser.cookies.get(SESSION)!;
  const form = formTokenOf(await browser.get('/logout'));
  expect((await browser.post('/logout', { form_token: form, action: 'logout' })).statusCode).toBe(303);
  expect(await isSignedIn(withSession(kept))).toBe(false);
});
