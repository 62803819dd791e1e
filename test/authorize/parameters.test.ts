/** Every parameter missing, empty, repeated, oversized or malformed: which error, and where it goes. */
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient, authorizationUrl, TestBrowser, type AClient } from '../support/fixtures.ts';
import { answerTo, crossSitePost, errorOn, expectErrorPage, open, stepOf } from '../support/pages.ts';

let at: TestApp;
let client: AClient;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at);
});
afterAll(() => at.close());

type Parameters = Record<string, string | undefined>;
/** A query string of a good request with some parameters replaced, and `more` appended as it is. */
const query = (parameters: Parameters = {}, more = ''): string =>
  new URL(authorizationUrl('https://x.test', client, parameters)).search.slice(1) + more;

/** Sends the same request as GET and as POST; both must answer alike. */
async function both(text: string): Promise<Array<{ method: string; response: LightMyRequestResponse }>> {
  return [
    { method: 'GET', response: await new TestBrowser(at).get(`/authorize?${text}`) },
    { method: 'POST', response: await crossSitePost(at, '/authorize', text) },
  ];
}

const long = (length: number): string => 'a'.repeat(length);

test.each<[what: string, text: () => string]>([
  ['no parameter at all', () => ''],
  ['client_id missing', () => query({ client_id: undefined })],
  ['client_id empty', () => query({ client_id: '' })],
  ['client_id unknown', () => query({ client_id: 'nobody' })],
  ['client_id in another case', () => query({ client_id: client.client_id.toUpperCase() + 'A' })],
  ['client_id of another alphabet', () => query({ client_id: "' or 1=1 --" })],
  ['client_id oversized', () => query({ client_id: long(9000) })],
  ['client_id repeated', () => query({}, `&client_id=${client.client_id}`)],
  ['client_id as an array', () => query({ client_id: undefined, 'client_id[]': client.client_id })],
  ['redirect_uri missing', () => query({ redirect_uri: undefined })],
  ['redirect_uri empty', () => query({ redirect_uri: '' })],
  ['redirect_uri unregistered', () => query({ redirect_uri: 'https://evil.example.test/' })],
  ['redirect_uri oversized', () => query({ redirect_uri: `${client.redirect_uri}/${long(3000)}` })],
  ['redirect_uri repeated', () => query({}, `&redirect_uri=${encodeURIComponent(client.redirect_uri)}`)],
  ['redirect_uri repeated, empty', () => query({}, '&redirect_uri=')],
  ['redirect_uri as an array', () => query({ redirect_uri: undefined, 'redirect_uri[0]': client.redirect_uri })],
  ['redirect_uri with a javascript scheme', () => query({ redirect_uri: 'javascript:alert(1)' })],
  ['a null byte', () => query({}, '&foo=%00')],
  ['a control character', () => query({}, '&foo=%1b%5b2J')],
  ['a null byte in a name', () => query({}, '&a%00b=1')],
  ['an invalid percent escape', () => query({}, '&foo=%zz')],
  ['half a percent escape', () => query({}, '&foo=%4')],
  ['invalid UTF-8', () => query({}, '&foo=%ff')],
  ['overlong UTF-8', () => query({}, '&foo=%c0%af')],
  ['a lone surrogate', () => query({}, '&foo=%ed%a0%80')],
  ['more than 200 parameters', () => query({}, '&a=1'.repeat(201))],
  ['a state that is too long to be echoed', () => query({ state: long(2049) })],
  ['state repeated', () => query({}, '&state=another')],
])('RFC 6749 §4.1.2.1: %s is answered on a page and redirects nowhere', async (_what, text) => {
  for (const { response } of await both(text())) {
    expectErrorPage(response);
    expect(response.body).not.toContain('href="https://app.example.test');
  }
});

