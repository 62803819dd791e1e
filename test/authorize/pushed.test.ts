import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  aPublicClient,
  aUser,
  aVerifier,
  authorize,
  credentials,
  formTokenOf,
  postForm,
  REDIRECT_URI,
  redeem,
  signIn,
  TestBrowser,
  type AClient,
} from '../support/fixtures.ts';

let at: TestApp;
let client: AClient;
let browser: TestBrowser;
let user: Awaited<ReturnType<typeof aUser>>;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at, { skip_consent: true });
  user = await aUser(at);
  browser = await signIn(at, user);
});
afterAll(() => at.close());

const push = (fields: Record<string, string | undefined> = {}, by = client) =>
  postForm(at, '/par', {
    ...credentials(by),
    response_type: 'code',
    redirect_uri: REDIRECT_URI,
    scope: 'openid email',
    state: 'pushed state',
    ...fields,
  });

const open = (request_uri: string, by = client, who = browser, more = '') =>
  who.get(`/authorize?client_id=${by.client_id}&request_uri=${encodeURIComponent(request_uri)}${more}`);

/** The request_uri of a pushed request. */
const pushed = async (fields: Record<string, string | undefined> = {}): Promise<string> =>
  (await push(fields)).json<{ request_uri: string }>().request_uri;

describe('RFC 9126 §2: the pushed authorization request endpoint', () => {
  test('RFC 9126 §2.2: answers 201 with a request_uri and its life, not to be stored', async () => {
    const answer = await push();
    expect(answer.statusCode).toBe(201);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.json()).toEqual({
      request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:[0-9a-z]+_[\w-]{43}$/),
      expires_in: 90,
    });
  });

  test.each([
    ['a request_uri inside', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }, 'invalid_request'],
    ['an unregistered redirect_uri', { redirect_uri: 'https://evil.example/cb' }, 'invalid_request'],
    ['no response_type', { response_type: undefined }, 'invalid_request'],
    ['another response_type', { response_type: 'token' }, 'unsupported_response_type'],
    ['a scope that is not open to it', { scope: 'admin' }, 'invalid_scope'],
    ['a plain challenge', { code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' }, 'invalid_request'],
    ['an unknown resource', { resource: 'https://unknown.example' }, 'invalid_target'],
    ['a wrong secret', { client_secret: 'not the secret at all' }, 'invalid_client'],
    ['no secret', { client_secret: undefined }, 'invalid_client'],
  ])('RFC 9126 §2.3: refuses %s as JSON', async (_what, fields, error) => {
    const answer = await push(fields);
    expect(answer.statusCode).toBe(error === 'invalid_client' ? 401 : 400);
    expect(answer.json()).toMatchObject({ error });
    expect(answer.headers.location).toBeUndefined();
  });

  test('a public client pushes with PKCE, as it must at /authorize', async () => {
    const spa = await aPublicClient(at);
    expect((await push({}, spa)).json()).toMatchObject({ error: 'invalid_request' });
    const { code_challenge } = aVerifier();
    const answer = await push({ code_challenge, code_challenge_method: 'S256' }, spa);
    expect(answer.statusCode).toBe(201);
  });

  test('answers other methods 405', async () => {
    expect((await at.app.inject({ method: 'GET', url: '/par' })).statusCode).toBe(405);
  });
});

