/** Forged forms (RFC 6749 §10.12, RFC 9700 §4.7, ASVS 3.5.1): each form counts only from our page, in its browser. */
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { buildApp } from '../../../src/app.ts';
import { createSecrets } from '../../../src/keys/secrets.ts';
import type { User } from '../../../src/store/users.ts';
import { TEST_SECRET_KEY, testApp, type TestApp } from '../../support/app.ts';
import { aClient, aUser, formTokenOf, PASSWORD, signIn, TestBrowser, type AClient } from '../../support/fixtures.ts';
import { errorOn, open, type At } from '../../support/pages.ts';

let at: TestApp;
let client: AClient;
let ada: User;
let victim: TestBrowser;
let mallory: TestBrowser;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at);
  ada = await aUser(at);
  mallory = await signIn(at, await aUser(at));
  victim = await signIn(at, ada);
});
beforeEach(() => at.clock.advance(2));
afterAll(() => at.close());

/** Every form there is: how the victim's page is opened, and what its approving button sends. */
const forms: Record<string, { show(browser: TestBrowser): Promise<At>; fields: () => Record<string, string> }> = {
  login: {
    show: async (browser) => ({ url: `${browser.issuer}/login`, response: await browser.get('/login') }),
    fields: () => ({ username: ada.username, password: PASSWORD }),
  },
  'interaction login': {
    show: (browser) => open(browser, client, { prompt: 'login' }),
    fields: () => ({ username: ada.username, password: PASSWORD, action: 'login' }),
  },
  'interaction cancel': {
    show: (browser) => open(browser, client, { prompt: 'login' }),
    fields: () => ({ action: 'cancel' }),
  },
  'select account': {
    show: (browser) => open(browser, client, { prompt: 'select_account' }),
    fields: () => ({ account: ada.sub }),
  },
  consent: {
    show: (browser) => open(browser, client, { prompt: 'consent' }),
    fields: () => ({ action: 'approve' }),
  },
  logout: {
    show: async (browser) => ({ url: `${browser.issuer}/logout`, response: await browser.get('/logout') }),
    fields: () => ({ action: 'logout' }),
  },
};
const names = Object.keys(forms);

/** Nothing was done, on a page; and the victim's session and request are as they were. */
function expectForged(answer: LightMyRequestResponse): void {
  expect([answer.statusCode, errorOn(answer), answer.headers.location]).toEqual([400, 'invalid_request', undefined]);
  expect(answer.body).toContain('nothing was done');
  const set = answer.cookies.map(({ name }) => name);
  expect(set).not.toContain('__Host-postern_session');
}
const state = async (): Promise<string> => {
  const interactions = await at.deps.db.selectFrom('interactions').selectAll().orderBy('hash').execute();
  const sessions = await at.deps.db.selectFrom('sessions').select(['sid', 'ended_at']).orderBy('hash').execute();
  const consents = await at.deps.db.selectFrom('consents').selectAll().execute();
  return JSON.stringify({ interactions, sessions, consents });
};

test.each(names)('ASVS 3.5.1: the %s form without its token, or with a wrong one, does nothing', async (name) => {
  const { show, fields } = forms[name]!;
  const { url, response } = await show(victim);
  const before = await state();
  const right = formTokenOf(response);
  expect(right).toMatch(/^[\w-]{43}$/);
  const wrong = ['x', right.slice(0, -1), `${right}AAAA`, 'A'.repeat(43), right.toUpperCase()];
  for (const form_token of name === 'logout' ? wrong : ['', ...wrong]) {
    expectForged(await victim.post(url, { ...fields(), form_token }));
  }
  expect(await state()).toBe(before);
});

test.each(names)('ASVS 3.5.1: the %s form with the token of another browser’s page does nothing', async (name) => {
  const { show, fields } = forms[name]!;
  const own = await show(mallory);
  const { url } = await show(victim);
  const before = await state();
  expectForged(await victim.post(url, { ...fields(), form_token: formTokenOf(own.response) }));
  expect(await state()).toBe(before);
});

test.each(names)('ASVS 3.5.1: the token of the %s form is good for no other form', async (name) => {
  const { show, fields } = forms[name]!;
  const { url } = await show(victim);
  for (const other of names.filter(
    (each) => each !== name && !(name.startsWith('interaction') && each.startsWith('interaction')),
  )) {
    const page = await forms[other]!.show(victim);
    expectForged(await victim.post(url, { ...fields(), form_token: formTokenOf(page.response) }));
  }
});

