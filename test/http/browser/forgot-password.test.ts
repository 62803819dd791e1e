import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { configWith } from '../../../src/config.ts';
import { readHandle } from '../../../src/protocol/handle.ts';
import { buildApp } from '../../../src/app.ts';
import type { User } from '../../../src/store/users.ts';
import { setPassword } from '../../../src/users/accounts.ts';
import { BY } from '../../support/administer.ts';
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
import { linkIn, mailTo } from '../../support/mailbox.ts';
import { titleOf } from '../../support/pages.ts';

const NEW = 'seven violet umbrellas dancing';

let at: TestApp;
let other: TestApp;
let user: User;

beforeAll(async () => {
  at = await testApp();
  other = await testApp({ database: at.database, clock: at.clock });
});
beforeEach(async () => {
  user = await aUser(at);
  await at.deps.db.deleteFrom('mails').execute();
  at.clock.advance(86_400);
});
afterAll(async () => {
  await other.close();
  await at.close();
});

async function ask(username: string, { browser = new TestBrowser(at), query = '', headers = {} } = {}) {
  at.clock.advance(1);
  const page = await browser.get(`/forgot-password${query}`);
  const interaction = /name="interaction" value="([^"]*)"/.exec(page.body)?.[1] ?? '';
  return browser.post('/forgot-password', { form_token: formTokenOf(page), username, interaction }, headers);
}
async function reset(link: string, password = PASSWORD, browser = new TestBrowser(at)) {
  at.clock.advance(1);
  const page = await browser.get(link);
  return browser.post(new URL(link).pathname, { form_token: formTokenOf(page), 'new-password': password });
}
const asked = async (person = user): Promise<string> => {
  await ask(person.username);
  return linkIn(at, person.email!, 'reset-password');
};
const passwordOf = (sub: string) =>
  at.deps.db.selectFrom('password_credentials').select('changed_at').where('sub', '=', sub).executeTakeFirst();

test('a person asks by name or address, opens the link, sets a password and signs in with it', async () => {
  const login = await new TestBrowser(at).get('/login');
  expect(login.body).toContain('href="https://id.example.test/forgot-password"');
  const browser = await signIn(at, user);
  const answer = await ask(user.email!.toUpperCase());
  expect([answer.statusCode, answer.headers.location]).toEqual([
    303,
    'https://id.example.test/forgot-password?sent=yes',
  ]);
  const told = await new TestBrowser(at).get('/forgot-password?sent=yes');
  expect([told.statusCode, titleOf(told)]).toEqual([200, 'Look into your mail']);
  const link = await linkIn(at, user.email!, 'reset-password');
  expect(link).toMatch(/^https:\/\/id\.example\.test\/reset-password\/[0-9a-z]+_[\w-]{43}$/);
  const done = await reset(link, NEW);
  expect([done.statusCode, done.headers.location]).toEqual([303, 'https://id.example.test/reset-password/done']);
  expect((await browser.get('/account')).statusCode).toBe(302);
  await signIn(at, user, NEW);
  await expect(signIn(at, user, PASSWORD)).rejects.toThrow('400');
  const [notice] = await mailTo(at, user.email!);
  expect(notice).toMatchObject({ template: 'notice', subject: 'Your password was changed', sub: user.sub });
  const events = await at.deps.db.selectFrom('audit_events').select('event').where('sub', '=', user.sub).execute();
  expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining(['password_changed', 'password_reset']));
});

test('looking at the link changes nothing, by GET or HEAD, however often and by whom', async () => {
  const link = await asked();
  const path = new URL(link).pathname;
  const scanner = { host: 'id.example.test', 'user-agent': 'scanner' };
  for (let looked = 0; looked < 3; looked += 1) {
    expect((await at.app.inject({ method: 'GET', url: path, headers: scanner })).statusCode).toBe(200);
    expect((await at.app.inject({ method: 'HEAD', url: path, headers: scanner })).statusCode).toBe(405);
  }
  // One that presses buttons has no cookie of the page, or no token of it.
  const pressed = await new TestBrowser(at).post(path, { 'new-password': NEW });
  expect(pressed.statusCode).toBe(400);
  const page = await new TestBrowser(at).get(path);
  expect(page.headers['cache-control']).toBe('no-store');
  expect(page.headers['referrer-policy']).toBe('same-origin');
  expect((await reset(link)).statusCode).toBe(303);
});

