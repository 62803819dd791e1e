import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import * as passkeys from '../../../src/store/passkeys.ts';
import * as users from '../../../src/store/users.ts';
import type { User } from '../../../src/store/users.ts';
import { setPassword } from '../../../src/users/accounts.ts';
import { BY } from '../../support/administer.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { aUser, formTokenOf, PASSWORD, signIn, TestBrowser } from '../../support/fixtures.ts';
import { recordStatements } from '../../support/lists.ts';
import { linkIn, mailTo } from '../../support/mailbox.ts';
import { aPasskey } from '../../support/passkeys.ts';
import { withTotp } from '../../support/second-factor.ts';
import { deletionAsked } from '../../support/standing.ts';

let at: TestApp;
let other: TestApp;
let user: User;
let browser: TestBrowser;
let count = 0;
let address: string;

beforeAll(async () => {
  at = await testApp();
  other = await testApp({ database: at.database, clock: at.clock });
});
beforeEach(async () => {
  at.clock.advance(86_400);
  user = await aUser(at);
  browser = await signIn(at, user);
  address = `new${(count += 1)}@example.test`;
  await at.deps.db.deleteFrom('mails').execute();
});
afterAll(async () => {
  await other.close();
  await at.close();
});

async function ask(email = address, from = browser) {
  at.clock.advance(1);
  const page = await from.get('/account/email');
  return from.post('/account/email', { form_token: formTokenOf(page), email });
}
/** A change is confirmed by who asked, and taken back by whoever has the mail. */
async function press(link: string, from = link.includes('/confirm/') ? browser : new TestBrowser(at)) {
  at.clock.advance(1);
  const page = await from.get(link);
  return from.post(new URL(link).pathname, { form_token: formTokenOf(page) });
}
const emailOf = async (sub = user.sub) =>
  at.deps.db.selectFrom('users').select(['email', 'email_verified']).where('sub', '=', sub).executeTakeFirstOrThrow();
const asked = async (email = address): Promise<string> => {
  await ask(email);
  return linkIn(at, email, 'confirm-email');
};
/** The change was made; the link that takes it back. */
async function changed(): Promise<string> {
  expect((await press(await asked())).statusCode).toBe(303);
  return linkIn(at, user.email!, 'email-changed');
}

test('a new address is confirmed by its own mail, signed in as who asked, on any device, and both addresses are told', async () => {
  const answer = await ask();
  expect(answer.statusCode).toBe(303);
  expect(answer.headers.location).toMatch(
    /^https:\/\/id\.example\.test\/account\/email\?done=sent&request=\w+_[\w-]+$/,
  );
  const link = await linkIn(at, address, 'confirm-email');
  expect(await emailOf()).toMatchObject({ email: user.email });
  const phone = await signIn(at, user);
  const page = await phone.get(link);
  expect(page.body).toContain(address);
  expect(await emailOf()).toMatchObject({ email: user.email });
  const confirmed = await press(link, phone);
  expect([confirmed.statusCode, confirmed.headers.location]).toEqual([
    303,
    `${phone.issuer}/account/email/confirm/done`,
  ]);
  for (const [from, next] of [
    [phone, '/account'],
    [new TestBrowser(at), '/login'],
  ] as const) {
    const { body } = await from.get(confirmed.headers.location!);
    expect(body).toContain('Your address was changed');
    expect(body).toContain(`id="email-next" href="${from.issuer}${next}"`);
  }
  expect(await emailOf()).toEqual({ email: address, email_verified: true });
  const [old] = await mailTo(at, user.email!);
  expect(old).toMatchObject({ template: 'email-changed', sub: user.sub });
  expect(old!.text).toContain(address);
  expect((await mailTo(at, address)).map(({ template }) => template)).toContain('notice');
  const events = await at.deps.db.selectFrom('audit_events').select('event').where('sub', '=', user.sub).execute();
  expect(events.map(({ event }) => event)).toContain('email_changed');
  expect((await press(link)).statusCode).toBe(400);
});