test('ASVS 3.5.1: the token of one request’s page is good for no other request', async () => {
  for (const name of ['interaction login', 'consent', 'select account']) {
    const { show, fields } = forms[name]!;
    const [one, two] = [await show(victim), await show(victim)];
    expectForged(await victim.post(two.url, { ...fields(), form_token: formTokenOf(one.response) }));
  }
});

const hostile: Record<string, string>[] = [
  { origin: 'https://evil.example.test', 'sec-fetch-site': 'cross-site' },
  { origin: 'https://evil.example.test' },
  { origin: 'null' },
  { origin: 'null', 'sec-fetch-site': 'cross-site' },
  { origin: 'http://id.example.test' },
  { origin: 'https://id.example.test:8443' },
  { origin: 'https://id.example.test.evil.example.test' },
  { origin: 'https://sub.id.example.test' },
  { origin: 'https://ID.example.test/' },
  { origin: '' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
];

test.each(names)(
  'ASVS 3.5.1: the %s form, right token and all, does nothing when sent from elsewhere',
  async (name) => {
    const { show, fields } = forms[name]!;
    const { url, response } = await show(victim);
    const before = await state();
    for (const headers of hostile) {
      expectForged(await victim.post(url, { ...fields(), form_token: formTokenOf(response) }, headers));
    }
    expect(await state()).toBe(before);
  },
);

/** The victim's form, sent with exactly these headers besides its cookies. */
function sendExactly(
  browser: TestBrowser,
  url: string,
  fields: Record<string, string>,
  headers: Record<string, string>,
) {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const always = { host: 'id.example.test', accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' };
  const payload = new URLSearchParams(fields).toString();
  return { method: 'POST' as const, url: new URL(url).pathname, headers: { ...always, cookie, ...headers }, payload };
}

test('forms work from browsers that send Origin or Sec-Fetch-Site alone, and from those of old', async () => {
  const own = { origin: 'https://id.example.test' };
  for (const headers of [own, { 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }, {}] as Record<
    string,
    string
  >[]) {
    for (const name of ['consent', 'interaction cancel', 'select account']) {
      const { show, fields } = forms[name]!;
      const { url, response } = await show(victim);
      const form = { ...fields(), form_token: formTokenOf(response) };
      expect((await at.app.inject(sendExactly(victim, url, form, headers))).statusCode).toBe(303);
      expectForged(await at.app.inject(sendExactly(victim, (await show(victim)).url, form, headers)));
    }
  }
});

test('RFC 6749 §10.12: a sign-in form cannot be planted: the attacker’s token is bound to the attacker’s browser', async () => {
  const attacker = new TestBrowser(at);
  const form_token = formTokenOf(await attacker.get('/login'));
  const bystander = new TestBrowser(at);
  const planted = { username: ada.username, password: PASSWORD, form_token };
  expectForged(await bystander.post('/login', planted));
  await bystander.get('/login');
  expectForged(await bystander.post('/login', planted));
  expect(bystander.cookies.has('__Host-postern_session')).toBe(false);
});

test('a form of a browser that lost its cookies says what to do', async () => {
  const browser = new TestBrowser(at);
  const { url, response } = await open(browser, client);
  browser.cookies.clear();
  const answer = await browser.post(url, { form_token: formTokenOf(response), username: 'a', password: 'b' });
  expect([answer.statusCode, errorOn(answer)]).toEqual([400, 'access_denied']);
  expect(answer.body).toContain('Cookies have to be allowed for this site');
});

test('a form outlives a change of SECRET_KEYS while the old key is among them, and dies with it', async () => {
  const page = await open(victim, client, { prompt: 'consent' });
  const form = { form_token: formTokenOf(page.response), action: 'deny' };
  const fresh = 'another secret key for tests, of fifty characters!';
  for (const [keys, status] of [
    [[fresh], 400],
    [[fresh, TEST_SECRET_KEY], 303],
  ] as const) {
    const app = await buildApp({ ...at.deps, secrets: createSecrets(keys, at.deps.random) });
    const answer = await app.inject(sendExactly(victim, page.url, form, { origin: 'https://id.example.test' }));
    await app.close();
    expect(answer.statusCode).toBe(status);
  }
});
