/** Every refusal can be explained by its request id: the check that failed, its clause, expected against received. */
import { connect } from 'node:net';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checks } from '../../src/authorize/checks.ts';
import { addSecretTo } from '../../src/clients/secrets.ts';
import { CHECKS, type Check } from '../../src/protocol/check.ts';
import { findRefusals } from '../../src/events/refusals.ts';
import { transact } from '../../src/store/postgres/db.ts';
import * as users from '../../src/users/accounts.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  aDevice,
  anAuthorizationCode,
  asOfBefore,
  aPublicClient,
  aService,
  aUser,
  authorizationUrl,
  aVerifier,
  BY,
  credentials,
  formTokenOf,
  postForm,
  redeem,
  refresh,
  signIn,
  someTokens,
  TestBrowser,
  userinfo,
  type AClient,
} from '../support/fixtures.ts';
import { basic, formOf, postRaw } from '../support/oauth.ts';
import { errorOn, open } from '../support/pages.ts';
import { refusalOf } from '../support/refusals.ts';

let at: TestApp;
let web: AClient;
let other: AClient;
let spa: AClient;
let addresses = 0;
beforeAll(async () => {
  at = await testApp({ config: { REGISTRATION: 'token' } });
  [web, other, spa] = [await aClient(at), await aClient(at), await aPublicClient(at)];
});
afterAll(() => at.close());

type Answer = Promise<LightMyRequestResponse>;
interface Explained {
  check: Check;
  expected?: string | RegExp | null;
  received?: string | RegExp | null;
}

const matching = (value: string | RegExp | null): unknown =>
  value instanceof RegExp ? (expect.stringMatching(value) as unknown) : value;

/** Each refusal from a network of its own: so many from one would only be counted. */
const from = (): string => `10.${(addresses += 1) >> 8}.${addresses & 255}.1`;
const post = (path: string, fields: Record<string, string | undefined>, headers: Record<string, string> = {}): Answer =>
  postRaw(at, path, formOf(fields), headers, from());
const token = (client: AClient, fields: Record<string, string | undefined>): Answer =>
  post('/token', { ...credentials(client), ...fields });
const ask = (parameters: Record<string, string | undefined>, client = web): Answer =>
  new TestBrowser(at).get(authorizationUrl(at.deps.config.ISSUER, client, parameters));

async function expectExplained(answer: LightMyRequestResponse, { check, expected, received }: Explained) {
  expect(answer.statusCode).toBeGreaterThanOrEqual(300);
  const refusal = await refusalOf(at, answer);
  expect(refusal).toMatchObject({
    check,
    clause: CHECKS[check],
    status: answer.statusCode,
    at: at.clock.now(),
    ...(expected !== undefined && { expected: matching(expected) }),
    ...(received !== undefined && { received: matching(received) }),
  });
  return refusal;
}

const code = async (changes: Record<string, string | undefined>, client?: AClient): Answer => {
  const issued = await anAuthorizationCode(at, { client: web });
  return redeem(at, client ? { ...issued, client } : issued, changes);
};

