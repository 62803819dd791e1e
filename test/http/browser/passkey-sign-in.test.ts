/** Sign-in by a passkey alone, on the page of a request and at /login, by a browser and an authenticator in software. */
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/store/users.ts';
import { setDisabled } from '../../../src/users/accounts.ts';
import { transact } from '../../../src/store/postgres/db.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import type { Asked, Authenticator, Manner } from '../../support/authenticator.ts';
import { aClient, aUser, BY, formTokenOf, signIn, TestBrowser, type AClient } from '../../support/fixtures.ts';
import { answerTo, errorOn, open, proceed, stepOf, submit, titleOf, type At } from '../../support/pages.ts';
import { aPasskey, askedOn } from '../../support/passkeys.ts';

let at: TestApp;
let client: AClient;
let ada: User;
let bob: User;
let device: Authenticator;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at, { skip_consent: true });
  [ada, bob] = [await aUser(at), await aUser(at)];
  device = await aPasskey(at, ada);
});
afterAll(() => at.close());

const fields = (page: LightMyRequestResponse, passkey: string) => ({
  form_token: formTokenOf(page),
  action: 'passkey',
  passkey,
});
const usedAt = (browser: TestBrowser, page: At, by = device, manner: Manner = {}): Promise<At> =>
  proceed(browser, page, { action: 'passkey', passkey: by.use(askedOn(page.response), manner) });
const sessionOf = (sub: string) =>
  at.deps.db
    .selectFrom('sessions')
    .select(['amr', 'acr', 'auth_time'])
    .where('sub', '=', sub)
    .where('ended_at', 'is', null)
    .orderBy('auth_time', 'desc')
    .executeTakeFirstOrThrow();

test('a passkey signs in to a request: two factors in one, whether or not acr 2 was asked for', async () => {
  for (const parameters of [{}, { acr_values: '2' }]) {
    const browser = new TestBrowser(at);
    const page = await open(browser, client, parameters);
    expect(stepOf(page)).toBe('login');
    expect(answerTo(client, (await usedAt(browser, page)).response).code).toBeDefined();
    expect(await sessionOf(ada.sub)).toMatchObject({ amr: ['hwk', 'user'], acr: '2' });
    at.clock.advance(1);
  }
  const event = await at.deps.db
    .selectFrom('audit_events')
    .select(['sub', 'detail'])
    .where('event', '=', 'sign_in')
    .orderBy('event_id', 'desc')
    .executeTakeFirst();
  expect(event).toEqual({ sub: ada.sub, detail: { amr: ['hwk', 'user'], via: 'interaction' } });
});

test('a key that is synchronised is one of software', async () => {
  const phone = await aPasskey(at, ada, { synchronised: true });
  const browser = new TestBrowser(at);
  const page = await browser.get('/login');
  const answer = await browser.post('/login', fields(page, phone.use(askedOn(page))));
  expect([answer.statusCode, answer.headers.location]).toEqual([303, 'https://id.example.test/account']);
  expect(await sessionOf(ada.sub)).toMatchObject({ amr: ['swk', 'user'], acr: '2' });
  expect((await browser.get('/account')).body).toContain(ada.username);
});

test('nobody is told who has passkeys: the page asks for any, whatever name is hinted at', async () => {
  const asked = async (parameters: Record<string, string>): Promise<Asked> =>
    askedOn((await open(new TestBrowser(at), client, parameters)).response);
  for (const login_hint of [ada.username, bob.username, 'nobody']) {
    expect(await asked({ login_hint })).toMatchObject({ rpId: 'id.example.test', allowCredentials: [], userVerification: 'required' }); // prettier-ignore
  }
});

