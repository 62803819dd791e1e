/** Invitations: an operator makes an account, and only who opens the link has its first password. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as users from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { Authenticator } from '../../support/authenticator.ts';
import { aUser, formTokenOf, PASSWORD, TestBrowser } from '../../support/fixtures.ts';
import { lettersTo } from '../../support/letters.ts';
import { anOperator } from '../../support/operator.ts';
import { proceed, submit } from '../../support/pages.ts';
import { askedOn } from '../../support/passkeys.ts';
import { codesOn } from '../../support/second-factor.ts';

let at: TestApp;
let other: TestApp;
beforeAll(async () => {
  at = await testApp();
  other = await testApp({ clock: at.clock, database: at.database });
});
afterAll(async () => {
  await other.close();
  await at.close();
});

const anInvitee = () => aUser(at, { password: undefined, email_verified: false });
/** By an operator who signed in just now: the clock is moved by days. */
const send = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown) =>
  (await anOperator(at)).send(method, path, body);
const invite = (sub: string, body: unknown = {}) => send('POST', `/users/${sub}/invite`, body);
const canSignIn = async (username: string, password = PASSWORD): Promise<boolean> =>
  (await at.app.inject({ method: 'POST', url: '/login', payload: { username, password } })).statusCode === 200;

test('the link of the mail sets the first password, verifies the address, and signs in; looking at it changes nothing', async () => {
  const user = await anInvitee();
  const answer = await invite(user.sub);
  expect(answer.json()).toMatchObject({ invited: true, mailed: true });
  expect(answer.json()).not.toHaveProperty('url');
  const [letter] = await lettersTo(at, user.email!);
  expect(letter).toMatchObject({ template: 'invitation', code: '' });
  expect(letter!.link).toMatch(/^https:\/\/id\.example\.test\/invitation\/[\w-]+$/);
  const browser = new TestBrowser(at);
  for (let time = 0; time < 3; time += 1) expect((await new TestBrowser(at).get(letter!.link)).statusCode).toBe(200);
  const page = { url: letter!.link, response: await browser.get(letter!.link) };
  expect(page.response.body).toContain(user.email);
  expect((await proceed(browser, page, { 'new-password': 'password' })).response.statusCode).toBe(400);
  const stranger = new TestBrowser(at);
  await stranger.get('/login');
  const forged = { form_token: formTokenOf(page.response), 'new-password': PASSWORD };
  expect((await stranger.post(letter!.link, forged)).statusCode).toBe(400);
  at.clock.advance(7 * 86_400 - 1);
  const done = await proceed(browser, page, { 'new-password': PASSWORD });
  expect(done.url).toBe('https://id.example.test/account');
  expect(await canSignIn(user.username)).toBe(true);
  expect(await users.find(at.deps.db, user.sub)).toMatchObject({ email_verified: true });
  expect((await browser.get(letter!.link)).statusCode).toBe(400);
  expect((await invite(user.sub)).json()).toEqual({ invited: false, mailed: false });
  const events = await at.deps.db.selectFrom('audit_events').select('event').where('sub', '=', user.sub).execute();
  expect(events.map(({ event }) => event).slice(0, 4)).toEqual([
    'user_created',
    'invited',
    'invitation_accepted',
    'sign_in',
  ]);
});

test('a passkey alone accepts it as well: then there is no password, and the mail of a forgotten one brings one', async () => {
  const user = await anInvitee();
  const { url } = (await invite(user.sub, { link: true })).json<{ url: string }>();
  const browser = new TestBrowser(at);
  const device = new Authenticator(browser.issuer);
  const look = async (by = browser) => ({ url, response: await by.get(url) });
  const foreign = device.create(askedOn((await look(new TestBrowser(at))).response));
  const page = await look();
  const asked = askedOn(page.response);
  const unseen = new Authenticator(browser.issuer, { user_verified: false }).create(askedOn(page.response));
  for (const passkey of ['{}', foreign, unseen]) {
    const again = await proceed(browser, page, { action: 'create', passkey });
    expect([again.response.statusCode, again.response.body]).toEqual([400, expect.stringContaining('id="problem"')]);
  }
  expect((await users.find(at.deps.db, user.sub))?.email_verified).toBe(false);
  const done = await proceed(browser, page, { action: 'create', passkey: device.create(asked) });
  const codes = codesOn(done.response);
  expect(codes).toHaveLength(10);
  const file = await submit(browser, { url, response: done.response }, { action: 'download', codes: codes.join(' ') });
  expect(file.body).toContain(codes[9]);
  expect((await browser.get('/account')).statusCode).toBe(200);
  expect((await browser.get(url)).statusCode).toBe(400);
  const session = await at.deps.db.selectFrom('sessions').selectAll().where('sub', '=', user.sub).executeTakeFirst();
  expect(session).toMatchObject({ amr: ['hwk', 'user'], acr: '2' });
  expect(await users.find(at.deps.db, user.sub)).toMatchObject({ email_verified: true });
  expect(await users.passwordChangedAt(at.deps.db, user.sub)).toBeUndefined();
  expect((await invite(user.sub)).json()).toEqual({ invited: false, mailed: false });

  const later = new TestBrowser(at);
  const login = { url: '/login', response: await later.get('/login') };
  await proceed(later, login, { action: 'passkey', passkey: device.use(askedOn(login.response)) });
  expect((await later.get('/account')).statusCode).toBe(200);
  const forgot = { url: '/forgot-password', response: await later.get('/forgot-password') };
  await submit(later, forgot, { username: user.email!, interaction: '' });
  const letter = (await lettersTo(at, user.email!)).find(({ template }) => template === 'reset-password')!;
  await proceed(later, { url: letter.link, response: await later.get(letter.link) }, { 'new-password': PASSWORD });
  expect(await canSignIn(user.username)).toBe(true);
  expect(await at.deps.db.selectFrom('passkeys').select('sub').where('sub', '=', user.sub).execute()).toHaveLength(1);
});