describe('RFC 9126 §4: the request at /authorize', () => {
  test('gives the code of what was pushed, whatever else the browser brings', async () => {
    const { code_verifier, code_challenge } = aVerifier();
    const request_uri = await pushed({ code_challenge, code_challenge_method: 'S256' });
    const answer = await open(request_uri, client, browser, '&state=forged&scope=openid%20offline_access');
    const query = new URL(answer.headers.location!).searchParams;
    expect(query.get('state')).toBe('pushed state');
    const tokens = await redeem(at, { code: query.get('code')!, code_verifier, client, user, browser });
    expect(tokens.json()).toMatchObject({ scope: 'openid email' });
  });

  test('may be opened again until it gave its code, and not afterwards', async () => {
    at.clock.advance(1);
    const request_uri = await pushed({ prompt: 'login' });
    const first = await open(request_uri);
    const second = await open(request_uri);
    expect([first, second].map(({ headers }) => headers.location)).toEqual([
      expect.stringContaining('/interaction/'),
      expect.stringContaining('/interaction/'),
    ]);
    const silent = await pushed();
    expect((await open(silent)).headers.location).toContain('code=');
    const again = await open(silent);
    expect(again.statusCode).toBe(400);
    expect(again.body).toContain('invalid_request_uri');
    expect(again.headers.location).toBeUndefined();
  });

  test('gives one code, however many open it at once', async () => {
    const request_uri = await pushed();
    const answers = await Promise.all(Array.from({ length: 12 }, () => open(request_uri)));
    const codes = answers.filter(({ headers }) => headers.location?.includes('code='));
    expect(codes).toHaveLength(1);
    for (const { statusCode } of answers) expect(statusCode).toBeLessThan(500);
  });

  test('RFC 9126 §2.2: expires after 90 seconds, opened or not; what was opened in time has its hour to go on', async () => {
    const late = await pushed();
    const opened = await pushed({ prompt: 'consent' });
    await open(opened);
    at.clock.advance(89);
    const interaction = (await open(opened)).headers.location!;
    expect(interaction).toContain('/interaction/');
    at.clock.advance(2);
    for (const request_uri of [late, opened]) {
      const refused = await open(request_uri);
      expect([refused.statusCode, refused.headers.location]).toEqual([400, undefined]);
    }
    at.clock.advance(3500);
    const page = await browser.get(interaction);
    expect(page.statusCode).toBe(200);
    const agreed = await browser.post(interaction, { form_token: formTokenOf(page), action: 'approve' });
    const answer = await browser.get(agreed.headers.location!);
    expect(answer.headers.location).toContain('code=');
  });

  /** The consent page of a browser that opened it. */
  const asked = async (request_uri: string) => {
    const path = (await open(request_uri)).headers.location!;
    return { path, form_token: formTokenOf(await browser.get(path)) };
  };
  const decide = async ({ path, form_token }: { path: string; form_token: string }, action: string) =>
    browser.get((await browser.post(path, { form_token, action })).headers.location!);

  test('RFC 9126 §4: is answered once: after a decision nobody opens it again, nor goes on with what was opened before', async () => {
    const request_uri = await pushed({ prompt: 'consent' });
    const [first, second, third] = [await asked(request_uri), await asked(request_uri), await asked(request_uri)];
    expect((await decide(first, 'deny')).headers.location).toContain('error=access_denied');
    const again = await open(request_uri);
    expect([again.statusCode, again.body.includes('invalid_request_uri')]).toEqual([400, true]);
    for (const [other, action] of [
      [second, 'approve'],
      [third, 'deny'],
    ] as const) {
      const answer = await decide(other, action);
      expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined]);
      expect(answer.body).toContain('answered already');
    }
  });

  test('RFC 9126 §4: of many decisions in as many tabs, one is the answer', async () => {
    const request_uri = await pushed({ prompt: 'consent' });
    const tabs = [];
    for (let n = 0; n < 6; n += 1) tabs.push(await asked(request_uri));
    const answers = await Promise.all(tabs.map((tab, n) => decide(tab, n % 2 === 0 ? 'deny' : 'approve')));
    expect(answers.filter(({ headers }) => headers.location?.startsWith(REDIRECT_URI))).toHaveLength(1);
    for (const { statusCode } of answers) expect(statusCode).toBeLessThan(500);
  });

  test('RFC 9126 §4: what prompt=none answers is an answer, too', async () => {
    const request_uri = await pushed({ prompt: 'none' });
    const stranger = new TestBrowser(at);
    expect((await open(request_uri, client, stranger)).headers.location).toContain('error=login_required');
    expect((await open(request_uri)).statusCode).toBe(400);
  });

  test("is another client's secret", async () => {
    const other = await aClient(at);
    const answer = await open(await pushed(), other);
    expect(answer.statusCode).toBe(400);
    expect(answer.body).toContain('invalid_request_uri');
  });

  test('goes on through sign-in like any other', async () => {
    const stranger = new TestBrowser(at);
    const answer = await open(await pushed(), client, stranger);
    expect(answer.headers.location).toMatch(/\/interaction\/[^/]+\/login$/);
  });
});

test('RFC 9126 §6: a client that requires it is refused without it', async () => {
  const strict = await aClient(at, { require_pushed_authorization_requests: true, skip_consent: true });
  const refused = await authorize(browser, strict);
  expect(refused.get('error')).toBe('invalid_request');
  const { request_uri } = (await push({}, strict)).json<{ request_uri: string }>();
  expect((await open(request_uri, strict)).headers.location).toContain('code=');
});

test('RFC 9126 §5: discovery names the endpoint', async () => {
  const metadata = (await at.app.inject('/.well-known/oauth-authorization-server')).json<Record<string, unknown>>();
  expect(metadata).toMatchObject({
    pushed_authorization_request_endpoint: 'https://id.example.test/par',
    require_pushed_authorization_requests: false,
  });
});
