/** /account/password: the change of a password, its verdict with and without JavaScript, and what ends with it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  aUser,
  formTokenOf,
  PASSWORD,
  refresh,
  signIn,
  someTokens,
  TestBrowser,
  type AClient,
} from '../../support/fixtures.ts';

let at: TestApp;
let client: AClient;
beforeAll(async () => {
  at = await testApp({ config: { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'id@example.test' } });
  client = await aClient(at);
});
afterAll(() => at.close());

const PAGE = '/account/password';
const NEW = 'an entirely new one';
type Fields = Record<string, string>;
const send = async (browser: TestBrowser, fields: Fields) =>
  browser.post(PAGE, { form_token: formTokenOf(await browser.get(PAGE)), ...fields });
const live = async ({ sub }: User): Promise<number> =>
  (await at.deps.db.selectFrom('sessions').select('sid').where('sub', '=', sub).where('ended_at', 'is', null).execute())
    .length;
const asPasskey = ({ sub }: User) =>
  at.deps.db
    .updateTable('sessions')
    .set({ amr: ['hwk', 'user'], acr: '2' })
    .where('sub', '=', sub)
    .execute();
const enters = async ({ username }: User, password: string): Promise<number> =>
  (await at.app.inject({ method: 'POST', url: '/login', payload: { username, password } })).statusCode;

test('ASVS 6.2.2, 6.2.3: a password is changed by whoever knows the present one, and other sessions end unless they are kept', async () => {
  const ada = await aUser(at);
  const [here, elsewhere] = [await signIn(at, ada), await signIn(at, ada)];
  const page = await here.get(PAGE);
  expect(page.body).toMatch(/id="new-password"[^>]*autocomplete="new-password"[^>]*minlength="8"[^>]*passwordrules=/s);
  expect(page.body).toMatch(/id="end-others"[^>]* checked/);
  const kept = await send(here, { 'current-password': PASSWORD, 'new-password': NEW });
  expect([kept.statusCode, kept.headers.location]).toEqual([
    303,
    'https://id.example.test/account/password?done=changed',
  ]);
  expect((await here.get(`${PAGE}?done=changed`)).body).toContain('Your password was changed.');
  expect(await live(ada)).toBe(2);
  await send(here, { 'current-password': NEW, 'new-password': `${NEW}, again`, 'end-others': 'yes' });
  expect(await live(ada)).toBe(1);
  expect((await elsewhere.get(PAGE)).headers.location).toContain('/login');
  expect((await here.get(PAGE)).statusCode).toBe(200);
  expect([await enters(ada, NEW), await enters(ada, `${NEW}, again`)]).toEqual([401, 200]);
  const events = await at.deps.db.selectFrom('audit_events').select('event').where('sub', '=', ada.sub).execute();
  expect(events.filter(({ event }) => event === 'password_changed')).toHaveLength(2);
  const mails = await at.deps.db.selectFrom('mails').select('template').where('sub', '=', ada.sub).execute();
  expect(mails).toEqual([{ template: 'notice' }, { template: 'notice' }]);
});

test('with the password refresh tokens end that are not for while the person is away, in every session', async () => {
  const ada = await aUser(at);
  const here = await signIn(at, ada);
  const given = { client, user: ada, browser: here };
  const { tokens: online } = await someTokens(at, { ...given, parameters: { scope: 'openid' } });
  const parameters = { scope: 'openid offline_access', prompt: 'consent' };
  const { tokens: offline } = await someTokens(at, { ...given, parameters });
  await send(here, { 'current-password': PASSWORD, 'new-password': NEW });
  expect((await refresh(at, client, online.refresh_token)).statusCode).toBe(400);
  expect((await refresh(at, client, offline.refresh_token)).statusCode).toBe(200);
});

test('a wrong present password changes nothing, is said beside its field, and is throttled as a sign-in', async () => {
  const ada = await aUser(at);
  const here = await signIn(at, ada);
  const wrong = await send(here, { 'current-password': 'not it at all', 'new-password': NEW });
  expect(wrong.statusCode).toBe(400);
  expect(wrong.body).toMatch(/<title>Error: /);
  expect(wrong.body).toContain('id="current-password-problem"');
  expect(wrong.body).not.toMatch(/id="end-others"[^>]* checked/);
  let last = wrong;
  for (let tries = 0; tries < 6; tries += 1) {
    last = await send(here, { 'current-password': 'not it at all', 'new-password': NEW });
  }
  expect([last.statusCode, Number(last.headers['retry-after'])]).toEqual([429, expect.any(Number)]);
  at.clock.advance(3600);
  expect(await enters(ada, PASSWORD)).toBe(200);
});

test('a new password that is easy to guess is refused with the reason, and without the meter', async () => {
  const ada = await aUser(at, { claims: { family_name: 'Lovelace' } });
  const here = await signIn(at, ada);
  const refused = await send(here, { 'current-password': PASSWORD, 'new-password': 'lovelace12' });
  expect([refused.statusCode, refused.body]).toEqual([400, expect.stringContaining('id="new-password-problem"')]);
  expect(refused.body).toContain('close to your name');
  const short = await send(here, { 'current-password': PASSWORD, 'new-password': 'short' });
  expect(short.body).toContain('Use at least 8 characters.');
  expect(await enters(ada, PASSWORD)).toBe(200);
});

test('the meter says what the form would: of this person, in their language, and to our own pages alone', async () => {
  const ada = await aUser(at, { claims: { family_name: 'Lovelace' } });
  const here = await signIn(at, ada);
  const judged = await here.post('/password-strength', { password: 'lovelace12' });
  expect(judged.json()).toMatchObject({ acceptable: false, score: 1, message: expect.stringContaining('your name') });
  const stranger = new TestBrowser(at);
  const good = await stranger.post('/password-strength?ui_locales=de', { password: 'ox cart at dawn' });
  expect(good.json()).toMatchObject({ acceptable: true, score: 4 });
  const typed = { email: 'ada@example.test', name: 'Ada Lovelace' };
  const newcomer = await stranger.post('/password-strength', { password: 'lovelace12', ...typed });
  expect(newcomer.json()).toMatchObject({ acceptable: false, message: expect.stringContaining('your name') });
  const elsewhere = await at.app.inject({
    method: 'POST',
    url: '/password-strength',
    headers: { origin: 'https://evil.example.test', 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'password=ox',
  });
  expect(elsewhere.statusCode).toBe(400);
  expect(at.logged.join('')).not.toContain('ox cart at dawn');
});

test('who signed in with a passkey just now needs no present password, and who has none sets one', async () => {
  const [ada, bob] = [await aUser(at), await aUser(at)];
  for (const person of [ada, bob]) {
    const here = await signIn(at, person);
    await asPasskey(person);
    if (person === bob) await at.deps.db.deleteFrom('password_credentials').where('sub', '=', bob.sub).execute();
    expect((await here.get(PAGE)).body).not.toContain('id="current-password"');
    expect((await send(here, { 'new-password': NEW })).statusCode).toBe(303);
    expect(await enters(person, NEW)).toBe(200);
    at.clock.advance(301);
    expect((await here.get(PAGE)).body).toContain('id="current-password"');
    expect((await send(here, { 'new-password': `${NEW} two` })).statusCode).toBe(400);
  }
});

test('a first password needs a sign-in of just now', async () => {
  const ada = await aUser(at);
  const here = await signIn(at, ada);
  await asPasskey(ada);
  await at.deps.db.deleteFrom('password_credentials').where('sub', '=', ada.sub).execute();
  at.clock.advance(301);
  const sent = await send(here, { 'new-password': NEW });
  expect([sent.statusCode, sent.headers.location]).toEqual([303, 'https://id.example.test/login?to=password']);
});

test('of eight changes at once, which all know the present password, one is made', async () => {
  const ada = await aUser(at);
  const here = await signIn(at, ada);
  const form_token = formTokenOf(await here.get(PAGE));
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      here.post(PAGE, { form_token, 'current-password': PASSWORD, 'new-password': `number ${n} of several` }),
    ),
  );
  expect(answers.filter(({ statusCode }) => statusCode === 303)).toHaveLength(1);
  expect(answers.every(({ statusCode }) => statusCode === 303 || statusCode === 400)).toBe(true);
});

test('password managers find the page at its well-known address', async () => {
  const answer = await new TestBrowser(at).get('/.well-known/change-password');
  expect([answer.statusCode, answer.headers.location]).toEqual([302, 'https://id.example.test/account/password']);
});