test('an answer counts on its own page alone: not in another request, another browser, at /login, or twice', async () => {
  const browser = new TestBrowser(at);
  const [first, second] = [await open(browser, client), await open(browser, client)];
  const refused = async (who: TestBrowser, page: At, passkey: string): Promise<void> => {
    const answer = await submit(who, page, { action: 'passkey', passkey });
    expect([answer.statusCode, titleOf(answer)]).toEqual([400, expect.stringMatching(/^Error: Sign in/)]);
    expect(answer.body).toContain('href="#passkey-signin"');
    expect(answer.body).toContain('took too long, or was sent twice');
  };
  const passkey = device.use(askedOn(first.response));
  await refused(browser, second, passkey);
  const other = new TestBrowser(at);
  await refused(other, await open(other, client), passkey);
  await refused(browser, { url: '/login', response: await browser.get('/login') }, passkey);
  expect(answerTo(client, (await proceed(browser, first, { action: 'passkey', passkey })).response).code).toBeDefined();
  at.clock.advance(1);
  const third = await open(browser, client, { prompt: 'login' });
  await refused(browser, third, passkey);
  // In its own browser, but from a form that is none of ours.
  const forged = await submit(browser, third, { action: 'passkey', passkey, form_token: 'x' });
  expect([forged.statusCode, errorOn(forged)]).toEqual([400, 'invalid_request']);
});

test('what is no answer of an authenticator is a problem on the page, and never a failure of ours', async () => {
  const browser = new TestBrowser(at);
  const page = await open(browser, client);
  const honest = device.use(askedOn(page.response));
  const texts = [
    '',
    '{}',
    '[]',
    'null',
    '"x"',
    honest.slice(0, -9),
    honest.replace('"id":"', '"id":"_'),
    '['.repeat(15_000),
  ];
  for (const passkey of [
    ...texts,
    device.use(askedOn(page.response), { origin: 'https://id.example.test.evil.test' }),
  ]) {
    const answer = await submit(browser, page, { action: 'passkey', passkey });
    expect(answer.statusCode, passkey.slice(0, 30)).toBe(400);
    expect(titleOf(answer)).toMatch(/^Error: Sign in/);
  }
  const nothing = await submit(browser, page, { action: 'passkey' });
  expect(nothing.statusCode).toBe(400);
});

test('whoever confirms that it is them is asked for their own passkeys, and another person’s does not count', async () => {
  const browser = await signIn(at, ada);
  at.clock.advance(400);
  const page = await open(browser, client, { prompt: 'login' });
  const asked = askedOn(page.response);
  expect(asked.allowCredentials?.map(({ id }) => id)).toContain(device.keys[0]!.id.toString('base64url'));
  const bobs = await aPasskey(at, bob);
  const wrong = await submit(browser, page, {
    action: 'passkey',
    passkey: bobs.use({ ...asked, allowCredentials: [] }),
  });
  expect([wrong.statusCode, wrong.body]).toEqual([400, expect.stringContaining('could not be checked')]);
  expect(answerTo(client, (await usedAt(browser, page)).response).code).toBeDefined();
  expect((await sessionOf(ada.sub)).auth_time).toEqual(at.clock.now());
  // Somebody without passkeys is not offered the button.
  const carol = await signIn(at, await aUser(at));
  const confirming = await open(carol, client, { prompt: 'login' });
  expect(confirming.response.body).not.toContain('passkey-signin');
});

test('a disabled account is refused, and a removed passkey is forgotten by its keeper', async () => {
  const dora = await aUser(at);
  const hers = await aPasskey(at, dora);
  const browser = new TestBrowser(at);
  const page = await open(browser, client);
  const disable = (disabled: boolean) =>
    transact(at.deps.db, (trx) => setDisabled(trx, dora.sub, disabled, BY, at.clock.now()));
  await disable(true);
  const refused = await submit(browser, page, { action: 'passkey', passkey: hers.use(askedOn(page.response)) });
  expect([refused.statusCode, refused.body]).toEqual([400, expect.stringContaining('could not be checked')]);
  await disable(false);
  await at.deps.db.deleteFrom('passkeys').where('sub', '=', dora.sub).execute();
  const again = await open(browser, client);
  const unknown = await submit(browser, again, { action: 'passkey', passkey: hers.use(askedOn(again.response)) });
  expect([unknown.statusCode, unknown.body]).toEqual([400, expect.stringContaining('not known here any more')]);
  expect(unknown.body).toContain(`data-forget="${hers.keys[0]!.id.toString('base64url')}"`);
});
