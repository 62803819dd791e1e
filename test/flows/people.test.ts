/**
 * One person with Postern, from signing up to deleting the account and keeping it after all: in a real Chromium with an
 * authenticator, and without JavaScript, where everything but the passkey works as well.
 */
import { TOTP, Secret } from 'otpauth';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp } from '../support/app.ts';
import { axeViolations, launchBrowser } from '../support/browser.ts';
import { deploy, stopServersAfterwards, type Deployment } from '../support/deployment.ts';
import { aClient, formTokenOf, PASSWORD, TestBrowser } from '../support/fixtures.ts';
import { openVisit, type Visit } from '../support/journey.ts';
import { lettersTo, type ALetter } from '../support/letters.ts';
import { answerTo, follow, open, proceed, stepOf, titleOf, valueOf, type At } from '../support/pages.ts';
import { until } from '../support/postgres-process.ts';
import { codeOf, codesOn, secretOn, setupForm } from '../support/second-factor.ts';

const ANOTHER = 'eleven green lighthouses';
let browser: Browser;
let deployment: Deployment;
let visit: Visit;
stopServersAfterwards();
beforeAll(async () => {
  [browser, deployment] = await Promise.all([launchBrowser(), deploy({ command: 'dev' })]);
  visit = await openVisit(browser, { width: 320 });
});
afterAll(() => browser?.close());

/** The latest mail of a kind. The server's own worker may be the one who makes it. */
async function mailOf(template: string, to: string): Promise<ALetter> {
  let found: ALetter | undefined;
  await until(`${template} for ${to}`, async () => {
    found = (await lettersTo(deployment.test, to)).find((letter) => letter.template === template);
    return found !== undefined;
  });
  return found!;
}

/** An authenticator that makes sure who uses it, without anybody having to do something. */
async function withAuthenticator(page: Page): Promise<void> {
  // Else the page would be filled in, and signed in by itself, before anybody pressed a button.
  await page.addInitScript(`PublicKeyCredential.isConditionalMediationAvailable = async () => false;`);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const able = { hasResidentKey: true, hasUserVerification: true, isUserVerified: true };
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true, ...able },
  });
}

test('with JavaScript: sign up, make a passkey, lose it, recover, a second factor by keyboard, delete and keep', async () => {
  const { page } = visit;
  const { issuer } = deployment;
  const email = 'grace@example.test';
  await withAuthenticator(page);
  const press = (button: string) => Promise.all([page.waitForEvent('load'), page.click(button)]);
  /** axe takes its time: where it matters that keys alone lead on. Every page as it is drawn has it in pages.test.ts. */
  const good = async ({ axe = false } = {}): Promise<void> => {
    expect(axe ? await axeViolations(page) : [], page.url()).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth'), page.url()).toBe(320);
  };
  const signOut = async (): Promise<void> => {
    await page.goto(`${issuer}/logout`);
    await press('#logout-confirm');
  };
  /** Types where the cursor is, once it is in a field, and goes on by keys alone. */
  const type = async (...keys: string[]): Promise<void> => {
    await page.waitForSelector('input:focus');
    for (const key of keys) await page.keyboard[key === 'Tab' ? 'press' : 'insertText'](key);
  };
  const enter = () => Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);

  await page.goto(`${issuer}/demo`);
  await press('#signup');
  await page.fill('#email', email);
  await page.fill('#name', 'Grace Hopper');
  await page.fill('#new-password', PASSWORD);
  await page.waitForSelector('meter:visible');
  await good({ axe: true });
  await press('#signup-submit');
  await good();
  await page.fill('#otp', (await mailOf('verify-email', email)).code);
  await press('#verify-submit');
  // Offered once, and made.
  await good({ axe: true });
  await press('#passkey-create');
  await press('#consent-approve');
  expect(await page.textContent('h1')).toContain('Signed in as Grace Hopper');
  await signOut();

  await page.goto(`${issuer}/login`);
  await page.click('#passkey-signin');
  await page.waitForURL(`${issuer}/account`);
  await page.goto(`${issuer}/account/passkeys`);
  await page.click('#passkeys summary');
  await press('#passkeys button[value=remove]');
  await signOut();

  // Neither passkey nor password is left: the mail is.
  await page.goto(`${issuer}/login`);
  await press('#forgot-password');
  await page.fill('#username', email);
  await press('#forgot-submit');
  await page.goto((await mailOf('reset-password', email)).link);
  await page.fill('#new-password', ANOTHER);
  await press('#reset-submit');
  await press('#reset-sign-in');
  await type(email, 'Tab', ANOTHER);
  await enter();

  await page.goto(`${issuer}/account/authenticator`);
  const secret = Secret.fromBase32((await page.textContent('#totp-secret'))!.replaceAll(/\s/g, ''));
  const code = (steps: number) => new TOTP({ secret }).generate({ timestamp: Date.now() + steps * 30_000 });
  await page.fill('#otp', code(0));
  await press('#authenticator-submit');
  await good();
  const kept = (await page.textContent('#recovery-codes'))!.trim().split('\n');
  await signOut();
  await page.goto(`${issuer}/login`);
  await type(email, 'Tab', ANOTHER);
  await enter();
  await good({ axe: true });
  await type(code(1));
  await enter();
  expect(page.url()).toBe(`${issuer}/account`);
  await good();

  await page.goto(`${issuer}/account/delete`);
  await press('#delete-submit');
  await good();
  await page.goto(`${issuer}/login`);
  await type(email, 'Tab', ANOTHER);
  await enter();
  await press('#use-recovery-code');
  await page.fill('#recovery-code', kept[0]!);
  await press('#recovery-submit');
  await press('#delete-keep');
  expect(await page.textContent('#done')).toBe('Your account stays.');
  await page.goto(`${issuer}/account/activity`);
  expect(await page.textContent('main')).not.toContain('Something else');
  await good();
  expect(visit.problems).toEqual([]);
  await visit.context.close();
});