test.each<[what: string, error: string, text: () => string]>([
  ['response_type missing', 'invalid_request', () => query({ response_type: undefined })],
  ['response_type empty', 'invalid_request', () => query({ response_type: '' })],
  ['response_type repeated', 'invalid_request', () => query({}, '&response_type=code')],
  ['response_type in another case', 'unsupported_response_type', () => query({ response_type: 'CODE' })],
  [
    'response_type as an array',
    'invalid_request',
    () => query({ response_type: undefined, 'response_type[]': 'code' }),
  ],
  ['scope repeated', 'invalid_request', () => query({}, '&scope=openid')],
  ['scope oversized', 'invalid_scope', () => query({ scope: long(4001) })],
  ['scope with a quotation mark', 'invalid_scope', () => query({ scope: 'openid "x' })],
  ['scope with a line break', 'invalid_scope', () => query({ scope: 'openid\nprofile' })],
  ['nonce repeated', 'invalid_request', () => query({ nonce: 'n' }, '&nonce=n')],
  ['nonce oversized', 'invalid_request', () => query({ nonce: long(1025) })],
  ['code_challenge repeated', 'invalid_request', () => query({}, '&code_challenge=a&code_challenge=a')],
  ['response_mode repeated', 'invalid_request', () => query({}, '&response_mode=query&response_mode=query')],
  ['an unknown parameter repeated', 'invalid_request', () => query({}, '&foo=1&foo=2')],
  ['a parameter repeated with an empty value', 'invalid_request', () => query({}, '&nonce=&nonce=x')],
  ['max_age that is no number', 'invalid_request', () => query({ max_age: 'soon' })],
  ['max_age negative', 'invalid_request', () => query({ max_age: '-1' })],
  ['max_age fractional', 'invalid_request', () => query({ max_age: '1.5' })],
  ['max_age beyond any age', 'invalid_request', () => query({ max_age: '9999999999' })],
  ['prompt unknown', 'invalid_request', () => query({ prompt: 'dance' })],
  ['prompt oversized', 'invalid_request', () => query({ prompt: long(8193) })],
  ['id_token_hint that is no token', 'invalid_request', () => query({ id_token_hint: 'a.b.c' })],
  ['request without a signature', 'invalid_request_object', () => query({ request: 'eyJhbGciOiJub25lIn0.e30.' })],
  ['request_uri unregistered', 'invalid_request_uri', () => query({ request_uri: 'https://app.example.test/r' })],
  ['registration', 'registration_not_supported', () => query({ registration: '{}' })],
  ['resource unknown', 'invalid_target', () => query({ resource: 'https://nobody.example.test' })],
])('RFC 6749 §4.1.2.1, RFC 9207 §2: %s goes to the client as %s, with state and iss', async (_what, error, text) => {
  for (const { method, response } of await both(text())) {
    const { error_description, ...answer } = answerTo(client, response, method === 'GET' ? 302 : 303);
    expect(answer).toEqual({ error, state: 'a state', iss: 'https://id.example.test' });
    expect(error_description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/);
  }
});

test('RFC 6749 §3.1: unknown parameters are ignored, empty ones are as if omitted, their order means nothing', async () => {
  const browser = new TestBrowser(at);
  const more = {
    foo: 'bar',
    'scope[]': 'admin',
    display: 'wap',
    ui_locales: 'tlh',
    claims_locales: 'x',
    acr_values: '9',
  };
  expect(stepOf(await open(browser, client, { ...more, nonce: '', prompt: '', max_age: '', login_hint: '' }))).toBe(
    'login',
  );
  const reversed = query({ login_hint: 'nobody@nowhere' }).split('&').toReversed().join('&');
  expect((await browser.get(`/authorize?${reversed}`)).headers.location).toMatch(/\/interaction\/[\w-]+\/login$/);
});

test('specification §Endpoints 1: response_type, client_id and redirect_uri are required, everything else is optional', async () => {
  const { client_id, redirect_uri } = client;
  const required = new URLSearchParams({ response_type: 'code', client_id, redirect_uri });
  const response = await new TestBrowser(at).get(`/authorize?${required.toString()}`);
  expect(response.statusCode).toBe(302);
  expect(response.headers.location).toMatch(/^https:\/\/id\.example\.test\/interaction\/[\w-]+\/login$/);
});

test('RFC 6749 §3.1: an error for a request without state carries none', async () => {
  const response = await new TestBrowser(at).get(`/authorize?${query({ state: undefined, response_type: 'token' })}`);
  expect(Object.keys(answerTo(client, response)).toSorted()).toEqual(['error', 'error_description', 'iss']);
});

