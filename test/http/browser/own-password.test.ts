/** A password that was drawn for somebody: good for a first sign-in, which goes no further before they chose their own. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { testApp, type TestApp } from '../../support/app.ts';
import { aClient, authorize, aUser, formTokenOf, signIn, TestBrowser, type AClient } from '../../support/fixtures.ts';
import { open, proceed, stepOf } from '../../support/pages.ts';
import { anOperator, type Operator } from '../../support/operator.ts';

const OWN = 'seven violet umbrellas dancing';
const DAY = 86_400;

let at: TestApp;
let operator: Operator;
let client: AClient;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at, { skip_consent: true });
});
// The clock moves further than a token lives.
beforeEach(async () => {
  operator = await anOperator(at);
});
afterAll(() => at.close());

async function drawn() {
  const user = await aUser(at);
  const answer = await operator.send('POST', `/users/${user.sub}/set-password`, {});
  return { user, ...answer.json<{ password: string; expires_at: string }>() };
}
const forToken = (username: string, password: string) =>
  at.app.inject({ method: 'POST', url: '/login', payload: { username, password } });

test('ASVS 6.4.1: a password that was drawn opens nothing but the page on which another is chosen, and cannot stay', async () => {
  const { user, password } = await drawn();
  const script = await forToken(user.username, password);
  expect([script.statusCode, script.json()]).toMatchObject([401, { error: 'invalid_credentials' }]);
  expect(script.json<{ error_description: string }>().error_description).toMatch(/in a browser/);

  const browser = await signIn(at, user, password);
  for (const page of ['', '/sessions', '/data']) {
    expect((await browser.get(`/account${page}`)).headers.location).toBe('https://id.example.test/account/password');
  }
  expect((await browser.get('/account/password')).body).not.toContain('id="current-password"');
  expect((await authorize(browser, client, { prompt: 'none' })).get('error')).toBe('interaction_required');
  const asked = await open(browser, client);
  expect(stepOf(asked)).toBe('new-password');
  const same = await proceed(browser, asked, { 'new-password': password });
  expect([same.response.statusCode, same.response.body]).toEqual([400, expect.stringContaining('that you were given')]);
  const short = await proceed(browser, asked, { 'new-password': 'short' });
  expect(short.response.statusCode).toBe(400);
  const done = await proceed(browser, asked, { 'new-password': OWN, 'end-others': 'yes' });
  expect(done.response.headers.location).toMatch(/^https:\/\/app\.example\.test\/callback\?code=/);
  expect((await browser.get('/account')).statusCode).toBe(200);
  expect((await forToken(user.username, OWN)).statusCode).toBe(200);
  expect((await forToken(user.username, password)).statusCode).toBe(401);
});

test('ASVS 6.4.1: a password that was drawn ends after three days, as a wrong one; one that a server of before sets stays', async () => {
  const { user, password, expires_at } = await drawn();
  expect(new Date(expires_at).getTime() - at.clock.now().getTime()).toBe(3 * DAY * 1000);
  at.clock.advance(3 * DAY);
  const over = await forToken(user.username, password);
  const wrong = await forToken((await aUser(at)).username, password);
  expect([over.statusCode, over.body]).toEqual([401, wrong.body]);
  // As the version before writes: it knows nothing of the column.
  const changed_at = at.clock.now();
  await at.deps.db.updateTable('password_credentials').set({ changed_at }).where('sub', '=', user.sub).execute();
  expect((await forToken(user.username, password)).statusCode).toBe(200);
});

test('whoever takes their time says the password once more, and may leave', async () => {
  const { user, password } = await drawn();
  const browser = await signIn(at, user, password);
  at.clock.advance(301);
  const asked = await open(browser, client);
  const page = asked.response;
  expect(page.body).toContain('id="current-password"');
  const fields = { form_token: formTokenOf(page), 'new-password': OWN, 'end-others': 'yes' };
  const wrong = await browser.post(new URL(asked.url).pathname, { ...fields, 'current-password': 'another' });
  expect([wrong.statusCode, wrong.body]).toEqual([400, expect.stringContaining('not your present password')]);
  const left = await proceed(browser, asked, { action: 'cancel' });
  expect(left.response.headers.location).toContain('error=access_denied');
  const later = await browser.post('/account/password', {
    ...fields,
    form_token: formTokenOf(await browser.get('/account/password')),
    'current-password': password,
  });
  expect(later.headers.location).toBe('https://id.example.test/account/password?done=changed');
  expect((await new TestBrowser(at).get('/account')).statusCode).toBe(302);
});
