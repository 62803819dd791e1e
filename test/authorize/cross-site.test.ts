/** POST /authorize: it comes from another site, without our cookies; a GET of ours decides, with the cookie in hand. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient, aUser, authorizationUrl, signIn, TestBrowser, type AClient } from '../support/fixtures.ts';
import {
  answerTo,
  crossSitePost,
  expectErrorPage,
  follow,
  proceed,
  signInAt,
  stepOf,
  type At,
} from '../support/pages.ts';

let at: TestApp;
let client: AClient;
let firstParty: AClient;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at);
  firstParty = await aClient(at, { skip_consent: true });
});
afterAll(() => at.close());

/** Posts the request of an application's page; returns where our GET is. */
async function post(of: AClient, parameters: Record<string, string> = {}): Promise<string> {
  const { search } = new URL(authorizationUrl('https://id.example.test', of, parameters));
  const response = await crossSitePost(at, '/authorize', search.slice(1));
  expect(response.statusCode).toBe(303);
  expect(response.headers['set-cookie']).toBeUndefined();
  return response.headers.location!;
}
const visit = async (browser: TestBrowser, url: string): Promise<At> => follow(browser, await browser.get(url), url);

test('OpenID Connect Core §3.1.2.1: POST /authorize stores the request and answers 303 to a GET of ours', async () => {
  expect(await post(client)).toMatch(/^https:\/\/id\.example\.test\/interaction\/[0-9a-z]+_[\w-]{43}$/);
});

test('OpenID Connect Core §3.1.2.1: with a session and consent, that GET answers with a code at once', async () => {
  const browser = await signIn(at, await aUser(at));
  const { response } = await visit(browser, await post(firstParty, { state: 'Ω&=' }));
  expect(answerTo(firstParty, response)).toEqual({
    code: expect.any(String),
    state: 'Ω&=',
    iss: 'https://id.example.test',
  });
});

test('without a session it goes on like any request: sign-in, consent, code', async () => {
  const browser = new TestBrowser(at);
  const page = await visit(browser, await post(client));
  expect(stepOf(page)).toBe('login');
  const consent = await signInAt(browser, page, await aUser(at));
  expect(stepOf(consent)).toBe('consent');
  expect(answerTo(client, (await proceed(browser, consent, { action: 'approve' })).response)).toHaveProperty('code');
});

test('OpenID Connect Core §3.1.2.1: prompt=none of a POST is decided by the GET: a code, or login_required', async () => {
  const browser = await signIn(at, await aUser(at));
  const silent = await visit(browser, await post(firstParty, { prompt: 'none' }));
  expect(answerTo(firstParty, silent.response)).toHaveProperty('code');
  const url = await post(firstParty, { prompt: 'none' });
  const stranger = new TestBrowser(at);
  expect(answerTo(firstParty, (await visit(stranger, url)).response)).toMatchObject({ error: 'login_required' });
  expectErrorPage(await stranger.get(url));
});

test('the first browser that opens it binds it, every other is refused', async () => {
  const url = await post(client);
  const first = new TestBrowser(at);
  expect(stepOf(await visit(first, url))).toBe('login');
  for (const other of [new TestBrowser(at), await signIn(at, await aUser(at))]) {
    expectErrorPage(await other.get(url), 'access_denied');
    expectErrorPage(await other.get(`${url}/login`), 'access_denied');
    expectErrorPage(await other.post(`${url}/login`, { username: 'a', password: 'b' }), 'access_denied');
    expectErrorPage(await other.post(`${url}/consent`, { action: 'approve' }), 'access_denied');
  }
  expect(stepOf(await visit(first, url))).toBe('login');
});

test('ASVS 15.4.2: of many browsers that open it at once, one binds it', async () => {
  const url = await post(client);
  const browsers = Array.from({ length: 8 }, () => new TestBrowser(at));
  const answers = await Promise.all(browsers.map((browser) => browser.get(url)));
  expect(
    answers
      .map(({ statusCode }) => String(statusCode))
      .toSorted()
      .join(' '),
  ).toBe(`302${' 400'.repeat(7)}`);
});

test('RFC 6749 §10.12: a POST that does carry our cookies is treated no better', async () => {
  const browser = await signIn(at, await aUser(at));
  const { search } = new URL(authorizationUrl(browser.issuer, firstParty));
  const fields = Object.fromEntries(new URLSearchParams(search));
  const response = await browser.post('/authorize', fields, { origin: 'https://evil.example.test' });
  expect(response.statusCode).toBe(303);
  expect(response.headers.location).toMatch(/\/interaction\/[\w-]+$/);
});

test('RFC 8707 §2: resource repeated in a POST body is read like in a query', async () => {
  const { search } = new URL(authorizationUrl('https://id.example.test', client));
  const more = '&resource=https%3A%2F%2Fid.example.test&resource=https%3A%2F%2Fnobody.example.test';
  const response = await crossSitePost(at, '/authorize', search.slice(1) + more);
  expect(answerTo(client, response, 303)).toMatchObject({ error: 'invalid_target' });
});