test('fifty at once over two servers set one password, or make one passkey', async () => {
  const user = await anInvitee();
  const { url } = (await invite(user.sub, { link: true })).json<{ url: string }>();
  const [one, two] = [new TestBrowser(at), new TestBrowser(other)];
  const page = await one.get(url);
  const form_token = formTokenOf(page);
  for (const [name, value] of one.cookies) two.cookies.set(name, value);
  const passkey = new Authenticator(one.issuer).create(askedOn(page));
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      (index % 2 === 0 ? one : two).post(
        url,
        index % 5 === 0 ? { form_token, action: 'create', passkey } : { form_token, 'new-password': PASSWORD },
      ),
    ),
  );
  expect(answers.filter(({ statusCode }) => statusCode < 400).length).toBeLessThanOrEqual(1);
  const password = (await users.passwordChangedAt(at.deps.db, user.sub)) === undefined ? 0 : 1;
  const keys = await at.deps.db.selectFrom('passkeys').select('sub').where('sub', '=', user.sub).execute();
  expect(password + keys.length).toBe(1);
  expect(answers.filter(({ statusCode }) => statusCode === 500)).toEqual([]);
  const accepted = await at.deps.db
    .selectFrom('audit_events')
    .selectAll()
    .where('sub', '=', user.sub)
    .where('event', '=', 'invitation_accepted')
    .execute();
  expect(accepted).toHaveLength(1);
});

test.each([
  ['invited again', async (sub: string) => invite(sub)],
  ['disabled', async (sub: string) => send('POST', `/users/${sub}/disable`, {})],
  ['deleted', async (sub: string) => send('DELETE', `/users/${sub}`)],
  ['given a password', async (sub: string) => send('POST', `/users/${sub}/set-password`, {})],
  ['given another address', async (sub: string) => send('PATCH', `/users/${sub}`, { email: `${sub}@example.test` })],
  ['late', async () => at.clock.advance(7 * 86_400)],
])('an invitation ends when the person is %s', async (_what, change) => {
  const user = await anInvitee();
  const { url } = (await invite(user.sub, { link: true })).json<{ url: string }>();
  const browser = new TestBrowser(at);
  const page = { url, response: await browser.get(url) };
  expect(page.response.statusCode).toBe(200);
  const changed = await change(user.sub);
  expect(changed === undefined || changed.statusCode < 300).toBe(true);
  expect((await browser.get(url)).statusCode).toBe(400);
  expect((await proceed(browser, page, { 'new-password': PASSWORD })).response.statusCode).toBe(400);
  expect(await canSignIn(user.username)).toBe(false);
});

