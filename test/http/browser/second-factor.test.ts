/** The second factor of a sign-in: /interaction/{id}/second-factor and /login/second-factor. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  aUser,
  postForm,
  redeem,
  signIn,
  TestBrowser,
  PASSWORD,
  type AClient,
  type Tokens,
} from '../../support/fixtures.ts';
import { decode } from '../../support/oauth.ts';
import { answerTo, follow, open, proceed, signInAt, stepOf, submit, titleOf } from '../../support/pages.ts';
import { aUserWithTotp, codeOf, codesOn, setupForm, type Kept } from '../../support/second-factor.ts';

let at: TestApp;
let client: AClient;
let strict: AClient;
let ada: { user: User } & Kept;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at, { skip_consent: true });
  strict = await aClient(at, { skip_consent: true, require_second_factor: true });
  ada = await aUserWithTotp(at);
});
afterAll(() => at.close());

/** The next code that counts: each time step is used once. */
const nextCode = (of: Kept = ada): string => {
  at.clock.advance(60);
  return codeOf(at, of.secret);
};
const page = (browser: TestBrowser, path: string) =>
  browser.get(path).then((response) => follow(browser, response, path));
const tokensOf = async (browser: TestBrowser, of: AClient, user: User, { code = '' }: Record<string, string>) =>
  (
    await redeem(at, { code, code_verifier: '', client: of, browser, user }, { code_verifier: undefined })
  ).json<Tokens>();
const claimsOf = async (...given: Parameters<typeof tokensOf>) => decode((await tokensOf(...given)).id_token).payload;
const sessionOf = ({ cookies }: TestBrowser): string => [...cookies].find(([name]) => name.endsWith('session'))![1];

test('who has a second factor is asked for it after the password, before anything of a client', async () => {
  const browser = new TestBrowser(at);
  const asked = await signInAt(browser, await open(browser, client), ada.user);
  expect([stepOf(asked), titleOf(asked.response)]).toEqual(['second-factor', 'Two-step verification · Test App']);
  const wrong = await submit(browser, asked, { otp: '000000' });
  expect([wrong.statusCode, titleOf(wrong)]).toEqual([400, expect.stringMatching(/^Error: /)]);
  const before = sessionOf(browser);
  const signedInAt = at.clock.now();
  const done = await proceed(browser, asked, { otp: nextCode().replace(/(...)/, '$1 ') });
  const claims = await claimsOf(browser, client, ada.user, answerTo(client, done.response));
  expect(claims).toMatchObject({
    acr: '2',
    amr: ['pwd', 'otp', 'mfa'],
    auth_time: Math.floor(signedInAt.getTime() / 1000),
  });
  // Session fixation: the handle of before is nobody's.
  expect(sessionOf(browser)).not.toBe(before);
  const fixed = new TestBrowser(at);
  for (const [name, value] of browser.cookies) fixed.cookies.set(name, name.endsWith('session') ? before : value);
  expect(answerTo(client, (await open(fixed, client, { prompt: 'none' })).response)).toMatchObject({
    error: 'login_required',
  });
});

test('a password alone opens nothing of theirs: no page of the account, no token, no silent answer', async () => {
  const browser = await signIn(at, ada.user);
  expect(titleOf((await page(browser, '/account')).response)).toBe('Two-step verification');
  expect(answerTo(client, (await open(browser, client, { prompt: 'none' })).response)).toMatchObject({
    error: 'login_required',
  });
  expect(stepOf(await open(browser, client))).toBe('second-factor');
  const { username } = ada.user;
  const refused = await postForm(at, '/login', { username, password: PASSWORD });
  expect([refused.statusCode, refused.json()]).toEqual([
    401,
    {
      error: 'invalid_credentials',
      error_description: 'a second factor is missing: send a code as otp, or as recovery-code',
    },
  ]);
  const wrong = await postForm(at, '/login', { username, password: PASSWORD, otp: '123' });
  expect([wrong.statusCode, wrong.json<{ error: string }>().error]).toEqual([401, 'invalid_credentials']);
  const given = await postForm(at, '/login', { username, password: PASSWORD, otp: nextCode() });
  expect(given.json()).toMatchObject({ token_type: 'Bearer' });
});

test('at /login the second factor is a page of its own, and leads on to where it was wanted', async () => {
  const browser = await signIn(at, ada.user);
  const asked = await page(browser, '/account');
  expect(titleOf(asked.response)).toBe('Two-step verification');
  expect((await submit(browser, asked, { otp: '' })).statusCode).toBe(400);
  const done = await proceed(browser, asked, { otp: nextCode() });
  expect(titleOf(done.response)).toBe('Your account');
});

