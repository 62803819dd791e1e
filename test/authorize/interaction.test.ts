/** A request in progress: whose it is, how often it is answered, how long it waits, and what two tabs do to each other. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeClient } from '../../src/clients/register.ts';
import { transact } from '../../src/store/postgres/db.ts';
import type { User } from '../../src/store/users.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  aUser,
  authorizationUrl,
  BY,
  formTokenOf,
  PASSWORD,
  signIn,
  TestBrowser,
} from '../support/fixtures.ts';
import type { AClient } from '../support/fixtures.ts';
import { answerTo, expectErrorPage, open, proceed, signInAt, submit, titleOf, valueOf } from '../support/pages.ts';

let at: TestApp;
let client: AClient;
let firstParty: AClient;
let ada: User;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at, { client_uri: 'https://app.example.test/start', client_name: 'Notes <App>' });
  firstParty = await aClient(at, { skip_consent: true });
  ada = await aUser(at);
});
afterAll(() => at.close());

const interactionOf = ({ url }: { url: string }): string => url.replace(/\/[a-z-]+(\?.*)?$/, '');

test('specification §Endpoints 1: the user authenticates and consents on the authorization server’s own pages', async () => {
  const browser = new TestBrowser(at);
  const login = await open(browser, client);
  expect(login.url).toMatch(/^https:\/\/id\.example\.test\/interaction\/[\w-]+\/login$/);
  expect(titleOf(login.response)).toBe('Sign in to Notes &lt;App&gt;');
  const consent = await signInAt(browser, login, ada);
  expect(titleOf(consent.response)).toBe('Allow access for Notes &lt;App&gt;');
  expect(consent.response.body).toContain(ada.email);
  const { response } = await proceed(browser, consent, { action: 'approve' });
  expect(answerTo(client, response)).toMatchObject({ code: expect.any(String), state: 'a state' });
});

test('specification §What the service does 1: the client never receives the user’s credentials', async () => {
  const browser = new TestBrowser(at);
  const answer = await submit(browser, await open(browser, firstParty), { username: ada.username, password: PASSWORD });
  expect(answer.statusCode).toBe(303);
  expect(answer.headers.location).toMatch(/^https:\/\/id\.example\.test\/interaction\/[\w-]+$/);
  const { headers } = await browser.get(answer.headers.location!);
  expect(headers.location).not.toContain(PASSWORD.split(' ')[0]);
  expect(at.logged.join('')).not.toContain('correct horse');
});

test('an interaction belongs to the browser that began it', async () => {
  const page = await open(new TestBrowser(at), client);
  const stolen = [new TestBrowser(at), await signIn(at, ada)];
  for (const other of stolen) {
    for (const path of ['', '/login', '/consent', '/select-account']) {
      expectErrorPage(await other.get(interactionOf(page) + path), 'access_denied');
    }
  }
});

test('an interaction is answered once; the second time is an error page with a way back', async () => {
  const browser = await signIn(at, ada);
  const page = await open(browser, client, { prompt: 'consent' });
  const first = await proceed(browser, page, { action: 'approve' });
  expect(answerTo(client, first.response)).toHaveProperty('code');
  for (const path of ['', '/login', '/consent', '/select-account']) {
    const again = await browser.get(interactionOf(page) + path);
    expectErrorPage(again);
    expect(again.body).toContain('href="https://app.example.test/start"');
  }
  expectErrorPage(await submit(browser, page, { action: 'approve' }));
  expectErrorPage(await submit(browser, page, { action: 'deny' }));
});

test('ASVS 15.4.2: opened ten times at once, a finished interaction gives one code', async () => {
  const browser = await signIn(at, ada);
  const page = await open(browser, firstParty, { prompt: 'consent' });
  const { headers } = await submit(browser, page, { action: 'approve' });
  const answers = await Promise.all(Array.from({ length: 10 }, () => browser.get(headers.location!)));
  expect(
    answers
      .map(({ statusCode }) => String(statusCode))
      .toSorted()
      .join(' '),
  ).toBe(`302${' 400'.repeat(9)}`);
});

test('after an hour an interaction has expired, and its page offers to start again at the client', async () => {
  const browser = await signIn(at, ada);
  const page = await open(browser, client, { prompt: 'consent' });
  at.clock.advance(3599);
  expect((await browser.get(page.url)).statusCode).toBe(200);
  at.clock.advance(1);
  const late = await browser.get(page.url);
  expectErrorPage(late);
  expect(late.body).toContain('href="https://app.example.test/start"');
  expectErrorPage(await submit(browser, page, { action: 'approve' }));
  expectErrorPage(await browser.get(interactionOf(page)));
});

test.each([
  'x',
  'g15_short',
  `g15_${'a'.repeat(43)}`,
  `zzzzzz_${'a'.repeat(43)}`,
  '__proto__',
  '..%2f',
  '%00',
  '%27--',
  'a'.repeat(5000),
])('an interaction nobody knows (%s) is an error page', async (id) => {
  const browser = new TestBrowser(at);
  for (const path of ['', '/login', '/consent', '/select-account']) {
    expectErrorPage(await browser.get(`/interaction/${id}${path}`));
    if (path !== '') expectErrorPage(await browser.post(`/interaction/${id}${path}`, { action: 'approve' }));
  }
});

test('an interaction id that is no text at all is refused before any page', async () => {
  for (const url of ['/interaction/%zz/login', `/interaction/${'a'.repeat(7000)}`]) {
    const { statusCode, body, headers } = await at.app.inject({ url });
    expect([400, 414]).toContain(statusCode);
    expect(JSON.parse(body)).toEqual({ error: 'invalid_request', error_description: 'the address is malformed' });
    expect(headers['x-content-type-options']).toBe('nosniff');
  }
});

test('two tabs: signing in in one lets the other go on', async () => {
  const browser = new TestBrowser(at);
  const one = await open(browser, client, { state: 'one', prompt: 'consent' });
  const two = await open(browser, firstParty, { state: 'two' });
  expect(interactionOf(one)).not.toBe(interactionOf(two));
  const consent = await signInAt(browser, one, ada);
  expect(answerTo(firstParty, await browser.get(interactionOf(two)))).toMatchObject({ state: 'two' });
  const { response } = await proceed(browser, consent, { action: 'approve' });
  expect(answerTo(client, response)).toMatchObject({ state: 'one' });
});

test('the sign-in page of the other tab, reloaded or sent later, goes on as well', async () => {
  const browser = new TestBrowser(at);
  const one = await open(browser, firstParty);
  const two = await open(browser, firstParty);
  await signInAt(browser, one, ada);
  expect((await browser.get(two.url)).headers.location).toBe(interactionOf(two));
  expect(answerTo(firstParty, (await signInAt(browser, two, ada)).response)).toHaveProperty('code');
});

test('a sign-in form sent five times at once signs in, and no answer is a 5xx', async () => {
  const browser = new TestBrowser(at);
  const page = await open(browser, firstParty);
  const credentials = { username: ada.username, password: PASSWORD };
  const answers = await Promise.all(Array.from({ length: 5 }, () => submit(browser, page, credentials)));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([303, 303, 303, 303, 303]);
  expect(answerTo(firstParty, await browser.get(interactionOf(page)))).toHaveProperty('code');
});

test('Cancel on the sign-in page returns access_denied, with state and iss', async () => {
  const browser = new TestBrowser(at);
  const page = await open(browser, client);
  expect(page.response.body).toContain('id="login-cancel"');
  const { response } = await proceed(browser, page, { action: 'cancel' });
  expect(answerTo(client, response)).toMatchObject({ error: 'access_denied', state: 'a state', iss: browser.issuer });
  expectErrorPage(await browser.get(page.url));
});

test('a wrong password stays at its URL with 400, keeps the name, and the request is not lost', async () => {
  const browser = new TestBrowser(at);
  const page = await open(browser, firstParty);
  const wrong = await submit(browser, page, { username: ada.username, password: 'not the password' });
  expect(wrong.statusCode).toBe(400);
  expect(titleOf(wrong)).toMatch(/^Error: Sign in/);
  expect(valueOf(wrong, 'username')).toBe(ada.username);
  expect(wrong.body).not.toContain('not the password');
  const empty = await submit(browser, page, { username: '', password: '' });
  expect(empty.statusCode).toBe(400);
  const next = await signInAt(browser, { url: page.url, response: wrong }, ada);
  expect(answerTo(firstParty, next.response)).toHaveProperty('code');
});

test('specification §Endpoints 5: GET is safe: a step’s page changes nothing, and one that is not due leads back', async () => {
  const browser = await signIn(at, ada);
  const page = await open(browser, client, { prompt: 'consent' });
  const [before] = await at.deps.db
    .selectFrom('interactions')
    .selectAll()
    .orderBy('created_at', 'desc')
    .limit(1)
    .execute();
  for (let times = 0; times < 3; times += 1) expect((await browser.get(page.url)).statusCode).toBe(200);
  for (const path of ['/login', '/select-account']) {
    expect((await browser.get(interactionOf(page) + path)).headers.location).toBe(interactionOf(page));
  }
  const [after] = await at.deps.db
    .selectFrom('interactions')
    .selectAll()
    .orderBy('created_at', 'desc')
    .limit(1)
    .execute();
  expect(after).toEqual(before);
});

test('when the client is gone meanwhile, the page says so and leads nowhere', async () => {
  const gone = await aClient(at, { client_uri: 'https://gone.example.test' });
  const browser = await signIn(at, ada);
  const page = await open(browser, gone);
  await transact(at.deps.db, (trx) => removeClient(trx, gone.client_id, BY, at.clock.now()));
  at.deps.directory.clear();
  expectErrorPage(await browser.get(page.url));
  expectErrorPage(await submit(browser, page, { action: 'approve' }));
  expectErrorPage(await browser.get(authorizationUrl(browser.issuer, gone)));
});

test('a form POST is answered 303 to our GET, whatever was pressed', async () => {
  const browser = await signIn(at, ada);
  const page = await open(browser, client, { prompt: 'consent' });
  for (const action of ['', 'maybe', '__proto__', 'deny']) {
    const answer = await submit(browser, page, { action });
    expect(answer.statusCode).toBe(303);
    expect(answer.headers.location).toBe(interactionOf(page));
  }
  expect(formTokenOf(page.response)).not.toBe('');
});