test('fifty at once, at two servers: one sets the password, and the link is over', async () => {
  const link = await asked();
  const path = new URL(link).pathname;
  const browsers = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const browser = new TestBrowser(index % 2 === 0 ? at : other);
      return { browser, form_token: formTokenOf(await browser.get(path)) };
    }),
  );
  const answers = await Promise.all(
    browsers.map(({ browser, form_token }) => browser.post(path, { form_token, 'new-password': PASSWORD })),
  );
  expect(answers.filter(({ statusCode }) => statusCode === 303)).toHaveLength(1);
  // On a busy machine some wait too long for the row of the account, and are asked to come back.
  expect(answers.filter(({ statusCode }) => ![303, 400, 503].includes(statusCode))).toEqual([]);
  expect((await new TestBrowser(at).get(path)).body).toContain('no longer works');
});

test('a reset makes other links void, and so does a password that is set elsewhere, another address and a disabled account', async () => {
  const links = [await asked(), await asked()];
  expect(new Set(links).size).toBe(2);
  expect((await reset(links[1]!)).statusCode).toBe(303);
  expect((await reset(links[0]!)).statusCode).toBe(400);
  const before = await asked();
  await setPassword(at.deps, user.sub, PASSWORD, BY, at.clock.now());
  expect((await reset(before)).statusCode).toBe(400);
  for (const changes of [{ email: 'new@example.test' }, { email: user.email, disabled_at: at.clock.now() }]) {
    const link = await asked();
    await at.deps.db.updateTable('users').set(changes).where('sub', '=', user.sub).execute();
    expect((await new TestBrowser(at).get(new URL(link).pathname)).statusCode).toBe(400);
    await at.deps.db.updateTable('users').set({ email: user.email }).where('sub', '=', user.sub).execute();
  }
});

test('a link ends after an hour, and a token for something else is none', async () => {
  const link = await asked();
  at.clock.advance(3600);
  expect((await new TestBrowser(at).get(new URL(link).pathname)).statusCode).toBe(400);
  for (const token of ['x', 'done%00', '0_'.padEnd(45, 'a'), '..%2Flogin']) {
    expect((await new TestBrowser(at).get(`/reset-password/${token}`)).statusCode).toBeLessThan(500);
  }
});

test('the answer is the same whether the account exists: in content, in what is asked of the database, and in its order', async () => {
  const nobody = await aUser(at, { email: undefined, username: 'without-address' });
  const disabled = await aUser(at, { disabled: true });
  const statements = recordStatements();
  const seen: string[] = [];
  try {
    for (const name of [
      user.username,
      user.email!,
      'nobody-here',
      'nobody@example.test',
      nobody.username,
      disabled.username,
    ]) {
      const browser = new TestBrowser(at);
      const page = await browser.get('/forgot-password');
      statements.take();
      const answer = await browser.post('/forgot-password', {
        form_token: formTokenOf(page),
        username: name,
        interaction: '',
      });
      const texts = statements.take().map(({ text }) => text.replaceAll(/\s+/g, ' '));
      const { date: _date, 'x-request-id': _id, ...headers } = answer.headers;
      seen.push(JSON.stringify([answer.statusCode, headers, answer.body, texts]));
    }
  } finally {
    statements.stop();
  }
  expect(new Set(seen).size).toBe(1);
  const sent = await mailTo(at);
  expect(sent.map(({ to }) => to)).toEqual([user.email, user.email]);
});

test('it is throttled by what was typed and by network, alike for names that nobody has', async () => {
  for (const name of [user.username, 'nobody-at-all']) {
    for (let times = 0; times < 5; times += 1) expect((await ask(name)).statusCode).toBe(303);
    const refused = await ask(name);
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '59']);
  }
  expect(await mailTo(at, user.email!)).toHaveLength(5);
});