test('by address it is one operation: of two at once one makes the account, and again it is another link until they have come', async () => {
  const by = await anOperator(at);
  await by.send('POST', '/groups', { name: 'invited' });
  const wanted = { email: 'Admin@invited.example', name: 'Grace Hopper', groups: ['invited'], link: true };
  type Made = Record<'sub' | 'username' | 'url' | 'expires_at', string> & { created: boolean };
  const both = [by, await anOperator(other)];
  const answers = await Promise.all(both.map((each) => each.send('POST', '/invitations', wanted)));
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([201]));
  const made = answers.map((answer) => answer.json<Made>());
  expect(made.filter(({ created }) => created)).toHaveLength(1);
  const { sub, username } = made[0]!;
  expect(new Set(made.map((each) => `${each.sub} ${each.username}`)).size).toBe(1);
  // Nobody is called admin by having a mailbox of that name.
  expect(username).toMatch(/^Admin-[0-9a-f]{8}$/);
  at.clock.advance(60);
  const again = (await by.send('POST', '/invitations', { email: 'admin@invited.example', link: true })).json<Made>();
  expect(again).toMatchObject({ sub, username, created: false, invited: true, mailed: true });
  const until = { invited_until: again.expires_at };
  expect((await by.send('GET', `/users/${sub}`)).json()).toMatchObject({ claims: { name: 'Grace Hopper' }, ...until });
  expect((await by.send('GET', `/groups?sub=${sub}`)).json()).toMatchObject({ items: [{ name: 'invited' }] });

  const refused = async (body: object, scope?: string[]) =>
    (await (await anOperator(at, scope)).send('POST', '/invitations', body)).statusCode;
  expect(await refused({ ...wanted, groups: ['nobody-made-it'] })).toBe(400);
  expect(await refused({ ...wanted, email: username })).toBe(400);
  expect(await refused(wanted, ['users:write'])).toBe(403);
  expect(await refused({ email: wanted.email }, ['users:write'])).toBe(201);

  const { url } = (await by.send('POST', '/invitations', wanted)).json<Made>();
  const browser = new TestBrowser(at);
  await proceed(browser, { url, response: await browser.get(url) }, { 'new-password': PASSWORD });
  expect((await by.send('GET', `/users/${sub}`)).json()).toMatchObject({ email_verified: true, invited_until: null });
  const come = await by.send('POST', '/invitations', { ...wanted, groups: ['nobody-made-it'] });
  expect(come.json()).toMatchObject({ sub, created: false, invited: false, mailed: false });
});

test('whose drawn password has ended can be invited, and no invitation of before comes to life by that', async () => {
  const user = await anInvitee();
  const { url } = (await invite(user.sub, { link: true })).json<{ url: string }>();
  const drawn = (await send('POST', `/users/${user.sub}/set-password`, {})).json<{ expires_at: string }>();
  const password = `/users/${user.sub}/credentials/password`;
  expect((await send('GET', password)).json()).toMatchObject({ expires_at: drawn.expires_at });
  expect((await invite(user.sub)).json()).toMatchObject({ invited: false });
  at.clock.advance(3 * 86_400);
  const browser = new TestBrowser(at);
  expect((await browser.get(url)).statusCode).toBe(400);
  const anew = (await invite(user.sub, { link: true })).json<{ url: string }>();
  await proceed(browser, { url: anew.url, response: await browser.get(anew.url) }, { 'new-password': PASSWORD });
  expect(await canSignIn(user.username)).toBe(true);
  expect((await send('GET', password)).json()).not.toHaveProperty('expires_at');
});

test('without mail the link has to be asked for', async () => {
  const silent = await testApp({ config: { SMTP_URL: undefined }, clock: at.clock, database: at.database });
  const by = await anOperator(silent);
  const user = await anInvitee();
  const refused = await by.send('POST', `/users/${user.sub}/invite`, {});
  expect([refused.statusCode, refused.body]).toEqual([409, expect.stringContaining('ask for the link')]);
  const shown = (await by.send('POST', `/users/${user.sub}/invite`, { link: true })).json<Record<string, unknown>>();
  expect(shown).toMatchObject({ invited: true, mailed: false, url: expect.stringContaining('/invitation/') as string });
  await silent.close();
});

test('the link of a verification verifies the address it was sent to, once, and signs nobody in', async () => {
  const user = await aUser(at, { email_verified: false });
  const verification = () => send('POST', `/users/${user.sub}/send-verification`, {});
  expect((await verification()).json()).toEqual({ sent: true });
  const [first] = await lettersTo(at, user.email!);
  at.clock.advance(1);
  await verification();
  const [second] = await lettersTo(at, user.email!);
  const browser = new TestBrowser(at);
  expect((await browser.get(first!.link)).statusCode).toBe(400);
  const page = { url: second!.link, response: await browser.get(second!.link) };
  expect(await users.find(at.deps.db, user.sub)).toMatchObject({ email_verified: false });
  // Whoever made the account may be another: elsewhere than in a session of it the password is chosen anew.
  expect((await proceed(browser, page, {})).response.statusCode).toBe(400);
  const done = await proceed(browser, page, { 'new-password': `${PASSWORD}, mine` });
  expect([done.response.statusCode, done.response.headers.location]).toEqual([200, undefined]);
  expect(await users.find(at.deps.db, user.sub)).toMatchObject({ email_verified: true });
  expect(await canSignIn(user.username)).toBe(false);
  expect((await browser.get('/account')).statusCode).toBe(302);
  expect((await verification()).json()).toEqual({ sent: false });
  // Another address is not verified, and the link that went to the former one verifies nothing.
  await send('PATCH', `/users/${user.sub}`, { email: 'first@example.test' });
  await verification();
  const [third] = await lettersTo(at, 'first@example.test');
  await send('PATCH', `/users/${user.sub}`, { email: 'second@example.test' });
  expect((await browser.get(third!.link)).statusCode).toBe(400);
});