const REFUSALS: Record<string, [refuse: () => Answer, explained: Explained]> = {
  'a client that is not known': [
    () => token({ ...web, client_id: 'nobody' }, { grant_type: 'client_credentials' }),
    { check: 'client_id', expected: 'a registered client', received: 'a name of 6 characters' },
  ],
  'a wrong client secret': [
    () => token({ ...web, client_secret: 'marker' }, { grant_type: 'client_credentials' }),
    { check: 'client_secret', expected: /has not expired/, received: 'client_secret_post: wrong secret' },
  ],
  'another authentication method': [
    () => token({ ...spa, client_secret: 'marker' }, { grant_type: 'client_credentials' }),
    { check: 'client_authentication', expected: 'none', received: 'client_secret_post: the client has no secret' },
  ],
  'a secret client without its secret': [
    () => token({ ...web, client_secret: '' }, { grant_type: 'client_credentials' }),
    { check: 'client_authentication', expected: 'client_secret_basic', received: 'none: the client is not public' },
  ],
  'two authentication methods': [
    () => post('/token', { ...credentials(web), grant_type: 'x' }, { authorization: basic(web) }),
    { check: 'client_authentication', received: 'client_secret_basic client_secret_post' },
  ],
  'no client authentication': [
    () => post('/token', { grant_type: 'client_credentials' }),
    { check: 'client_authentication', received: 'none' },
  ],
  'an assertion that is none': [
    () => post('/token', { grant_type: 'x', client_assertion: 'marker', client_assertion_type: 'x' }),
    { check: 'client_assertion', expected: /jwt-bearer$/, received: 'x' },
  ],
  'an unknown grant type': [
    () => token(web, { grant_type: 'password' }),
    { check: 'grant_type', expected: /authorization_code client_credentials/, received: 'password' },
  ],
  'a grant type of others': [
    () => token(web, { grant_type: 'client_credentials' }),
    { check: 'grant_type', expected: 'authorization_code refresh_token', received: 'client_credentials' },
  ],
  'a missing parameter': [
    () => token(web, { grant_type: 'authorization_code' }),
    { check: 'parameter', expected: 'code', received: 'none' },
  ],
  'a repeated parameter': [() => postRaw(at, '/token', 'a=1&a=2', {}, from()), { check: 'repeated' }],
  'a form that cannot be read': [() => postRaw(at, '/token', 'a=%zz', {}, from()), { check: 'form' }],
  'another content type': [
    () => postRaw(at, '/token', '{}', { 'content-type': 'application/json' }, from()),
    { check: 'form', expected: /urlencoded/, received: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' },
  ],
  'a body that is too large': [() => post('/token', { x: 'a'.repeat(66_000) }), { check: 'form', expected: /limit/ }],
  'another method': [
    () => at.app.inject({ method: 'PUT', url: '/token' }),
    { check: 'method', expected: 'POST', received: 'PUT' },
  ],
  'an address with nothing at it': [() => at.app.inject({ url: '/nowhere' }), { check: 'address' }],
  'an address that cannot be read': [() => at.app.inject({ url: '/%zz' }), { check: 'address' }],
  'a code that never was': [
    () => code({ code: 'marker' }),
    { check: 'code', received: '6 characters that are no token of ours' },
  ],
  'the code of another client': [
    () => code({}, other),
    { check: 'code_client', expected: /^client .+, to whom/, received: /^client / },
  ],
  'another redirect_uri than the code was sent to': [
    () => code({ redirect_uri: 'https://app.example.test/elsewhere' }),
    {
      check: 'code_redirect_uri',
      expected: 'https://app.example.test/callback',
      received: 'https://app.example.test/elsewhere',
    },
  ],
  'a wrong code_verifier': [
    () => code({ code_verifier: 'marker'.repeat(10) }),
    { check: 'code_verifier', expected: /of the code_challenge$/, received: /^a verifier of 60 characters/ },
  ],
  'no code_verifier': [() => code({ code_verifier: undefined }), { check: 'code_verifier', received: 'none' }],
  'a code_verifier too short': [
    () => code({ code_verifier: 'marker' }),
    { check: 'code_verifier', expected: /43 to 128/, received: '6 characters' },
  ],
  'a code that was used': [
    async () => {
      const issued = await anAuthorizationCode(at, { client: web });
      await redeem(at, issued);
      return redeem(at, issued);
    },
    { check: 'code_replay', received: /^a code redeemed at 20/ },
  ],
  'a resource that was not granted': [
    () => code({ resource: 'https://api.example.test' }),
    { check: 'resource', expected: 'none', received: 'https://api.example.test' },
  ],
  'a refresh token that never was': [
    () => refresh(at, web, 'marker'),
    { check: 'refresh_token', received: /no token of ours/ },
  ],
  'the refresh token of another client': [
    async () => refresh(at, other, (await someTokens(at, { client: web })).tokens.refresh_token),
    { check: 'refresh_token_client', received: /^client / },
  ],
  'more scope than was granted': [
    async () => {
      const { tokens } = await someTokens(at, { client: web, parameters: { scope: 'openid email' } });
      return refresh(at, web, tokens.refresh_token, { scope: 'openid profile' });
    },
    { check: 'scope', expected: 'openid email', received: 'openid profile' },
  ],
  'a refresh token that was used': [
    async () => {
      const { tokens } = await someTokens(at, { client: web });
      await refresh(at, web, tokens.refresh_token);
      at.clock.advance(at.deps.config.REFRESH_TOKEN_RETRY_WINDOW);
      return refresh(at, web, tokens.refresh_token);
    },
    { check: 'refresh_token_reuse', received: /^one that was used at 20/ },
  ],
  'scope that a service may not have': [
    async () => token(await aService(at), { grant_type: 'client_credentials', scope: 'jobs:delete' }),
    { check: 'scope', expected: 'jobs:read jobs:write', received: 'jobs:delete' },
  ],
  'a device code that never was': [
    async () =>
      token(await aDevice(at), { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: 'marker' }),
    { check: 'device_code', received: /no token of ours/ },
  ],
  'the device flow for other clients': [
    () => post('/device_authorization', credentials(web)),
    { check: 'grant_type', received: /device_code$/ },
  ],
  'introspection by a public client': [
    () => post('/introspect', { ...credentials(spa), token: 'marker' }),
    { check: 'confidential_client' },
  ],
  'userinfo without a token': [() => at.app.inject({ url: '/userinfo' }), { check: 'bearer', received: 'none' }],
  'userinfo with a token that has expired': [
    async () => {
      const { tokens } = await someTokens(at, { client: web });
      at.clock.advance(601);
      return userinfo(at, tokens.access_token);
    },
    {
      check: 'access_token',
      received:
        /^a JWT, fingerprint [0-9a-f]{8}; typ at\+jwt, iss https:\/\/id\.example\.test, expired by its exp, \d+$/,
    },
  ],
  'userinfo with a token without openid': [
    async () => {
      const { tokens } = await someTokens(at, { client: web, parameters: { scope: 'email' } });
      return userinfo(at, tokens.access_token);
    },
    { check: 'access_token_scope', expected: 'openid', received: 'email' },
  ],
  'registration without a token': [
    () =>
      at.app.inject({ method: 'POST', url: '/register', payload: { redirect_uris: ['https://app.example.test/cb'] } }),
    { check: 'initial_access_token', received: 'none' },
  ],
  'registration of nonsense': [
    () =>
      at.app.inject({
        method: 'POST',
        url: '/register',
        payload: '[]',
        headers: { 'content-type': 'application/json' },
      }),
    { check: 'client_metadata' },
  ],
  'an authorization request of nobody': [
    () => ask({ client_id: 'nobody' }),
    { check: 'client_id', expected: 'a registered client', received: 'a name of 6 characters' },
  ],
  'an unregistered redirect_uri': [
    () => ask({ redirect_uri: 'https://app.example.test/calback' }),
    {
      check: 'redirect_uri',
      expected: 'https://app.example.test/callback',
      received: 'https://app.example.test/calback',
    },
  ],
  'another response_type': [
    () => ask({ response_type: 'token' }),
    { check: 'response_type', expected: 'code', received: 'token' },
  ],
  'another response_mode': [
    () => ask({ response_mode: 'fragment' }),
    { check: 'response_mode', expected: /form_post/, received: 'fragment' },
  ],
  'an answer in a JWT that this server has no key for': [
    async () => {
      const client = await aClient(at);
      await asOfBefore(at, client, { authorization_signed_response_alg: 'PS256' });
      return ask({ response_mode: 'jwt' }, client);
    },
    { check: 'response_mode', expected: 'authorization_signed_response_alg of RS256 ES256', received: 'PS256' },
  ],
  'an answer in a JWT for a client without a key to encrypt to': [
    async () => {
      const client = await aClient(at);
      const [alg, enc] = ['RSA-OAEP-256', 'A256GCM'] as const;
      const columns = { authorization_encrypted_response_alg: alg, authorization_encrypted_response_enc: enc };
      await asOfBefore(at, client, columns);
      return ask({ response_mode: 'jwt', prompt: 'none' }, client);
    },
    {
      check: 'response_mode',
      expected: 'a key for RSA-OAEP-256 in jwks, or at jwks_uri',
      received: 'none that can be had now',
    },
  ],
  'no PKCE where it has to be': [() => ask({}, spa), { check: 'pkce', expected: 'code_challenge', received: 'none' }],
  'PKCE with plain': [
    () => ask({ code_challenge: aVerifier().code_challenge, code_challenge_method: 'plain' }),
    { check: 'pkce', expected: 'code_challenge_method=S256', received: 'plain' },
  ],
  'scope that the client may not ask for': [
    () => ask({ scope: 'admin:everything' }),
    { check: 'scope', expected: 'openid profile email offline_access', received: 'admin:everything' },
  ],
  'an unknown resource': [
    () => ask({ resource: 'https://api.example.test' }),
    { check: 'resource', expected: /^https:\/\/id\.example\.test/, received: 'https://api.example.test' },
  ],
  'an unknown prompt': [() => ask({ prompt: 'create' }), { check: 'prompt', received: 'create' }],
  'a max_age that is none': [() => ask({ max_age: 'soon' }), { check: 'max_age', received: 'soon' }],
  'a claims parameter that is no JSON': [() => ask({ claims: '{' }), { check: 'claims' }],
  'an id_token_hint of others': [
    () => ask({ id_token_hint: 'marker' }),
    { check: 'id_token_hint', received: '6 characters that are no token of ours' },
  ],
  'a request object that is not signed by the client': [
    () => ask({ request: 'marker' }),
    { check: 'request_object', expected: /^a signature by a registered key/ },
  ],
  'a request_uri that is not registered': [
    () => ask({ request_uri: 'https://app.example.test/object' }),
    { check: 'request_uri', expected: 'none', received: 'https://app.example.test/object' },
  ],
  'a pushed request that is gone': [
    () => ask({ request_uri: 'urn:ietf:params:oauth:request_uri:marker' }),
    { check: 'pushed_request', received: '6 characters that are no token of ours' },
  ],
  'prompt=none with nobody signed in': [
    () => ask({ prompt: 'none' }),
    { check: 'person', received: 'login is needed, and nobody is signed in in this browser' },
  ],
  'an interaction that never was': [() => new TestBrowser(at).get('/interaction/marker'), { check: 'interaction' }],
  'a form from another site': [
    () => new TestBrowser(at).post('/login', { username: 'x', password: 'x' }, { origin: 'https://evil.test' }),
    { check: 'forged_form', received: /^the form came from https:\/\/evil\.test/ },
  ],
  'a logout whose client is not that of its hint': [
    async () => {
      const { tokens, browser } = await someTokens(at, { client: web });
      return browser.get(`/logout?${formOf({ id_token_hint: tokens.id_token, client_id: other.client_id })}`);
    },
    { check: 'logout_hint' },
  ],
  'an application that cannot be started': [
    () => new TestBrowser(at).get(`/initiate?client_id=${web.client_id}`),
    { check: 'initiate_login', expected: 'initiate_login_uri' },
  ],
};

describe('every refusal is kept with the check that failed, its clause, expected against received', () => {
  test.each(Object.entries(REFUSALS))('%s', async (_what, [refuse, explained]) => {
    const refusal = await expectExplained(await refuse(), explained);
    expect(JSON.stringify(refusal)).not.toContain('marker');
  });

  test('with who asked, when, from where, and at which route', async () => {
    const answer = await postRaw(at, '/token', formOf({ ...credentials(web), grant_type: 'x' }), {}, '192.0.2.7');
    expect(await refusalOf(at, answer)).toMatchObject({
      client_id: web.client_id,
      at: at.clock.now(),
      ip: '192.0.2.7',
      network: '192.0.2.0/24',
      method: 'POST',
      route: '/token',
      status: 400,
      error: 'unsupported_grant_type',
      error_description: 'grant_type is not supported',
    });
    // Where the address holds an id, the route does not.
    const page = await new TestBrowser(at).get('/interaction/secret-marker');
    expect(await refusalOf(at, page)).toMatchObject({ route: '/interaction/:id', method: 'GET' });
    // A refusal that went to the client, with a redirect.
    expect(await refusalOf(at, await ask({ response_type: 'token' }))).toMatchObject({
      client_id: web.client_id,
      status: 302,
      route: '/authorize',
    });
  });

  test('every row of the authorization checks has a clause', () => {
    expect(Object.keys(checks).filter((name) => !Object.hasOwn(CHECKS, name))).toEqual([]);
  });

  test('a client secret that has expired is told from a wrong one', async () => {
    const client = await aClient(at);
    await transact(at.deps.db, (trx) =>
      addSecretTo(trx, at.deps, client.client_id, { overlap: 60 }, BY, at.clock.now()),
    );
    at.clock.advance(61);
    const answer = await token(client, { grant_type: 'client_credentials' });
    await expectExplained(answer, { check: 'client_secret', received: /the secret expired at 20/ });
  });
});

describe('ASVS 6.3.8: why a sign-in failed is known to operators, and to nobody else', () => {
  const attempt = (username: string, password: string) => post('/login', { username, password });

  test('an unknown name, a wrong password and a disabled account are told apart, by one and the same answer', async () => {
    const [user, disabled] = [await aUser(at), await aUser(at)];
    await transact(at.deps.db, (trx) => users.setDisabled(trx, disabled.sub, true, BY, at.clock.now()));
    const answers = [
      await attempt('marker-nobody@example.test', 'marker-password'),
      await attempt(user.username, 'marker-password'),
      await attempt(disabled.username, 'correct horse battery staple'),
    ];
    expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${body}`)).size).toBe(1);
    const [unknown, wrong, dead] = await Promise.all(answers.map((answer) => refusalOf(at, answer)));
    expect(unknown).toMatchObject({ check: 'account', sub: null, received: 'a name of 26 characters with an @' });
    expect(wrong).toMatchObject({ check: 'password', sub: user.sub, received: 'another password' });
    expect(dead).toMatchObject({ check: 'account', sub: disabled.sub });
    expect(dead!.received).toContain('disabled');
    expect(JSON.stringify([unknown, wrong, dead])).not.toContain('marker');
  });

  test('a throttle says until when', async () => {
    const user = await aUser(at);
    let answer = await postForm(at, '/login', { username: user.username, password: 'wrong' });
    for (let n = 0; n < 5; n += 1)
      answer = await postForm(at, '/login', { username: user.username, password: 'wrong' });
    expect(answer.statusCode).toBe(429);
    await expectExplained(answer, {
      check: 'sign_in_attempts',
      expected: /^a pause until 20/,
      received: /5 from this/,
    });
  });

  test('the sign-in page and the device page show the request id beside the problem', async () => {
    const browser = new TestBrowser(at);
    for (const [path, fields, check] of [
      ['/login', { username: 'nobody', password: 'wrong' }, 'account'],
      ['/device', { user_code: 'BCDF-GHJK' }, 'user_code'],
    ] as const) {
      const page = await browser.get(path);
      expect(page.body).not.toContain('Request id');
      const again = await browser.post(path, { ...fields, form_token: formTokenOf(page) });
      expect(again.statusCode).toBe(400);
      expect(again.body).toContain(`<code>${String(again.headers['x-request-id'])}</code>`);
      await expectExplained(again, { check });
    }
  });

  test('a person who declines is a refusal of its client', async () => {
    const user = await aUser(at);
    const browser = await signIn(at, user);
    const consent = await open(browser, web);
    const action = await browser.post(consent.url, { action: 'deny', form_token: formTokenOf(consent.response) });
    const answer = await browser.get(String(action.headers.location));
    const refusal = await expectExplained(answer, { check: 'consent' });
    expect(refusal).toMatchObject({ client_id: web.client_id, sub: user.sub });
  });
});

describe('ASVS 16.5.1: every answer carries a request id', () => {
  test('wherever it comes from', async () => {
    const app = await testApp({ config: { ISSUER: 'https://id.example.test/tenant' } });
    const urls = ['/nowhere', '/tenant/nowhere', '/%zz', '/tenant/%zz', '/livez', '/tenant/livez', '/readyz'];
    for (const url of [...urls, '/.well-known/openid-configuration', '/tenant/jwks', '/tenant/login']) {
      expect((await app.app.inject({ url })).headers['x-request-id'], url).toMatch(/^[\w-]{16}$/);
    }
    for (const method of ['OPTIONS', 'PUT', 'HEAD'] as const) {
      const { headers } = await app.app.inject({ method, url: '/tenant/token' });
      expect(headers['x-request-id'], method).toMatch(/^[\w-]{16}$/);
    }
    await app.close();
  });

  test('what operators send and cannot be read is answered in their form', async () => {
    const own = await testApp();
    await own.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = own.app.server.address() as { port: number };
    const long = 'a'.repeat(17_000);
    for (const [text, status, error] of [
      [`GET /admin/v1/clients HTTP/1.1\r\nHost: x\r\nX: ${long}\r\n\r\n`, 431, 'headers-too-large'],
      [`GET /admin/v1/clients?cursor=${long} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, 'headers-too-large'],
      [`POST /admin/v1/clients HTTP/1.1\r\nHost: x\r\nIdempotency-Key: a\u0001b\r\n\r\n`, 400, 'invalid'],
    ] as const) {
      const answer = await wire(port, text);
      expect(answer).toContain(`HTTP/1.1 ${status} `);
      expect(answer).toContain('content-type: application/problem+json; charset=utf-8\r\n');
      const problem = JSON.parse(answer.split('\r\n\r\n')[1]!) as { type: string; status: number; request_id: string };
      expect(problem).toMatchObject({ type: `urn:postern:problem:${error}`, status });
      const refusal = await refusalOf(own, { headers: { 'x-request-id': problem.request_id } });
      expect(refusal).toMatchObject({ check: 'http', error, status });
    }
    expect(await wire(port, `GET /admin/v10 HTTP/1.1\r\nX: ${long}\r\n\r\n`)).toContain('application/json;');
    await own.close();
  });

  test('also to what is no HTTP', async () => {
    const own = await testApp();
    await own.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = own.app.server.address() as { port: number };
    for (const [text, status, code] of [
      ['nonsense\r\n\r\n', 400, 'HPE_INVALID_METHOD'],
      [`GET / HTTP/1.1\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`, 431, 'HPE_HEADER_OVERFLOW'],
    ] as const) {
      const answer = await wire(port, text);
      expect(answer).toContain(`HTTP/1.1 ${status} `);
      const id = /^x-request-id: ([\w-]{16})\r$/m.exec(answer)?.[1];
      const body = JSON.parse(answer.split('\r\n\r\n')[1]!) as { error: string };
      expect(body.error).toBe('invalid_request');
      const refusal = await refusalOf(own, { headers: { 'x-request-id': id } });
      expect(refusal).toMatchObject({ check: 'http', received: code, status });
    }
    await own.close();
  });
});