test('whoever reads the mail and did not ask confirms nothing: the page says where the person who asked does', async () => {
  const link = await asked();
  const path = new URL(link).pathname;
  const form_token = formTokenOf(await browser.get(link));
  const reader = await signIn(at, await aUser(at));
  for (const from of [new TestBrowser(at), reader]) {
    const page = await from.get(link);
    expect([page.statusCode, formTokenOf(page)]).toEqual([200, '']);
    expect(page.body).toContain('Only the person who asked can confirm it');
    expect(page.body).toContain(`id="email-next" href="${from.issuer}/login"`);
    expect((await from.post(path, { form_token })).statusCode).toBe(400);
  }
  // In the same browser, after another second factor than none was set up, or the end of the sign-in.
  await withTotp(at, user);
  const owing = await browser.post(path, { form_token });
  expect([owing.statusCode, owing.body.includes('Only the person who asked')]).toEqual([400, true]);
  await at.deps.db.deleteFrom('totp_credentials').where('sub', '=', user.sub).execute();
  await at.deps.db.updateTable('sessions').set({ ended_at: at.clock.now() }).where('sub', '=', user.sub).execute();
  expect((await browser.post(path, { form_token })).statusCode).toBe(400);
  expect(await emailOf()).toMatchObject({ email: user.email });
  // Beside somebody else in the same browser; and nothing was spent.
  const page = await reader.get('/login');
  await reader.post('/login', { username: user.username, password: PASSWORD, form_token: formTokenOf(page) });
  expect((await press(link, reader)).statusCode).toBe(303);
  expect(await emailOf()).toEqual({ email: address, email_verified: true });
});

test('fifty at once, at two servers: one changes it, and one takes it back', async () => {
  const race = async (link: string): Promise<number> => {
    const path = new URL(link).pathname;
    const browsers = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const one = new TestBrowser(index % 2 === 0 ? at : other);
        for (const cookie of browser.cookies) one.cookies.set(...cookie);
        return { one, form_token: formTokenOf(await one.get(path)) };
      }),
    );
    const answers = await Promise.all(browsers.map(({ one, form_token }) => one.post(path, { form_token })));
    return answers.filter(({ statusCode }) => statusCode === 303).length;
  };
  expect(await race(await asked())).toBe(1);
  expect(await race(await linkIn(at, user.email!, 'email-changed'))).toBe(1);
  expect(await emailOf()).toEqual({ email: user.email, email_verified: true });
});

test('for a week the old address takes it back: everybody is signed out, and what was set since is gone', async () => {
  const undo = await changed();
  at.clock.advance(6 * 86_400);
  const thief = await signIn(at, { ...user, email: address });
  await setPassword(at.deps, user.sub, PASSWORD, BY, at.clock.now());
  const thiefs = await signIn(at, user);
  const done = await press(undo);
  expect(done.headers.location).toBe('https://id.example.test/account/email/undo/done');
  expect((await new TestBrowser(at).get(done.headers.location!)).body).toContain('To sign in, set a new one');
  expect(await emailOf()).toEqual({ email: user.email, email_verified: true });
  for (const one of [thief, thiefs, browser]) expect((await one.get('/account')).statusCode).toBe(302);
  await expect(signIn(at, user)).rejects.toThrow('400');
  expect((await mailTo(at, user.email!))[0]).toMatchObject({
    template: 'notice',
    subject: 'Your account has its former address back',
  });
});