test('a code counts once, and so does a recovery code', async () => {
  const code = nextCode();
  const [one, two] = [await signIn(at, ada.user), await signIn(at, ada.user)];
  expect((await submit(one, await page(one, '/account'), { otp: code })).statusCode).toBe(303);
  expect((await submit(two, await page(two, '/account'), { otp: code })).statusCode).toBe(400);
  // Nor does one of a step before.
  expect((await submit(two, await page(two, '/account'), { otp: codeOf(at, ada.secret, -1) })).statusCode).toBe(400);
  const recovery = await page(two, '/login/second-factor?recovery');
  const [spare = ''] = ada.recovery_codes;
  expect(
    (await submit(two, recovery, { 'recovery-code': spare.toLowerCase().replace(/(.{6})/g, '$1-') })).statusCode,
  ).toBe(303);
  const three = await signIn(at, ada.user);
  const again = await submit(three, await page(three, '/login/second-factor?recovery'), { 'recovery-code': spare });
  expect([again.statusCode, again.body]).toEqual([400, expect.stringContaining('was used before')]);
});

test('who has none and needs one sets it up on the way, and gets recovery codes once', async () => {
  const user = await aUser(at);
  const browser = new TestBrowser(at);
  const shown = await signInAt(browser, await open(browser, strict), user);
  expect(titleOf(shown.response)).toMatch(/^Set up a second step/);
  expect((await submit(browser, shown, { ...setupForm(at, shown.response), otp: '000000' })).statusCode).toBe(400);
  const kept = await submit(browser, shown, setupForm(at, shown.response));
  expect(kept.statusCode).toBe(200);
  const codes = codesOn(kept);
  expect(codes).toHaveLength(10);
  const file = await submit(
    browser,
    { url: shown.url, response: kept },
    { action: 'download', codes: codes.join(' ') },
  );
  expect(file.headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(file.body).toContain(codes[9]);
  const done = await follow(browser, await browser.get(shown.url.replace('/second-factor', '')));
  const claims = await claimsOf(browser, strict, user, answerTo(strict, done.response));
  expect(claims).toMatchObject({ acr: '2', amr: ['pwd', 'otp', 'mfa'] });
});

test('a second factor that a client only wishes for can be left for later', async () => {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const offered = await open(browser, client, { acr_values: '2' });
  expect(stepOf(offered)).toBe('second-factor');
  const done = await proceed(browser, offered, { action: 'later' });
  expect(await claimsOf(browser, client, user, answerTo(client, done.response))).toMatchObject({
    acr: '1',
    amr: ['pwd'],
  });
  // Not where it has to be.
  const essential = { claims: JSON.stringify({ id_token: { acr: { value: '2', essential: true } } }) };
  for (const [of, parameters] of [
    [client, essential],
    [strict, {}],
  ] as const) {
    const asked = await open(browser, of, parameters);
    expect(asked.response.body).not.toContain('second-factor-later');
    expect((await submit(browser, asked, { action: 'later' })).statusCode).toBe(400);
  }
});

test('who signed in a while ago signs in again before they set anything up', async () => {
  const browser = await signIn(at, await aUser(at));
  at.clock.advance(301);
  const told = await open(browser, strict);
  expect(told.response.body).not.toContain('totp-qr');
  const login = await proceed(browser, told, { action: 'confirm' });
  expect([stepOf(login), titleOf(login.response)]).toEqual(['login', expect.stringMatching(/^Sign in/)]);
  expect(login.response.body).toContain('Confirm it’s you');
});

/** The same people at a server with another policy. */
async function under<T>(SECOND_FACTOR: 'off' | 'required', work: (other: TestApp) => Promise<T>): Promise<T> {
  const other = await testApp({ config: { SECOND_FACTOR }, database: at.database, clock: at.clock });
  try {
    return await work(other);
  } finally {
    await other.close();
  }
}

test('SECOND_FACTOR=off: nobody is asked, and a client that requires one is told so', async () => {
  await under('off', async (other) => {
    for (const user of [ada.user, await aUser(other)]) {
      const browser = await signIn(other, user);
      expect(titleOf((await page(browser, '/account')).response)).toBe('Your account');
      expect(answerTo(strict, (await open(browser, strict)).response)).toMatchObject({
        error: 'unmet_authentication_requirements',
      });
    }
  });
});

test('SECOND_FACTOR=required: who has none sets one up, whatever they came for', async () => {
  await under('required', async (other) => {
    const user = await aUser(other);
    const browser = await signIn(other, user);
    expect(titleOf((await page(browser, '/account')).response)).toBe('Set up a second step');
    expect(stepOf(await open(browser, client))).toBe('second-factor');
    const token = await postForm(other, '/login', { username: user.username, password: PASSWORD });
    expect(token.json()).toMatchObject({ error: 'invalid_credentials' });
  });
});
