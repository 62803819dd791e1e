/**
 * What was asked for, begun or added by whoever sat in somebody's session for a while, and is to be of no use once they were thrown
 * out: links, connections with providers, and sign-ins that are under way.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { disconnectFrom } from '../../../src/authorize/upstream-connections.ts';
import type { User } from '../../../src/store/users.ts';
import { setPassword } from '../../../src/users/accounts.ts';
import { BY } from '../../support/administer.ts';
import { testApp, testClock, type TestApp } from '../../support/app.ts';
import { aUser, formTokenOf, PASSWORD, signIn, TestBrowser } from '../../support/fixtures.ts';
import { linkIn, mailTo } from '../../support/mailbox.ts';
import { anOperator } from '../../support/operator.ts';
import { withTotp } from '../../support/second-factor.ts';
import { anUpstream, anUpstreamProvider, type UpstreamProvider } from '../../support/upstream-provider.ts';

let at: TestApp;
let provider: UpstreamProvider;
let user: User;
let thief: TestBrowser;
let count = 0;
beforeAll(async () => {
  const clock = testClock();
  provider = await anUpstreamProvider(clock.now);
  at = await testApp({ clock, config: { OUTBOUND_ALLOW: [provider.host] } });
  await anUpstream(at, provider, 'work', { registration: 'off' });
});
beforeEach(async () => {
  await at.deps.db.deleteFrom('failures').execute();
  count += 1;
  user = await aUser(at);
  thief = await signIn(at, user);
});
afterAll(async () => {
  await at.close();
  await provider.close();
});

/** The form of a page, with what is typed. */
async function send(browser: TestBrowser, page: string, fields: Record<string, string>) {
  at.clock.advance(1);
  return browser.post(page, { form_token: formTokenOf(await browser.get(page)), ...fields });
}
/** Whoever asked confirms; anybody with the mail takes back. */
const press = async (link: string) =>
  (await send(link.includes('/confirm/') ? thief : new TestBrowser(at), new URL(link).pathname, {})).statusCode;
const addressed = () => `thief${count}@example.test`;
async function asked(email = addressed()): Promise<string> {
  await send(thief, '/account/email', { email });
  return linkIn(at, email, 'confirm-email');
}
const emailOf = async () =>
  (await at.deps.db.selectFrom('users').select('email').where('sub', '=', user.sub).executeTakeFirstOrThrow()).email;
const linksOf = () => at.deps.db.selectFrom('upstream_links').selectAll().where('sub', '=', user.sub).execute();
/** Begins to connect somebody at the provider; where the provider leads back to. */
async function connecting(browser: TestBrowser): Promise<string> {
  const answer = await send(browser, '/account/connections', { upstream: 'work' });
  const claims = { sub: `u${count}`, email: addressed(), email_verified: true };
  return provider.approve(answer.headers.location!, { claims });
}
/** Signs in with the provider, as whoever is connected; where that led. */
async function withProvider(): Promise<[TestBrowser, () => Promise<string>]> {
  const browser = new TestBrowser(at);
  const answer = await send(browser, '/login', { upstream: 'work' });
  const callback = provider.approve(answer.headers.location!, { claims: { sub: `u${count}` } });
  return [browser, async () => (await browser.get(callback)).headers.location!];
}

test('a change of address that waits to be confirmed ends with the sessions: by a new password, by their person, or by an operator', async () => {
  const ways: Array<() => Promise<unknown>> = [
    () => setPassword(at.deps, user.sub, PASSWORD, BY, at.clock.now()),
    async () => {
      await send(new TestBrowser(at), '/forgot-password', { username: user.username, interaction: '' });
      const link = new URL(await linkIn(at, user.email!, 'reset-password')).pathname;
      expect((await send(new TestBrowser(at), link, { 'new-password': PASSWORD })).statusCode).toBe(303);
    },
    async () => send(await signIn(at, user), '/account/sessions', { others: 'yes' }),
    async () => {
      const { sid } = await at.deps.db
        .selectFrom('sessions')
        .select('sid')
        .where('sub', '=', user.sub)
        .executeTakeFirstOrThrow();
      await send(await signIn(at, user), '/account/sessions', { end: sid });
    },
    async () => {
      const form = { 'current-password': PASSWORD, 'new-password': `${PASSWORD}, again`, 'end-others': 'yes' };
      expect((await send(await signIn(at, user), '/account/password', form)).headers.location).toContain('changed');
    },
    async () => {
      const answer = await (await anOperator(at)).send('POST', `/users/${user.sub}/sign-out`);
      expect(answer.statusCode).toBeLessThan(300);
    },
  ];
  for (const end of ways) {
    user = await aUser(at);
    thief = await signIn(at, user);
    count += 1;
    await at.deps.db.deleteFrom('failures').execute();
    const link = await asked();
    await end();
    expect(await press(link)).toBe(400);
    // It is void, and does not only lack the sign-in of before.
    expect((await new TestBrowser(at).get(new URL(link).pathname)).statusCode).toBe(400);
    expect(await emailOf()).toBe(user.email);
  }
});

test('a change of address that nobody has answered yet is not answered once all sessions ended', async () => {
  await send(thief, '/account/email', { email: addressed() });
  at.clock.advance(1);
  await setPassword(at.deps, user.sub, PASSWORD, BY, at.clock.now());
  expect(await mailTo(at, addressed())).toEqual([]);
});

