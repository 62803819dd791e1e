/**
 * What was checked when somebody was asked is checked again when they answer: by a thief who sits down at a browser where a provider
 * still knows its owner, in another tab, or over many mails.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { User } from '../../../src/store/users.ts';
import { testApp, testClock, type TestApp } from '../../support/app.ts';
import { aClient, aUser, formTokenOf, PASSWORD, signIn, TestBrowser } from '../../support/fixtures.ts';
import { lettersTo } from '../../support/letters.ts';
import { answerTo, follow, open, proceed, signInAt, stepOf, submit, valueOf, type At } from '../../support/pages.ts';
import { anOperator } from '../../support/operator.ts';
import { aPasskey } from '../../support/passkeys.ts';
import { codeOf, withTotp } from '../../support/second-factor.ts';
import { anUpstream, anUpstreamProvider, type UpstreamProvider } from '../../support/upstream-provider.ts';

let at: TestApp;
let provider: UpstreamProvider;
let user: User;
let count = 0;
beforeAll(async () => {
  const clock = testClock();
  provider = await anUpstreamProvider(clock.now);
  at = await testApp({ clock, config: { OUTBOUND_ALLOW: [provider.host], EMAIL_SIGN_IN: 'on' } });
  for (const name of ['work', 'other']) await anUpstream(at, provider, name, { registration: 'off' });
});
beforeEach(async () => {
  await at.deps.db.deleteFrom('failures').execute();
  count += 1;
  user = await aUser(at);
});
afterAll(async () => {
  await at.close();
  await provider.close();
});

/** Somebody who is connected with the provider. */
async function connected(sub: string): Promise<void> {
  const now = at.clock.now();
  const link = { upstream: 'work', issuer: provider.issuer, upstream_sub: `u${count}`, sub };
  await at.deps.db
    .insertInto('upstream_links')
    .values({ ...link, created_at: now, used_at: now })
    .execute();
}
/** Presses the provider's button, and comes back; where that led, and what was asked of the provider. */
async function through(
  browser: TestBrowser,
  url: string,
  { upstream = 'work', ...claims }: { upstream?: string; sub?: string; sid?: string; auth_time?: number } = {},
) {
  const answer = await browser.post(url, { form_token: formTokenOf(await browser.get(url)), upstream });
  const sent = new URL(answer.headers.location!);
  const back = await browser.get(provider.approve(sent, { claims: { sub: `u${count}`, ...claims } }));
  return { to: back.headers.location!, sent: sent.searchParams };
}
const seconds = () => Math.floor(at.clock.now().getTime() / 1000);

test('a provider that does not say when it asked makes nobody’s sign-in fresh who can prove here that it is them', async () => {
  await connected(user.sub);
  const thief = new TestBrowser(at);
  expect((await through(thief, '/login')).to).toMatch(/\/account$/);
  expect((await thief.get('/account')).statusCode).toBe(200);
  for (const page of ['passkeys', 'authenticator']) {
    expect((await thief.get(`/account/${page}`)).headers.location).toContain(`/login?to=${page}`);
  }
  const { to, sent } = await through(thief, '/login?to=passkeys');
  expect(to).toContain('outcome=stale');
  // OpenID Connect Core §3.1.2.1: with max_age it has to say.
  expect([sent.get('prompt'), sent.get('max_age')]).toEqual(['login', '0']);
  // Nor does a client that asks for one get it, whichever page they sign in on.
  const client = await aClient(at, { skip_consent: true });
  for (const wish of [{ prompt: 'login' }, { max_age: '60' }]) {
    const asked = await open(thief, client, wish);
    expect((await through(thief, asked.url)).to).toContain('outcome=stale');
    await through(thief, '/login');
    expect(stepOf(await follow(thief, await thief.get(asked.url.replace(/\/login.*/, ''))))).toBe('login');
  }
  expect(answerTo(client, (await open(thief, client)).response)).toHaveProperty('code');
  // One that says so is believed, and so is what was shown here.
  expect((await through(thief, '/login?to=passkeys', { auth_time: seconds() })).to).toContain('/account/passkeys');
  expect((await thief.get('/account/passkeys')).statusCode).toBe(200);
});

test('whoever has no other way is believed to have been asked; whoever shows an authenticator app has been', async () => {
  const alone = await aUser(at, { password: undefined });
  await connected(alone.sub);
  const browser = new TestBrowser(at);
  expect((await through(browser, '/login?to=passkeys')).to).toContain('/account/passkeys');
  expect((await browser.get('/account/passkeys')).statusCode).toBe(200);

  count += 1;
  await connected(user.sub);
  const { secret } = await withTotp(at, user);
  const careful = new TestBrowser(at);
  await through(careful, '/login');
  const owed = await follow(careful, await careful.get('/account'));
  expect(stepOf(owed)).toBe('second-factor');
  await proceed(careful, owed, { otp: codeOf(at, secret) });
  expect((await careful.get('/account/passkeys')).statusCode).toBe(200);
});