test('without JavaScript: the same by forms alone, and another address', async () => {
  const at = await testApp({ config: { SELF_REGISTRATION: 'on' } });
  try {
    const client = await aClient(at, { skip_consent: true });
    const person = new TestBrowser(at);
    const email = 'grace@example.test';
    const letter = async (template: string, to = email): Promise<ALetter> =>
      (await lettersTo(at, to)).find((one) => one.template === template)!;
    const visitTo = async (url: string): Promise<At> => follow(person, await person.get(url), url);
    const signOut = async (): Promise<void> => {
      await proceed(person, await visitTo(`${person.issuer}/logout`), { action: 'logout' });
      at.clock.advance(31);
    };
    const signIn = async (username: string, password: string): Promise<At> =>
      proceed(person, await open(person, client), { username, password, action: 'login' });

    const login = await open(person, client);
    const form = await visitTo(/id="signup" href="([^"]+)"/.exec(login.response.body)![1]!);
    const fields = { email, name: 'Grace Hopper', 'new-password': PASSWORD, action: 'signup' };
    const waiting = await proceed(person, form, fields);
    const request = valueOf(waiting.response, 'request')!;
    const { code } = await letter('verify-email');
    const done = await proceed(person, waiting, { request, otp: code, action: 'verify' });
    expect(answerTo(client, done.response)).toHaveProperty('code');
    await signOut();

    const forgot = await visitTo(`${person.issuer}/forgot-password`);
    await proceed(person, forgot, { username: email });
    const reset = await visitTo((await letter('reset-password')).link);
    const after = await proceed(person, reset, { 'new-password': ANOTHER });
    expect(titleOf(after.response)).toBe('Your password was set');
    expect(answerTo(client, (await signIn(email, ANOTHER)).response)).toHaveProperty('code');

    const setup = await visitTo(`${person.issuer}/account/authenticator`);
    const secret = secretOn(setup.response);
    const codes = await proceed(person, setup, { ...setupForm(at, setup.response), action: 'setup' });
    const [first] = codesOn(codes.response);
    await signOut();
    const second = await signIn(email, ANOTHER);
    expect(stepOf(second)).toBe('second-factor');
    const answered = await proceed(person, second, { otp: codeOf(at, secret), action: 'otp' });
    expect(answerTo(client, answered.response)).toHaveProperty('code');

    const another = 'hopper@example.test';
    await proceed(person, await visitTo(`${person.issuer}/account/email`), { email: another });
    const confirm = await visitTo((await letter('confirm-email', another)).link);
    expect((await proceed(person, confirm, {})).response.statusCode).toBe(200);
    for (const name of ['profile', 'sessions', 'applications', 'activity', 'data', 'password']) {
      expect((await person.get(`/account/${name}`)).statusCode, name).toBe(200);
    }
    expect((await person.get('/account/activity')).body).not.toContain('Something else');

    await proceed(person, await visitTo(`${person.issuer}/account/delete`), { action: 'delete' });
    at.clock.advance(31);
    const back = await signIn(another, ANOTHER);
    const recovery = await visitTo(`${back.url}?recovery`);
    const keep = await proceed(person, recovery, { 'recovery-code': first!, action: 'recovery' });
    expect(stepOf(keep)).toBe('keep-account');
    const kept = await person.post(keep.url, { form_token: formTokenOf(keep.response), action: 'keep' });
    expect(answerTo(client, (await follow(person, kept)).response)).toHaveProperty('code');
  } finally {
    await at.close();
  }
});