test('links are built from the issuer, whatever host a request names', async () => {
  await ask(user.username, { headers: { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' } });
  const forged = await at.app.inject({
    method: 'POST',
    url: '/forgot-password',
    headers: { host: 'evil.example', 'content-type': 'application/x-www-form-urlencoded' },
    payload: `username=${user.username}`,
  });
  expect(forged.statusCode).toBe(400);
  const [mail] = await mailTo(at, user.email!);
  expect(`${mail!.text}${mail!.html}`).not.toContain('evil');
  expect(mail!.links[0]).toMatch(/^https:\/\/id\.example\.test\//);
});

test('a password that is easy to guess is refused there, and the link is still good', async () => {
  const link = await asked();
  for (const [password, sentence] of [
    ['short', 'at least 8 characters'],
    ['password123', 'most common'],
    [user.username, 'must not be your name'],
    ['lovelace1', 'easy to guess'],
  ] as const) {
    const refused = await reset(link, password);
    expect(refused.statusCode).toBe(400);
    expect(refused.body).toContain('<title>Error: Choose a new password</title>');
    expect(refused.body).toContain(sentence);
  }
  expect((await reset(link)).statusCode).toBe(303);
});

test('from a request in progress it leads back to that request', async () => {
  const browser = new TestBrowser(at);
  const step = String((await browser.get(authorizationUrl(browser.issuer, await aClient(at)))).headers.location);
  const page = await browser.get(step);
  const forgot = /id="forgot-password"[^>]*href="([^"]*)"/.exec(page.body)?.[1] ?? '';
  const id = new URL(forgot).searchParams.get('interaction') ?? '';
  expect(readHandle(id)).toBeDefined();
  const answer = await ask(user.username, { browser, query: new URL(forgot).search });
  expect(answer.headers.location).toContain(`interaction=${id}`);
  const link = await linkIn(at, user.email!, 'reset-password');
  expect(new URL(link).searchParams.get('interaction')).toBe(id);
  const opened = await browser.get(link);
  const path = new URL(link).pathname;
  const done = await browser.post(path, { form_token: formTokenOf(opened), 'new-password': PASSWORD, interaction: id });
  const last = await browser.get(String(done.headers.location));
  expect(last.body).toContain(`href="https://id.example.test/interaction/${id}"`);
  const elsewhere = await browser.get('/reset-password/done?interaction=https://evil.example/');
  expect(elsewhere.body).toContain('href="https://id.example.test/login"');
});

test('an address is verified by a reset, and a person without a password gets one', async () => {
  const { sub, email } = await aUser(at, { password: undefined, email_verified: false, claims: { locale: 'pl' } });
  await ask(email!);
  const [mail] = await mailTo(at, email!);
  expect(mail).toMatchObject({ lang: 'pl', subject: 'Ustaw nowe hasło do id.example.test' });
  expect(await passwordOf(sub)).toBeUndefined();
  expect((await reset(mail!.links[0]!)).statusCode).toBe(303);
  expect(await passwordOf(sub)).toBeDefined();
  const [row] = await at.deps.db.selectFrom('users').selectAll().where('sub', '=', sub).execute();
  expect(row).toMatchObject({ email_verified: true });
});

test('forged forms are refused, and a form of another link', async () => {
  const [one, two] = [await asked(), await asked()];
  const browser = new TestBrowser(at);
  const form_token = formTokenOf(await browser.get(one));
  const path = (link: string) => new URL(link).pathname;
  const fields = { form_token, 'new-password': PASSWORD };
  expect((await browser.post(path(two), fields)).statusCode).toBe(400);
  expect((await browser.post(path(one), fields, { origin: 'https://evil.example' })).statusCode).toBe(400);
  expect((await new TestBrowser(at).post(path(one), fields)).statusCode).toBe(400);
  expect((await browser.post(path(one), fields)).statusCode).toBe(303);
});

test('in production without a mail server there is no such page, and no link to it', async () => {
  const deps = {
    ...at.deps,
    config: configWith(at.deps.config, { mode: 'serve', SMTP_URL: undefined }),
    mailer: undefined,
  };
  const app = await buildApp(deps);
  const headers = { host: 'id.example.test', accept: 'text/html' };
  expect((await app.inject({ url: '/forgot-password', headers })).statusCode).toBe(404);
  expect((await app.inject({ url: '/login', headers })).body).not.toContain('forgot');
  await app.close();
});

test('the meter knows whose link it is, and the form says the same with the reason', async () => {
  const ada = await aUser(at, { claims: { family_name: 'Lovelace' } });
  const link = await asked(ada);
  const browser = new TestBrowser(at);
  const page = await browser.get(link);
  const value = (id: string) => new RegExp(`id="${id}" value="([^"]*)"`).exec(page.body)![1]!;
  const judged = await browser.post(new URL(value('strength-url')).pathname, {
    password: 'lovelace12',
    link: value('strength-link'),
  });
  expect(judged.json()).toMatchObject({ acceptable: false, message: expect.stringContaining('close to your name') });
  const refused = await reset(link, 'lovelace12', browser);
  expect([refused.statusCode, refused.body]).toEqual([400, expect.stringContaining('close to your name')]);
});