test('taking it back throws a thief out wholly: what was added a day before the change, any password, and a deletion that was asked for', async () => {
  at.clock.advance(-2 * 86_400);
  await aPasskey(at, user, { algorithm: 'EdDSA' }, 'Their own');
  at.clock.advance(2 * 86_400 - 3600);
  await aPasskey(at, user, { algorithm: 'EdDSA' }, 'Of the thief');
  at.clock.advance(3600);
  browser = await signIn(at, user);
  const undo = await changed();
  const page = await browser.get('/forgot-password');
  await browser.post('/forgot-password', { form_token: formTokenOf(page), username: user.username, interaction: '' });
  const reset = await linkIn(at, address, 'reset-password');
  expect(await deletionAsked(at.deps, user.sub, BY, at.clock.now())).toBeInstanceOf(Date);
  expect((await press(undo)).statusCode).toBe(303);
  expect((await passkeys.allOf(at.deps.db, user.sub)).map(({ name }) => name)).toEqual(['Their own']);
  expect(await users.find(at.deps.db, user.sub)).toMatchObject({ erase_after: null, email: user.email });
  expect((await new TestBrowser(at).get(new URL(reset).pathname)).statusCode).toBe(400);
  await expect(signIn(at, user)).rejects.toThrow('400');
  expect((await press(undo)).statusCode).toBe(400);
  const own = new TestBrowser(at);
  const forgot = await own.get('/forgot-password');
  await own.post('/forgot-password', { form_token: formTokenOf(forgot), username: user.username, interaction: '' });
  expect(await linkIn(at, user.email!, 'reset-password')).toContain('/reset-password/');
});

test('who reads an address that nobody ever confirmed gets no power over the account', async () => {
  await at.deps.db.updateTable('users').set({ email_verified: false }).where('sub', '=', user.sub).execute();
  expect((await press(await asked())).statusCode).toBe(303);
  expect((await mailTo(at, user.email!)).map(({ template }) => template)).not.toContain('email-changed');
});

test('after two changes the first address still takes both back', async () => {
  const undo = await changed();
  await at.deps.db.deleteFrom('failures').execute();
  await ask(`second-${address}`);
  expect((await press(await linkIn(at, `second-${address}`, 'confirm-email'))).statusCode).toBe(303);
  expect((await press(undo)).statusCode).toBe(303);
  expect(await emailOf()).toMatchObject({ email: user.email });
});

test('undo ends after a week, confirmation after an hour or with the next request', async () => {
  const first = await asked();
  const second = await asked(`second-${address}`);
  expect((await press(first)).statusCode).toBe(400);
  at.clock.advance(3600);
  expect((await press(second)).statusCode).toBe(400);
  browser = await signIn(at, user);
  const undo = await changed();
  at.clock.advance(7 * 86_400);
  expect((await press(undo)).statusCode).toBe(400);
  expect(await emailOf()).toMatchObject({ email: address });
});

test('an address of somebody else is not told of: the answer and its statements are the same, and its owner is told', async () => {
  const bob = await aUser(at);
  const statements = recordStatements();
  const seen: string[] = [];
  try {
    for (const email of [address, bob.email!]) {
      const page = await browser.get('/account/email');
      statements.take();
      const answer = await browser.post('/account/email', { form_token: formTokenOf(page), email });
      const texts = statements.take().map(({ text }) => text.replaceAll(/\s+/g, ' '));
      const location = answer.headers.location!.replace(/request=.*/, 'request=');
      seen.push(JSON.stringify([answer.statusCode, location, texts]));
    }
  } finally {
    statements.stop();
  }
  expect(seen[0]).toBe(seen[1]);
  expect((await mailTo(at, bob.email!)).map(({ template }) => template)).toEqual(['address-in-use']);
  expect((await mailTo(at, address)).map(({ template }) => template)).toEqual(['confirm-email']);
});

