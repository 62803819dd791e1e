/** What kinds of answers there are, how they travel, and what they carry. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ResponseMode } from '../../src/protocol/authorization-request.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  aPublicClient,
  aUser,
  authorizationUrl,
  authorize,
  credentials,
  postForm,
  signIn,
  TestBrowser,
} from '../support/fixtures.ts';
import type { AClient } from '../support/fixtures.ts';
import { answerTo, crossSitePost, errorOn, expectErrorPage, follow, open, stepOf, valueOf } from '../support/pages.ts';

const ISSUER = 'https://id.example.test';
let at: TestApp;
let client: AClient;
let browser: TestBrowser;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at, { skip_consent: true });
  browser = await signIn(at, await aUser(at));
});
afterAll(() => at.close());

const codes = async (): Promise<number> => {
  const { count } = await at.deps.db
    .selectFrom('authorization_codes')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
};

test('specification §Endpoints 1: on success answers 302 to the redirect_uri with code and the state received', async () => {
  const response = await browser.get(authorizationUrl(ISSUER, client, { state: 'xyz' }));
  const answer = answerTo(client, response, 302);
  expect(answer).toEqual({ code: expect.stringMatching(/^[0-9a-z]+_[\w-]{43}$/), state: 'xyz', iss: ISSUER });
  expect(response.body).toBe('');
});

test('specification §Endpoints 1: without state none comes back', async () => {
  const answer = answerTo(client, await browser.get(authorizationUrl(ISSUER, client, { state: undefined })));
  expect(Object.keys(answer).toSorted()).toEqual(['code', 'iss']);
});

test.each([
  ['Unicode', 'Grüße 🌍 ﷽ a\u0301'],
  ['2048 characters', 's'.repeat(2048)],
  ['quotes and markup', `"'><script>alert(1)</script>&amp;`],
  ['everything a query separates by', 'a=b&c=d?e#f;g+h%20i%'],
  ['line breaks', 'a\r\nSet-Cookie: evil=1\r\n\r\n<html>'],
  ['tabs and spaces', ' \t leading and trailing  '],
  ['JSON', '{"return":"https://evil.example.test/","n":[1,2]}'],
  ['what looks encoded', '%0d%0a%00%252F'],
])('specification §Endpoints 1: state is returned unchanged: %s', async (_what, state) => {
  const success = await browser.get(authorizationUrl(ISSUER, client, { state }));
  expect(success.headers.location).toMatch(/^[\x21-\x7E]+$/);
  expect(success.headers['set-cookie']).toBeUndefined();
  expect(answerTo(client, success)['state']).toBe(state);
  const failure = await browser.get(authorizationUrl(ISSUER, client, { state, response_type: 'token' }));
  expect(answerTo(client, failure)).toMatchObject({ error: 'unsupported_response_type', state });
});

test.each([
  'token',
  'id_token',
  'id_token token',
  'code token',
  'code id_token',
  'code id_token token',
  'none',
  'code code',
])(
  'specification §What the service does 4: the implicit flow is not offered: response_type=%s gives no token',
  async (response_type) => {
    const response = await browser.get(authorizationUrl(ISSUER, client, { response_type, nonce: 'n' }));
    expect(answerTo(client, response)).toMatchObject({ error: 'unsupported_response_type', state: 'a state' });
    expect(response.headers.location).not.toMatch(/#|access_token|id_token=/);
  },
);

test.each(['fragment', 'web_message', 'QUERY', 'query form_post'])(
  'specification §What the service does 4: nothing travels in a fragment: response_mode=%s is refused, by query',
  async (response_mode) => {
    const response = await browser.get(authorizationUrl(ISSUER, client, { response_mode }));
    expect(answerTo(client, response)).toMatchObject({ error: 'invalid_request', state: 'a state', iss: ISSUER });
    expect(response.headers.location).not.toContain('#');
  },
);

test('OAuth 2.0 Multiple Response Types §2.1: response_mode=query is what happens anyway', async () => {
  const answer = answerTo(client, await browser.get(authorizationUrl(ISSUER, client, { response_mode: 'query' })));
  expect(answer['code']).toBeDefined();
});

test('OAuth 2.0 Form Post Response Mode §2: success is a page that posts code, state and iss to the redirect_uri', async () => {
  const state = `"><script>alert('x')</script>`;
  const page = await browser.get(authorizationUrl(ISSUER, client, { response_mode: 'form_post', state }));
  expect(page.statusCode).toBe(200);
  expect(page.headers.location).toBeUndefined();
  expect(page.headers['cache-control']).toBe('no-store');
  expect(page.body).toMatch(/<form id="form-post" method="post" action="https:\/\/app\.example\.test\/callback">/);
  expect(valueOf(page, 'code')).toMatch(/^[0-9a-z]+_[\w-]{43}$/);
  expect(valueOf(page, 'iss')).toBe(ISSUER);
  expect(valueOf(page, 'state')).toBe('&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;');
  expect(page.headers['content-security-policy']).toMatch(/script-src 'nonce-[\w-]{22}'/);
  expect(page.headers['content-security-policy']).not.toContain('form-action');
});

test('OAuth 2.0 Form Post Response Mode §2: errors travel the same way', async () => {
  const page = await browser.get(authorizationUrl(ISSUER, client, { response_mode: 'form_post', scope: 'nothing' }));
  expect(page.statusCode).toBe(200);
  expect(valueOf(page, 'error')).toBe('invalid_scope');
  expect(valueOf(page, 'state')).toBe('a state');
  expect(valueOf(page, 'code')).toBeUndefined();
});

test('OAuth 2.0 Form Post Response Mode: no page can post to a private-use scheme, so that is refused by query', async () => {
  const native = await aPublicClient(at, { application_type: 'native', redirect_uris: ['com.example.app:/cb'] });
  const response = await browser.get(authorizationUrl(ISSUER, native, { response_mode: 'form_post' }));
  expect(answerTo(native, response)).toMatchObject({ error: 'invalid_request', state: 'a state' });
});

test('RFC 6749 §3.1.2: a redirect_uri keeps the query it was registered with', async () => {
  const redirect_uri = 'https://app.example.test/cb?tenant=a%20b&x=%7e';
  const other = await aClient(at, { redirect_uris: [redirect_uri], skip_consent: true });
  const answer = await browser.get(authorizationUrl(ISSUER, other));
  expect(answer.headers.location).toMatch(
    /^https:\/\/app\.example\.test\/cb\?tenant=a%20b&x=%7e&code=[\w-]+&state=a%20state&iss=/,
  );
  const failure = await browser.get(authorizationUrl(ISSUER, other, { response_type: 'token' }));
  expect(answerTo(other, failure)).toMatchObject({ error: 'unsupported_response_type' });
});

test('RFC 9207 §2: iss is byte-equal to the issuer of the metadata, with a path too', async () => {
  const issuer = 'https://host.example.test/realms/one';
  const other = await testApp({ config: { ISSUER: issuer } });
  try {
    const app = await aClient(other);
    const answer = await authorize(await signIn(other, await aUser(other)), app);
    expect(answer.get('iss')).toBe(issuer);
    const { body } = await other.app.inject({ url: '/realms/one/.well-known/openid-configuration' });
    expect(JSON.parse(body)).toMatchObject({ issuer, authorization_response_iss_parameter_supported: true });
    expect((await other.app.inject({ url: '/authorize' })).statusCode).toBe(404);
  } finally {
    await other.close();
  }
});

test('RFC 9110 §9.3.2: HEAD never issues a code', async () => {
  const before = await codes();
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const { pathname, search } = new URL(authorizationUrl(ISSUER, client));
  const headers = { host: 'id.example.test', cookie };
  const response = await at.app.inject({ method: 'HEAD', url: pathname + search, headers });
  expect(response.statusCode).toBe(405);
  expect(response.headers.location).toBeUndefined();
  expect(await codes()).toBe(before);
  expect((await at.app.inject({ method: 'GET', url: pathname + search, headers })).headers.location).toContain('code=');
  expect(await codes()).toBe(before + 1);
});

test.each(['PUT', 'DELETE', 'PATCH', 'HEAD', 'TRACE'] as const)(
  'RFC 9110 §15.5.6: %s /authorize is answered 405 with Allow',
  async (method) => {
    const response = await at.app.inject({ method, url: '/authorize', headers: { accept: 'text/html' } });
    expect(response.statusCode).toBe(405);
    expect(response.headers.allow).toBe('GET, POST');
    expect(errorOn(response)).toBe(method === 'HEAD' ? undefined : 'method_not_allowed');
  },
);

test('X-HTTP-Method-Override is nobody’s business', async () => {
  const headers = { 'x-http-method-override': 'DELETE', 'x-method-override': 'POST' };
  expect((await browser.get(authorizationUrl(ISSUER, client), headers)).headers.location).toContain('code=');
});

test('RFC 9700 §2.6: the authorization endpoint sends no CORS headers and answers no preflight', async () => {
  const origin = { origin: 'https://app.example.test', 'access-control-request-method': 'GET' };
  for (const method of ['GET', 'OPTIONS', 'POST'] as const) {
    const { headers, statusCode } = await at.app.inject({ method, url: '/authorize', headers: origin });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    expect(statusCode).toBeGreaterThanOrEqual(400);
  }
});

test('RFC 6749 §4.1.2.1: a client that is not registered for the code grant gets unauthorized_client', async () => {
  const machine = await aClient(at, { grant_types: ['client_credentials'] });
  const response = await browser.get(authorizationUrl(ISSUER, machine));
  expect(answerTo(machine, response)).toMatchObject({ error: 'unauthorized_client', state: 'a state' });
});

test('RFC 9700 §4.12: a POST that is refused goes on by 303, never 307 or 308', async () => {
  const { search } = new URL(authorizationUrl(ISSUER, client, { prompt: 'dance' }));
  expect(answerTo(client, await crossSitePost(at, '/authorize', search.slice(1)), 303)).toMatchObject({
    error: 'invalid_request',
  });
});

test('redirects name the issuer’s host, whatever Host or X-Forwarded-Host says', async () => {
  const hostile = {
    host: 'evil.example.test',
    'x-forwarded-host': 'evil.example.test',
    forwarded: 'host=evil.example.test',
  };
  const anonymous = new TestBrowser(at);
  const response = await anonymous.get(authorizationUrl(ISSUER, client), hostile);
  expect(response.headers.location).toMatch(/^https:\/\/id\.example\.test\/interaction\//);
  expect((await anonymous.get('/account', hostile)).headers.location).toBe(`${ISSUER}/login`);
  const page = await anonymous.get('/login', hostile);
  expect(page.body).toContain(`action="${ISSUER}/login"`);
  expect(page.body).not.toContain('evil.example.test');
});

test('at another name of the host the cookie would be lost, so the first page at the issuer binds', async () => {
  const anonymous = new TestBrowser(at);
  const elsewhere = await anonymous.get(authorizationUrl(ISSUER, client), { host: '127.0.0.1' });
  expect(elsewhere.headers['set-cookie']).toBeUndefined();
  const page = await follow(anonymous, elsewhere);
  expect(stepOf(page)).toBe('login');
  expectErrorPage(await new TestBrowser(at).get(page.url), 'access_denied');
});

test('RFC 6749 §10.12: two requests of one person give two codes that differ', async () => {
  const answers = await Promise.all([1, 2, 3].map(() => open(browser, client)));
  expect(new Set(answers.map(({ response }) => answerTo(client, response)['code'])).size).toBe(3);
});

describe('ASVS 10.4.12: a client’s answers travel only as it is registered (response_modes)', () => {
  const parameters = (of: AClient, response_mode: string | undefined): Record<string, string | undefined> => ({
    ...credentials(of),
    response_type: 'code',
    redirect_uri: of.redirect_uri,
    scope: 'openid',
    response_mode,
  });

  test.each<[allowed: ResponseMode, asked: string | undefined]>([
    ['query', 'form_post'],
    ['form_post', 'query'],
    ['form_post', undefined],
  ])('only %s: %s is refused everywhere, and the refusal travels as registered', async (allowed, response_mode) => {
    const strict = await aClient(at, { skip_consent: true, response_modes: [allowed] });
    const before = await codes();
    const answers = [
      await browser.get(authorizationUrl(ISSUER, strict, { response_mode })),
      await crossSitePost(at, '/authorize', { ...parameters(strict, response_mode), client_secret: undefined }),
    ];
    for (const answer of answers) {
      const told = allowed === 'query' ? answer.headers.location : valueOf(answer, 'error');
      expect(told).toContain('invalid_request');
      expect(answer.headers.location === undefined).toBe(allowed === 'form_post');
    }
    const pushed = await postForm(at, '/par', parameters(strict, response_mode));
    expect([pushed.statusCode, pushed.json()]).toMatchObject([400, { error: 'invalid_request' }]);
    expect(await codes()).toBe(before);
  });

  test('what is registered works, and whoever registers nothing has them all', async () => {
    const strict = await aClient(at, { skip_consent: true, response_modes: ['form_post'] });
    const page = await browser.get(authorizationUrl(ISSUER, strict, { response_mode: 'form_post' }));
    expect(valueOf(page, 'code')).toMatch(/^[0-9a-z]+_[\w-]{43}$/);
    const plain = await aClient(at, { skip_consent: true, response_modes: ['query'] });
    expect(answerTo(plain, await browser.get(authorizationUrl(ISSUER, plain)))).toHaveProperty('code');
    const pushed = await postForm(at, '/par', parameters(client, 'form_post'));
    expect(pushed.statusCode).toBe(201);
  });
});