describe('development mode shows on error pages what is kept for operators, production does not', () => {
  test('with expected and received', async () => {
    const dev = await testApp({ config: { mode: 'dev', ISSUER: 'http://localhost:3000' } });
    const client = await aClient(dev);
    const wrong = { redirect_uri: 'https://app.example.test/calback' };
    const page = await new TestBrowser(dev).get(authorizationUrl(dev.deps.config.ISSUER, client, wrong));
    expect(errorOn(page)).toBe('invalid_request');
    for (const text of ['redirect_uri', CHECKS.redirect_uri, client.redirect_uri, wrong.redirect_uri]) {
      expect(page.body).toContain(`<code>${text}</code>`);
    }
    await dev.close();
    const silent = await ask(wrong);
    expect(errorOn(silent)).toBe('invalid_request');
    for (const text of ['calback', web.redirect_uri]) expect(silent.body).not.toContain(text);
    expect(silent.body).toContain(String(silent.headers['x-request-id']));
  });
});

test('RFC 8628 §3.5: a device that waits is not refused, and nothing is kept of it', async () => {
  const client = await aDevice(at);
  const started = await post('/device_authorization', { ...credentials(client), scope: 'openid' });
  const { device_code } = started.json<{ device_code: string }>();
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  const pending = await token(client, { grant_type, device_code });
  expect(pending.json()).toMatchObject({ error: 'authorization_pending' });
  await at.deps.refusals.close(at.clock.now());
  expect(await findRefusals(at.deps, String(pending.headers['x-request-id']))).toEqual([]);
  // Too early is another matter.
  await expectExplained(await token(client, { grant_type, device_code }), { check: 'poll_interval' });
});

function wire(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.setTimeout(5000, () => socket.destroy(new Error(`no answer: ${answer}`)));
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}
