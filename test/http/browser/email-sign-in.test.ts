/** Sign-in by mail: a link and a code that work only in the browser that asked. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as users from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { aClient, aUser, formTokenOf, TestBrowser } from '../../support/fixtures.ts';
import { lettersTo } from '../../support/letters.ts';
import { answerTo, follow, open, proceed, stepOf, valueOf, type At } from '../../support/pages.ts';
import { overtaken } from '../../support/races.ts';
import { aUserWithTotp, codeOf } from '../../support/second-factor.ts';

let at: TestApp;
beforeAll(async () => {
  at = await testApp({ config: { EMAIL_SIGN_IN: 'on' } });
});
afterAll(() => at.close());

const ask = async (browser: TestBrowser, email: string, url = '/login/email'): Promise<At> =>
  follow(browser, await browser.post(url, { form_token: formTokenOf(await browser.get(url)), email }), url);
const typeCode = (browser: TestBrowser, page: At, otp: string): Promise<At> =>
  proceed(browser, page, { request: valueOf(page.response, 'request') ?? '', otp, action: 'verify' });

test('the code of the mail signs in where it was asked for: one factor, otp', async () => {
  const user = await aUser(at);
  const browser = new TestBrowser(at);
  const page = await ask(browser, user.email!.toUpperCase());
  const [letter] = await lettersTo(at, user.email!);
  expect(letter).toMatchObject({ template: 'sign-in' });
  expect((await typeCode(new TestBrowser(at), page, letter!.code)).response.statusCode).toBe(400);
  expect((await typeCode(browser, page, letter!.code)).url).toBe('https://id.example.test/account');
  const session = await at.deps.db
    .selectFrom('sessions')
    .selectAll()
    .where('sub', '=', user.sub)
    .executeTakeFirstOrThrow();
  expect(session).toMatchObject({ amr: ['otp'], acr: '1' });
  expect((await typeCode(browser, page, letter!.code)).response.statusCode).not.toBe(303);
});

test('whoever has an authenticator app is asked for it after the code of the mail, and before anything is open', async () => {
  const { user, secret } = await aUserWithTotp(at);
  const client = await aClient(at, { skip_consent: true, require_second_factor: true });
  const browser = new TestBrowser(at);
  const page = await ask(browser, user.email!);
  const [letter] = await lettersTo(at, user.email!);
  await typeCode(browser, page, letter!.code);
  const owed = await follow(browser, await browser.get('/account'));
  expect(stepOf(owed)).toBe('second-factor');
  expect(answerTo(client, (await open(browser, client, { prompt: 'none' })).response)).not.toHaveProperty('code');
  await proceed(browser, owed, { otp: codeOf(at, secret) });
  expect((await browser.get('/account')).statusCode).toBe(200);
  expect(answerTo(client, (await open(browser, client)).response)).toHaveProperty('code');
  const live = at.deps.db.selectFrom('sessions').selectAll().where('sub', '=', user.sub).where('ended_at', 'is', null);
  expect(await live.execute()).toMatchObject([{ amr: ['otp', 'mfa'], acr: '2' }]);
});

test('the link goes on with the request in the browser that asked; in another it signs nobody in', async () => {
  const client = await aClient(at, { skip_consent: true });
  const user = await aUser(at);
  const [browser, other] = [new TestBrowser(at), new TestBrowser(at)];
  const login = await open(browser, client);
  await ask(browser, user.email!, /id="email-signin" href="([^"]+)"/.exec(login.response.body)![1]);
  const [letter] = await lettersTo(at, user.email!);
  const elsewhere = await other.get(letter!.link);
  expect([elsewhere.statusCode, elsewhere.body.includes('verify-submit')]).toEqual([200, false]);
  const page = { url: letter!.link, response: await browser.get(letter!.link) };
  expect((await other.post(letter!.link, { form_token: formTokenOf(page.response) })).statusCode).toBe(400);
  const done = await proceed(browser, page, {});
  expect(answerTo(client, done.response)).toHaveProperty('code');
  expect((await browser.get(letter!.link)).statusCode).toBe(400);
});

test('an unknown address, an unverified one and a disabled account are answered alike, and get no mail', async () => {
  const unverified = await aUser(at, { email_verified: false });
  const disabled = await aUser(at, { disabled: true });
  for (const email of [unverified.email!, disabled.email!, 'nobody@example.test']) {
    const browser = new TestBrowser(at);
    const page = await ask(browser, email);
    expect(page.response.body).toContain('id="otp"');
    expect(await lettersTo(at, email)).toEqual([]);
    const answers: boolean[] = [];
    for (let time = 0; time < 6; time += 1) {
      const { response } = await typeCode(browser, page, 'x');
      answers.push(response.body.includes('That is not the code'));
    }
    expect(answers).toEqual([true, true, true, true, false, false]);
  }
});

test('a mail to an address that the account has no more is of no use', async () => {
  const user = await aUser(at);
  const browser = new TestBrowser(at);
  const page = await ask(browser, user.email!);
  const [letter] = await lettersTo(at, user.email!);
  await at.deps.db.updateTable('users').set({ email_verified: false }).where('sub', '=', user.sub).execute();
  expect((await typeCode(browser, page, letter!.code)).response.statusCode).toBe(400);
  expect((await browser.get('/account')).statusCode).toBe(302);
});

test('whose address becomes another while the code is taken is not signed in by it', async () => {
  const user = await aUser(at);
  const browser = new TestBrowser(at);
  const page = await ask(browser, user.email!);
  const [letter] = await lettersTo(at, user.email!);
  const [, answer] = await overtaken(
    at.deps.db,
    (trx) => users.update(trx, user.sub, { email: `${user.sub}@elsewhere.example` }),
    () => typeCode(browser, page, letter!.code),
  );
  expect([answer.response.statusCode, (await browser.get('/account')).statusCode]).toEqual([400, 302]);
  expect(await at.deps.db.selectFrom('sessions').select('sid').where('sub', '=', user.sub).execute()).toEqual([]);
});
