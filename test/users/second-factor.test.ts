/** Second factors under attack, and as people keep them: races, guesses, forged secrets, what ends and who is told. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoApi } from '../../src/dev/demo-api.ts';
import { labelOf as mailLabel } from '../../src/mail/outbox.ts';
import { createSecrets } from '../../src/keys/secrets.ts';
import { random } from '../../src/platform/random.ts';
import { countLostTotps, resealTotps } from '../../src/users/enrolment.ts';
import { labelOf } from '../../src/users/factors/totp.ts';
import { TEST_SECRET_KEY, testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  aUser,
  formTokenOf,
  postForm,
  PASSWORD,
  signIn,
  someTokens,
  type TestBrowser,
  type AClient,
} from '../support/fixtures.ts';
import { answerTo, follow, open, submit, titleOf } from '../support/pages.ts';
import { anOperator } from '../support/operator.ts';
import { aUserWithTotp, codeOf, codesOn, recoveryCodeOf, setupForm, withTotp } from '../support/second-factor.ts';

let at: TestApp;
let beside: TestApp;
let client: AClient;
beforeAll(async () => {
  at = await testApp({ config: { SMTP_URL: 'smtp://localhost' } });
  beside = await testApp({ database: at.database, clock: at.clock });
  client = await aClient(at, { skip_consent: true });
});
afterAll(async () => {
  await beside.close();
  await at.close();
});

const page = (browser: TestBrowser, path: string) =>
  browser.get(path).then((response) => follow(browser, response, path));
const eventsOf = async (sub: string): Promise<string[]> =>
  (await at.deps.db.selectFrom('audit_events').select('event').where('sub', '=', sub).execute()).map(
    ({ event }) => event,
  );
const mailsTo = async (sub: string): Promise<number> =>
  (await at.deps.db.selectFrom('mails').select('template').where('sub', '=', sub).execute()).length;
const login = (on: TestApp, username: string, fields: Record<string, string>) =>
  postForm(on, '/login', { username, password: PASSWORD, ...fields });

test('of 50 who show one code at once, at two servers, one is let in; the same with one recovery code', async () => {
  const { user, secret } = await aUserWithTotp(at);
  for (const fields of [{ otp: codeOf(at, secret) }, { 'recovery-code': recoveryCodeOf(1) }]) {
    // Each from a network of its own, or the throttle would be what is tried.
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        (n % 2 === 0 ? at : beside).app.inject({
          method: 'POST',
          url: '/login',
          remoteAddress: `10.${n}.0.1`,
          payload: { username: user.username, password: PASSWORD, ...fields },
        }),
      ),
    );
    const statuses = answers.map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status !== 200 && status !== 401)).toEqual([]);
    at.clock.advance(86_400);
  }
  expect((await eventsOf(user.sub)).filter((event) => event === 'recovery_code_used')).toHaveLength(1);
});

test('guesses of codes are slowed by account and network, and a right one before that is heard', async () => {
  const { user, secret } = await aUserWithTotp(at);
  const answers = [];
  for (let n = 0; n < 6; n += 1) answers.push((await login(at, user.username, { otp: '000000' })).statusCode);
  expect(answers).toEqual([401, 401, 401, 401, 401, 429]);
  // Who does not know the password counts for nothing.
  const stranger = await postForm(at, '/login', { username: user.username, password: 'wrong', otp: '000000' });
  expect(stranger.statusCode).toBe(401);
  at.clock.advance(60);
  expect((await login(at, user.username, { otp: codeOf(at, secret) })).statusCode).toBe(200);
  expect((await login(at, user.username, { otp: '000000' })).statusCode).toBe(401);
});

test('a form sent twice at once elevates one session, and either answer names it', async () => {
  const { user, secret } = await aUserWithTotp(at);
  const browser = await signIn(at, user);
  const asked = await page(browser, '/account');
  const otp = codeOf(at, secret);
  const answers = await Promise.all([submit(browser, asked, { otp }), submit(browser, asked, { otp })]);
  const cookies = answers.map(({ cookies: set }) => set.find(({ name }) => name.endsWith('session'))?.value);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([303, 303]);
  expect(cookies[0]).toBe(cookies[1]);
  expect(titleOf((await page(browser, '/account')).response)).toBe('Your account');
});

test('a step of one interaction is not finished by the form of another, or of another session', async () => {
  const { user, secret } = await aUserWithTotp(at);
  const [browser, other] = [await signIn(at, user), await signIn(at, user)];
  const [one, two] = [await open(browser, client), await open(browser, client)];
  const theirs = await open(other, client);
  const otp = codeOf(at, secret);
  for (const token of [two, theirs, await page(browser, '/account')].map(({ response }) => formTokenOf(response))) {
    const refused = await submit(browser, one, { otp, form_token: token });
    expect([refused.statusCode, refused.body]).toEqual([400, expect.stringContaining('out of date')]);
  }
  // Nothing was used up by it; both tabs go on after one code.
  expect((await submit(browser, one, { otp })).statusCode).toBe(303);
  expect(answerTo(client, (await follow(browser, await browser.get(two.url))).response)).toHaveProperty('code');
});

test.each([
  ['an authenticator app', 'totp', 'authenticator_removed'],
  ['recovery codes', 'recovery_codes', 'recovery_codes_removed'],
])('an operator who takes %s away from somebody has them told', async (_what, factor, notice) => {
  const { user } = await aUserWithTotp(at);
  const operator = await anOperator(at);
  const answer = await operator.send('DELETE', `/users/${user.sub}/credentials/${factor}`);
  expect([answer.statusCode, await eventsOf(user.sub)]).toEqual([204, expect.arrayContaining(['factor_removed'])]);
  const [mail, ...more] = await at.deps.db.selectFrom('mails').selectAll().where('sub', '=', user.sub).execute();
  const said = at.deps.secrets.open(mail!.sealed!, mailLabel(mail!.mail_id)).toString();
  expect([JSON.parse(said), more]).toMatchObject([{ notice }, []]);
});

test('nobody sets up the secret of somebody else: it is sealed for one session, and for ten minutes', async () => {
  const [victim, mallory] = [await signIn(at, await aUser(at)), await signIn(at, await aUser(at))];
  const theirs = await page(mallory, '/account/authenticator');
  const own = await page(victim, '/account/authenticator');
  const forged = await submit(victim, own, setupForm(at, theirs.response));
  expect([forged.statusCode, forged.body]).toEqual([400, expect.stringContaining('took too long')]);
  expect((await submit(victim, own, { setup: 'AAAA', otp: '000000' })).statusCode).toBe(400);
});

test('an authenticator app is set up, used, and removed: with mail, events, and the end of what a password alone had', async () => {
  const user = await aUser(at);
  const token = (await login(at, user.username, {})).json<{ access_token: string }>().access_token;
  const elsewhere = await signIn(at, user);
  const browser = await signIn(at, user);
  const shown = await page(browser, '/account/authenticator');
  const kept = await submit(browser, shown, setupForm(at, shown.response));
  expect(codesOn(kept)).toHaveLength(10);
  expect((await page(browser, '/account/authenticator')).response.body).toContain('authenticator-remove');
  const userinfo = await at.app.inject({ url: '/userinfo', headers: { authorization: `Bearer ${token}` } });
  expect(userinfo.statusCode).toBe(401);
  expect(titleOf((await page(elsewhere, '/account')).response)).toBe('Two-step verification');
  // New codes take the place of the old ones.
  const codes = await page(browser, '/account/recovery-codes');
  expect(codes.response.body).toContain('10 recovery codes are left');
  const renewed = codesOn(await submit(browser, codes, { action: 'renew' }));
  expect(renewed).toHaveLength(10);
  const { username, sub } = user;
  expect((await login(at, username, { 'recovery-code': codesOn(kept)[0]! })).statusCode).toBe(401);
  expect((await login(at, username, { 'recovery-code': renewed[0]! })).statusCode).toBe(200);
  // Not from a sign-in of a while ago.
  at.clock.advance(301);
  const stale = await submit(browser, shown, { action: 'remove' });
  expect(stale.headers.location).toContain('/login?to=authenticator');
  const fresh = await signIn(at, user);
  const asked = await page(fresh, '/account/authenticator');
  await submit(fresh, asked, { 'recovery-code': renewed[1]! });
  const present = await page(fresh, '/account/authenticator');
  expect((await submit(fresh, present, { action: 'remove' })).headers.location).toContain('done=removed');
  expect(titleOf((await page(browser, '/account')).response)).toMatch(/^Sign in/);
  expect(await eventsOf(sub)).toEqual(
    expect.arrayContaining([
      'factor_added',
      'recovery_codes_made',
      'recovery_code_used',
      'second_factor',
      'factor_removed',
    ]),
  );
  expect(await mailsTo(sub)).toBe(5);
  expect((await login(at, username, {})).statusCode).toBe(200);
});

test('a lost key is told to the person and to the operator, and a recovery code still opens; others are sealed anew', async () => {
  const { user, secret } = await aUserWithTotp(at);
  const other = createSecrets(['another key, which was there for a day'], random);
  const sealed = other.seal(secret, labelOf(user.sub));
  await at.deps.db.updateTable('totp_credentials').set({ sealed }).where('sub', '=', user.sub).execute();
  expect(await countLostTotps(at.deps)).toBe(1);
  const browser = await signIn(at, user);
  const told = await submit(browser, await page(browser, '/account'), { otp: codeOf(at, secret) });
  expect([told.statusCode, told.body]).toEqual([400, expect.stringContaining('can’t be checked any more')]);
  expect((await login(at, user.username, { otp: codeOf(at, secret) })).statusCode).toBe(401);
  expect((await login(at, user.username, { 'recovery-code': recoveryCodeOf(1) })).statusCode).toBe(200);
  // With the lost key appended to SECRET_KEYS.
  await resealTotps({
    db: at.deps.db,
    secrets: createSecrets([TEST_SECRET_KEY, 'another key, which was there for a day'], random),
  });
  expect(await countLostTotps(at.deps)).toBe(0);
});

test('a reset ends every session, and takes codes and app away; who has to have one sets it up anew', async () => {
  const user = await aUser(at);
  const { secret } = await withTotp(at, user);
  const browser = await signIn(at, user);
  await submit(browser, await page(browser, '/account'), { otp: codeOf(at, secret) });
  const { resetFactors } = await import('../../src/users/enrolment.ts');
  const { transact } = await import('../../src/store/postgres/db.ts');
  const reset = await transact(at.deps.db, (trx) =>
    resetFactors(trx, at.deps, user.sub, { actor: 'test' }, at.clock.now()),
  );
  expect(reset).toEqual({ factors: ['totp', 'recovery_code'], sessions_ended: 1, grants_revoked: 0 });
  expect(titleOf((await page(browser, '/account')).response)).toMatch(/^Sign in/);
  const strict = await aClient(at, { skip_consent: true, require_second_factor: true });
  expect(titleOf((await open(await signIn(at, user), strict)).response)).toMatch(/^Set up/);
});

test('what a client requires is asked again when its code is written', async () => {
  const browser = await signIn(at, await aUser(at));
  const consenting = await aClient(at);
  const asked = await open(browser, consenting);
  await at.deps.db
    .updateTable('clients')
    .set({ require_second_factor: true })
    .where('client_id', '=', consenting.client_id)
    .execute();
  const approved = await submit(browser, asked, { action: 'approve' });
  // The directory may know the client of before: the statement does not.
  const after = await browser.get(approved.headers.location!);
  expect(after.headers.location ?? '').not.toContain('code=');
});

test('RFC 9470 §3, §4: the demo API says what it wants, and is content with that', async () => {
  const { user, secret } = await aUserWithTotp(at);
  const fetch: TestApp['deps']['fetch'] = async (url) => {
    const { statusCode, body, headers } = await at.app.inject({ url: new URL(url).pathname });
    return { status: statusCode, text: body, headers: new Headers(headers as Record<string, string>) } as never;
  };
  const api = (token?: string) => demoApi({ ...at.deps, fetch }, token);
  expect(await api()).toMatchObject({ status: 401, challenge: 'Bearer' });
  expect(await api('none.of.ours')).toMatchObject({ status: 401, challenge: expect.stringContaining('invalid_token') });
  const insufficient = { status: 401, step_up: { acr_values: '2', max_age: '300' } };
  const weak = await someTokens(at, { client });
  expect(await api(weak.tokens.access_token)).toMatchObject(insufficient);
  const browser = await signIn(at, user);
  await submit(browser, await page(browser, '/account'), { otp: codeOf(at, secret) });
  const { tokens } = await someTokens(at, { client, user, browser, parameters: { acr_values: '2', max_age: '300' } });
  expect(await api(tokens.access_token)).toMatchObject({ status: 200 });
  at.clock.advance(301);
  expect(await api(tokens.access_token)).toMatchObject(insufficient);
});