test('the code of the mail does the same, in the browser that asked, once, and not after five wrong ones', async () => {
  const waiting = async (email = address) => (await ask(email)).headers.location!;
  const type = async (page: string, otp: string, from = browser) => {
    const request = new URL(page).searchParams.get('request')!;
    const form_token = formTokenOf(await from.get(page));
    return from.post('/account/email', { form_token, request, otp });
  };
  const codeFor = async (email = address) =>
    /^ +(\d{6})$/m.exec((await mailTo(at, email)).find(({ template }) => template === 'confirm-email')!.text)![1]!;
  const wrong = (code: string) => (code === '000000' ? '000001' : '000000');
  const first = await waiting();
  const code = await codeFor();
  // Mail takes its time: the sign-in need not be fresh any more.
  at.clock.advance(600);
  const refused = await type(first, wrong(code));
  expect(refused.statusCode).toBe(400);
  expect(refused.body).toContain('id="otp-problem"');
  expect((await type(first, code, await signIn(at, user))).statusCode).toBe(400);
  expect((await type(first, code, await signIn(at, await aUser(at)))).statusCode).toBe(400);
  expect(await emailOf()).toMatchObject({ email: user.email });
  const taken = await type(first, `${code.slice(0, 3)} ${code.slice(3)}`);
  expect([taken.statusCode, taken.headers.location]).toEqual([
    303,
    'https://id.example.test/account/email?done=confirmed',
  ]);
  expect(await emailOf()).toEqual({ email: address, email_verified: true });
  expect((await type(first, code)).statusCode).toBe(400);

  browser = await signIn(at, user);
  const bob = await aUser(at);
  for (const email of [`second-${address}`, bob.email!]) {
    const page = await waiting(email);
    // Somebody else's address has a page like any other, and no code.
    const right = email === bob.email ? undefined : await codeFor(email);
    await mailTo(at);
    const said: boolean[] = [];
    for (let tries = 0; tries < 5; tries += 1)
      said.push((await type(page, wrong(right ?? ''))).body.includes('That is not the code'));
    expect(said, email).toEqual([true, true, true, true, false]);
    expect((await type(page, right ?? '123456')).statusCode).toBe(400);
  }
  expect(await emailOf()).toMatchObject({ email: address });
});

test('an address that somebody took meanwhile is not given twice, and nothing is spent or changed', async () => {
  const link = await asked();
  await aUser(at, { email: address });
  expect((await press(link)).statusCode).toBe(400);
  expect(await emailOf()).toMatchObject({ email: user.email });
});

test('what is no address, or is theirs, is said; too many requests wait', async () => {
  for (const [email, sentence] of [
    ['', 'Enter an email address'],
    ['ada', 'Enter an email address'],
    ['a@b.test,c@d.test', 'Enter an email address'],
    [`${'a'.repeat(330)}@example.test`, 'Enter an email address'],
    [user.email!.toUpperCase(), 'your address already'],
  ] as const) {
    const refused = await ask(email);
    expect(refused.statusCode).toBe(400);
    expect(refused.body).toContain(sentence);
    expect(refused.body).toContain('<title>Error: Email address</title>');
  }
  for (let times = 0; times < 5; times += 1) expect((await ask(`${times}${address}`)).statusCode).toBe(303);
  expect((await ask()).statusCode).toBe(429);
});

test('it wants a fresh sign-in, a form of its own, and its own browser', async () => {
  const page = await browser.get('/account/email');
  const form_token = formTokenOf(page);
  const forged = await browser.post(
    '/account/email',
    { form_token, email: address },
    { origin: 'https://evil.example' },
  );
  expect(forged.statusCode).toBe(400);
  expect((await browser.post('/account/email', { form_token: 'x', email: address })).statusCode).toBe(400);
  at.clock.advance(301);
  const stale = await browser.post('/account/email', { form_token, email: address });
  expect([stale.statusCode, stale.headers.location]).toEqual([303, 'https://id.example.test/login?to=email']);
  expect(await mailTo(at, address)).toEqual([]);
  browser = await signIn(at, user);
  const link = await asked();
  expect((await new TestBrowser(at).post(new URL(link).pathname, {})).statusCode).toBe(400);
  const scanner = { host: 'id.example.test' };
  for (const method of ['GET', 'HEAD'] as const)
    await at.app.inject({ method, url: new URL(link).pathname, headers: scanner });
  expect(await emailOf()).toMatchObject({ email: user.email });
  expect((await press(link)).statusCode).toBe(303);
});