test('a live session at one provider connects nobody from another, and a visit that took long connects nobody', async () => {
  await connected(user.sub);
  const thief = new TestBrowser(at);
  expect((await through(thief, '/login', { upstream: 'other', sub: 'thief' })).to).toContain('outcome=connect');
  await through(thief, '/login');
  await thief.post('/account/connections', {
    form_token: formTokenOf(await thief.get('/account/connections')),
    action: 'connect',
  });
  const links = () =>
    at.deps.db.selectFrom('upstream_links').select('upstream_sub').where('sub', '=', user.sub).execute();
  expect(await links()).toHaveLength(1);

  const owner = await signIn(at, user);
  const form_token = formTokenOf(await owner.get('/account/connections'));
  const left = await owner.post('/account/connections', { form_token, upstream: 'other' });
  const back = provider.approve(left.headers.location!, { claims: { sub: 'thief' } });
  at.clock.advance(601);
  expect((await owner.get(back)).headers.location).toContain('outcome=gone');
  expect(await links()).toHaveLength(1);
});

test('consent and the keeping of an account count only while it is their turn, whatever another tab did meanwhile', async () => {
  const client = await aClient(at);
  const { secret } = await withTotp(at, user);
  const consents = () => at.deps.db.selectFrom('consents').selectAll().where('sub', '=', user.sub).execute();
  const code = () => {
    at.clock.advance(60);
    return codeOf(at, secret);
  };
  const browser = new TestBrowser(at);
  const owed = await signInAt(browser, await open(browser, client), user);
  const consent = await proceed(browser, owed, { otp: code() });
  expect(stepOf(consent)).toBe('consent');
  // In another tab somebody who knows the password alone: the same session, which owes again.
  const password = { username: user.username, password: PASSWORD };
  const again = async () =>
    browser.post('/login', { form_token: formTokenOf(await browser.get('/login')), ...password });
  await again();
  expect(stepOf(await proceed(browser, consent, { action: 'approve' }))).toBe('second-factor');
  expect(await consents()).toEqual([]);
  // The other order: first the page that was owed, then the one that was open before.
  const show = async ({ url }: At) => submit(browser, { url, response: await browser.get(url) }, { otp: code() });
  await show(owed);
  expect(answerTo(client, (await proceed(browser, consent, { action: 'approve' })).response)).toHaveProperty('code');

  const second = await open(browser, client, { prompt: 'consent' });
  await at.deps.db
    .updateTable('users')
    .set({ erase_after: new Date(at.clock.now().getTime() + 86_400_000) })
    .where('sub', '=', user.sub)
    .execute();
  const keep = await proceed(browser, second, { action: 'approve' });
  expect(stepOf(keep)).toBe('keep-account');
  await again();
  expect(stepOf(await proceed(browser, keep, { action: 'keep' }))).toBe('second-factor');
  const { erase_after } = await at.deps.db
    .selectFrom('users')
    .select('erase_after')
    .where('sub', '=', user.sub)
    .executeTakeFirstOrThrow();
  expect(erase_after).not.toBeNull();
  await show(await proceed(browser, keep, { action: 'keep' }));
  expect(stepOf(await proceed(browser, keep, { action: 'keep' }))).toBe('consent');
});

test('OWASP ASVS 6.3.1: wrong codes of mails are counted by address over all mails, also where nobody has it; the link goes on', async () => {
  const ask = async (browser: TestBrowser, email: string): Promise<At> => {
    at.clock.advance(1);
    await at.deps.db.deleteFrom('failures').where('key', 'like', 'mail:%').execute();
    const form_token = formTokenOf(await browser.get('/login/email'));
    return follow(browser, await browser.post('/login/email', { form_token, email }));
  };
  const type = async (browser: TestBrowser, page: At, otp: string) =>
    submit(browser, page, { request: valueOf(page.response, 'request') ?? '', otp, action: 'verify' });
  for (const email of [user.email!, 'nobody@elsewhere.example']) {
    const thief = new TestBrowser(at);
    const seen: number[] = [];
    for (let mails = 0; mails < 5; mails += 1) {
      const page = await ask(thief, email);
      for (let guesses = 0; guesses < 5; guesses += 1) seen.push((await type(thief, page, 'x')).statusCode);
    }
    expect(seen).toEqual([...Array<number>(20).fill(400), ...Array<number>(5).fill(429)]);
  }
  await lettersTo(at, user.email!);
  const owner = new TestBrowser(at);
  const page = await ask(owner, user.email!);
  const [letter] = await lettersTo(at, user.email!);
  expect((await type(owner, page, letter!.code)).statusCode).toBe(429);
  const link = { url: letter!.link, response: await owner.get(letter!.link) };
  expect((await proceed(owner, link, {})).url).toMatch(/\/account$/);
  // From then on there is one an hour, and a right one gives nobody the others back.
  at.clock.advance(3601);
  const later = await ask(owner, user.email!);
  const [fresh] = await lettersTo(at, user.email!);
  expect((await type(owner, later, fresh!.code)).statusCode).toBe(303);
  expect((await type(owner, await ask(owner, user.email!), 'x')).statusCode).toBe(429);
});