test('no value of any parameter makes a 5xx, or leads anywhere but to the client or to us', async () => {
  const names = [
    'response_type',
    'client_id',
    'redirect_uri',
    'scope',
    'state',
    'nonce',
    'prompt',
    'max_age',
    'resource',
  ];
  const others = [
    'login_hint',
    'code_challenge',
    'code_challenge_method',
    'response_mode',
    'id_token_hint',
    'claims',
    'acr_values',
  ];
  const values = [
    '',
    ' ',
    '\t',
    '\r\nSet-Cookie: a=b',
    '"><script>',
    '\u{1F600}',
    '__proto__',
    'constructor',
    '../../',
    '𝟙',
  ];
  for (const name of [...names, ...others]) {
    for (const value of [...values, long(8000), '%00', 'a'.repeat(70)]) {
      const response = await new TestBrowser(at).get(`/authorize?${query({ [name]: value })}`);
      const { statusCode, headers } = response;
      const where = headers.location ?? '';
      expect([302, 400], `${name}=${value.slice(0, 20)}`).toContain(statusCode);
      const what = statusCode === 302 ? new URL(where).host : errorOn(response);
      expect(['app.example.test', 'id.example.test', 'invalid_request'], where).toContain(what);
      expect(where).toMatch(/^[\x21-\x7E]*$/);
      expect(headers['set-cookie'] ?? '').not.toContain('a=b');
      expect(response.body).not.toContain('"><script>');
    }
  }
});

test('60 KiB of one character in a parameter are answered with 100 ms of work at most', async () => {
  for (const name of [
    'client_id',
    'redirect_uri',
    'scope',
    'code_challenge',
    'max_age',
    'resource',
    'id_token_hint',
    'request',
  ]) {
    for (const character of ['a', '.', '%25', '%20', '/']) {
      const text = query({ [name]: undefined }, `&${name}=${character.repeat(Math.floor(60_000 / character.length))}`);
      // Work, not time: others share the processor. The best of three: the first may be compiled meanwhile.
      let best = Infinity;
      let statusCode = 0;
      for (let tries = 0; tries < 3 && best > 100; tries += 1) {
        const before = process.threadCpuUsage();
        ({ statusCode } = await crossSitePost(at, '/authorize', text));
        const { user, system } = process.threadCpuUsage(before);
        best = Math.min(best, (user + system) / 1000);
      }
      expect(best, `${name} of ${character}`).toBeLessThan(100);
      expect(statusCode).toBeLessThan(500);
    }
  }
});

test.each([
  'application/json',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded; charset=utf-16',
  'application/x-www-form-urlencoded;charset=utf-7',
  'application/x-www-form-urlencoded, text/plain',
  'application/x-www-form-urlencodedx',
])('a POST of %s is refused, never read as an empty form', async (type) => {
  const payload = type === 'application/json' ? JSON.stringify({ client_id: client.client_id }) : query();
  const headers = { 'content-type': type, accept: 'text/html' };
  const response = await at.app.inject({ method: 'POST', url: '/authorize', headers, payload });
  expect([400, 415]).toContain(response.statusCode);
  expect(errorOn(response)).toBe('invalid_request');
  expect(response.headers.location).toBeUndefined();
});

test.each(['application/x-www-form-urlencoded', 'APPLICATION/X-WWW-FORM-URLENCODED; charset=UTF-8'])(
  'RFC 9110 §8.3: a POST of %s is a form',
  async (type) => {
    const headers = { 'content-type': type };
    const response = await at.app.inject({ method: 'POST', url: '/authorize', headers, payload: query() });
    expect(response.statusCode).toBe(303);
  },
);

test('a POST without content type, or with more than 64 KiB, is refused on a page', async () => {
  const headers = { accept: 'text/html' };
  expectErrorPage(await at.app.inject({ method: 'POST', url: '/authorize', headers }));
  const big = await crossSitePost(at, '/authorize', query({}, `&foo=${long(65_536)}`));
  expectErrorPage(big, 'invalid_request', 413);
  expect(big.headers.connection).toBe('close');
});

test('RFC 6749 §3.1: parameters of the query do not count in a POST', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };
  const response = await at.app.inject({ method: 'POST', url: `/authorize?${query()}`, headers, payload: '' });
  expectErrorPage(response);
});