test('a link to a new password is void once its person changed the password themselves', async () => {
  await send(new TestBrowser(at), '/forgot-password', { username: user.username, interaction: '' });
  const link = await linkIn(at, user.email!, 'reset-password');
  const form = { 'current-password': PASSWORD, 'new-password': `${PASSWORD}, again` };
  expect((await send(thief, '/account/password', form)).headers.location).toContain('changed');
  expect((await new TestBrowser(at).get(new URL(link).pathname)).statusCode).toBe(400);
});

test('whoever changes the address twice, and takes the second change back, takes nothing from the first address', async () => {
  expect(await press(await asked())).toBe(303);
  const undo = await linkIn(at, user.email!, 'email-changed');
  expect(await press(await asked(`second-${addressed()}`))).toBe(303);
  const theirs = await linkIn(at, addressed(), 'email-changed');
  expect(await press(theirs)).toBe(303);
  expect(await emailOf()).toBe(addressed());
  expect(await press(undo)).toBe(303);
  expect(await emailOf()).toBe(user.email);
});

test('taking back a change of address takes what was changed after it too: later links of that kind are void', async () => {
  expect(await press(await asked())).toBe(303);
  const undo = await linkIn(at, user.email!, 'email-changed');
  expect(await press(await asked(`second-${addressed()}`))).toBe(303);
  const theirs = await linkIn(at, addressed(), 'email-changed');
  expect(await press(undo)).toBe(303);
  expect(await press(theirs)).toBe(400);
  expect(await emailOf()).toBe(user.email);
});

test('taking back a change of address ends connections that were made since', async () => {
  expect(await press(await asked())).toBe(303);
  await thief.get(await connecting(thief));
  expect(await linksOf()).toHaveLength(1);
  expect(await press(await linkIn(at, user.email!, 'email-changed'))).toBe(303);
  expect(await linksOf()).toEqual([]);
  const [, arrive] = await withProvider();
  expect(await arrive()).toContain('outcome=connect');
});

test('a visit to a provider connects nobody who came back with the password alone, or signed in anew', async () => {
  const begun = await connecting(thief);
  await withTotp(at, user);
  expect((await thief.get(begun)).headers.location).toContain('outcome=gone');
  expect(await linksOf()).toEqual([]);

  user = await aUser(at);
  thief = await signIn(at, user);
  const later = await connecting(thief);
  await send(await signIn(at, user), '/account/sessions', { others: 'yes' });
  await send(thief, '/login', { username: user.username, password: PASSWORD });
  expect((await thief.get(later)).headers.location).toContain('outcome=gone');
  expect(await linksOf()).toEqual([]);
});

test('who ends a connection ends what was signed in by it', async () => {
  await thief.get(await connecting(thief));
  const [elsewhere, arrive] = await withProvider();
  expect(await arrive()).toBe('https://id.example.test/account');
  const session = await at.deps.db
    .selectFrom('sessions')
    .select(['sub', 'sid', 'auth_time', 'amr'])
    .where('sub', '=', user.sub)
    .orderBy('created_at')
    .executeTakeFirstOrThrow();
  const which = { upstream: 'work', upstream_sub: `u${count}` };
  expect(await disconnectFrom(at.deps, session, which, BY as never, at.clock.now())).toBe('disconnected');
  expect((await elsewhere.get('/account')).statusCode).toBe(302);
  expect((await thief.get('/account')).statusCode).toBe(200);
});

test('nobody fills a mailbox from many accounts: requests to one address are counted together', async () => {
  const answers: number[] = [];
  for (let times = 0; times < 7; times += 1) {
    const someone = await signIn(at, await aUser(at));
    answers.push((await send(someone, '/account/email', { email: user.email! })).statusCode);
  }
  expect(answers).toEqual([303, 303, 303, 303, 303, 429, 429]);
});

test('who signs in with a provider is not invited to a password', async () => {
  const invited = await aUser(at, { password: undefined });
  const operator = await anOperator(at);
  const first = (await operator.send('POST', `/users/${invited.sub}/invite`, { link: true })).json<{ url: string }>();
  const now = at.clock.now();
  const link = { upstream: 'work', issuer: provider.issuer, upstream_sub: `i${count}`, sub: invited.sub };
  await at.deps.db
    .insertInto('upstream_links')
    .values({ ...link, created_at: now, used_at: now })
    .execute();
  expect((await new TestBrowser(at).get(new URL(first.url).pathname)).statusCode).toBe(400);
  const again = await operator.send('POST', `/users/${invited.sub}/invite`, { link: true });
  expect(again.json()).toEqual({ invited: false, mailed: false });
});

test('an account that is to be erased gives a script no token', async () => {
  const login = () =>
    at.app.inject({ method: 'POST', url: '/login', payload: { username: user.username, password: PASSWORD } });
  expect((await login()).statusCode).toBe(200);
  await send(thief, '/account/delete', { action: 'delete' });
  const refused = await login();
  expect([refused.statusCode, refused.json<{ error: string }>().error]).toEqual([401, 'invalid_credentials']);
  const browser = await signIn(at, user);
  await send(browser, '/account/delete', { action: 'keep' });
  expect((await login()).statusCode).toBe(200);
});