test.each([
  ['a new password', 'reset-password'],
  ['the button that verifies it', 'verify-email'],
  ['an invitation', 'invitation'],
])(
  'what somebody made before its owner confirmed the address is gone with %s: factors, connections, sessions, links',
  async (_what, template) => {
    const operator = await anOperator(at);
    const known = template !== 'invitation';
    user = await aUser(at, { email_verified: false, ...(!known && { password: undefined }) });
    const { sub, email } = user;
    const first = known ? await signIn(at, user) : new TestBrowser(at);
    await withTotp(at, user);
    // In the account that is invited one from which the provider was taken since: it would be a way in again one day.
    await connected(sub);
    if (known) await aPasskey(at, user);
    else await at.deps.db.updateTable('upstreams').set({ disabled: true }).execute();
    const left = { upstream: 'work', sub: `u${count}` };
    if (template === 'reset-password') {
      const url = '/forgot-password';
      const form_token = formTokenOf(await first.get(url));
      await first.post(url, { form_token, username: email!, interaction: '' });
    } else {
      const action = template === 'verify-email' ? 'send-verification' : 'invite';
      await operator.send('POST', `/users/${sub}/${action}`, {});
    }
    const letter = (await lettersTo(at, email!)).find((sent) => sent.template === template);
    const owner = new TestBrowser(at);
    const page = { url: letter!.link, response: await owner.get(letter!.link) };
    await proceed(owner, page, { 'new-password': `${PASSWORD}, mine` });
    await at.deps.db.updateTable('upstreams').set({ disabled: false }).execute();
    expect((await first.get('/account')).statusCode).toBe(302);
    expect((await through(new TestBrowser(at), '/login', left)).to).toContain('outcome=connect');
    const credentials = ['passkeys', 'totp_credentials', 'recovery_codes', 'upstream_links'] as const;
    for (const table of credentials)
      expect(await at.deps.db.selectFrom(table).select('sub').where('sub', '=', sub).execute(), table).toEqual([]);
    const mine = await signIn(at, user, `${PASSWORD}, mine`);
    expect((await mine.get('/account')).statusCode).toBe(200);
    expect((await lettersTo(at, email!)).map((told) => told.template)).toContain('notice');
    if (template !== 'reset-password') return;
    // From then on the address is theirs, and nothing goes with a new password but the old one.
    await aPasskey(at, user);
    const url = '/forgot-password';
    await mine.post(url, { form_token: formTokenOf(await mine.get(url)), username: email!, interaction: '' });
    at.clock.advance(1);
    const again = (await lettersTo(at, email!)).find(
      (told) => told.link.includes('reset') && told.link !== letter!.link,
    )!;
    await proceed(owner, { url: again.link, response: await owner.get(again.link) }, { 'new-password': PASSWORD });
    expect(await at.deps.db.selectFrom('passkeys').select('sub').where('sub', '=', sub).execute()).toHaveLength(1);
  },
);

test('whoever verifies the address in a session of the account keeps everything', async () => {
  user = await aUser(at, { email_verified: false });
  const browser = await signIn(at, user);
  await aPasskey(at, user);
  await (await anOperator(at)).send('POST', `/users/${user.sub}/send-verification`, {});
  const letter = (await lettersTo(at, user.email!)).find(({ template }) => template === 'verify-email');
  const response = await browser.get(letter!.link);
  expect(response.body).not.toContain('new-password');
  await proceed(browser, { url: letter!.link, response }, {});
  expect((await browser.get('/account')).statusCode).toBe(200);
  const row = await at.deps.db.selectFrom('users').selectAll().where('sub', '=', user.sub).executeTakeFirstOrThrow();
  expect(row.email_verified).toBe(true);
  expect(await at.deps.db.selectFrom('passkeys').select('sub').where('sub', '=', user.sub).execute()).toHaveLength(1);
});

test('a session that is carried on is still known as the provider’s when its first row has run out', async () => {
  await connected(user.sub);
  const browser = new TestBrowser(at);
  await through(browser, '/login', { sid: 'theirs' });
  at.clock.advance(80_000);
  const form_token = formTokenOf(await browser.get('/login'));
  await browser.post('/login', { form_token, username: user.username, password: PASSWORD });
  const [session] = await at.deps.db
    .selectFrom('sessions')
    .selectAll()
    .where('sub', '=', user.sub)
    .where('ended_at', 'is', null)
    .execute();
  const rows = await at.deps.db.selectFrom('upstream_sessions').selectAll().where('sub', '=', user.sub).execute();
  expect(rows.map(({ sid, upstream_sid }) => [sid, upstream_sid])).toEqual(rows.map(() => [session!.sid, 'theirs']));
  expect(Math.max(...rows.map(({ expires_bucket }) => expires_bucket))).toBe(session!.expires_bucket);
});
