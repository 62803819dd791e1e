/** CORS: open documents for everybody, tokens only for the origins of the client. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  aPublicClient,
  aUser,
  credentials,
  signIn,
  someTokens,
  type AClient,
  type TestBrowser,
  type Tokens,
} from '../../support/fixtures.ts';
import { basic, formOf, postRaw } from '../../support/oauth.ts';

const ORIGIN = 'https://spa.example.test';
let at: TestApp;
let spa: AClient;
let user: User;
let browser: TestBrowser;
let tokens: Tokens;
beforeAll(async () => {
  at = await testApp({ config: { REGISTRATION: 'open' } });
  const redirect_uris = [`${ORIGIN}/callback`];
  spa = await aPublicClient(at, { redirect_uris, allowed_origins: ['https://admin.example.test'] });
  user = await aUser(at);
  browser = await signIn(at, user);
  ({ tokens } = await someTokens(at, { client: spa, user, browser }));
});
afterAll(() => at.close());

const allowed = ({ headers }: { headers: Record<string, unknown> }): unknown => headers['access-control-allow-origin'];
const token = (origin: string, client: AClient = spa) =>
  postRaw(at, '/token', formOf({ grant_type: 'refresh_token', refresh_token: 'x', ...credentials(client) }), {
    origin,
  });
const info = (origin: string, access_token = tokens.access_token) =>
  at.app.inject({ url: '/userinfo', headers: { origin, authorization: `Bearer ${access_token}` } });
const revoke = (origin: string) => postRaw(at, '/revoke', formOf({ token: 'x', ...credentials(spa) }), { origin });

test.each([ORIGIN, 'https://admin.example.test'])(
  'a page at %s may read what its client is answered, errors too, and sends no cookies',
  async (origin) => {
    for (const answer of [await token(origin), await info(origin), await revoke(origin)]) {
      expect(allowed(answer)).toBe(origin);
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
      expect(answer.headers['vary']).toContain('Origin');
      expect(answer.headers['access-control-expose-headers']).toContain('www-authenticate');
    }
  },
);

test.each([
  'https://evil.test',
  'null',
  `${ORIGIN}.evil.test`,
  `${ORIGIN}:8443`,
  'http://spa.example.test',
  'https://evil-spa.example.test',
  'https://SPA.example.test',
  `${ORIGIN}/`,
  'https://sub.spa.example.test',
])('%s gets no CORS headers, and is not refused', async (origin) => {
  for (const answer of [await token(origin), await info(origin), await revoke(origin)]) {
    expect(allowed(answer)).toBeUndefined();
    expect(answer.headers['access-control-expose-headers']).toBeUndefined();
    expect(answer.headers['vary']).toContain('Origin');
  }
  expect((await info(origin)).statusCode).toBe(200);
  expect((await revoke(origin)).statusCode).toBe(200);
});

test('Vary: Origin is there without an Origin too, so that no cache mixes the answers', async () => {
  const answer = await postRaw(
    at,
    '/token',
    formOf({ grant_type: 'refresh_token', refresh_token: 'x', ...credentials(spa) }),
  );
  expect(answer.headers['vary']).toContain('Origin');
  expect(allowed(answer)).toBeUndefined();
});

test('one client’s origin is not another’s, and an unknown client has none', async () => {
  const other = await aClient(at);
  expect(allowed(await token(ORIGIN, other))).toBeUndefined();
  expect(allowed(await token('https://app.example.test', other))).toBe('https://app.example.test');
  const body = formOf({ grant_type: 'refresh_token', refresh_token: 'x' });
  const named = await postRaw(at, '/token', body, { origin: 'https://app.example.test', authorization: basic(other) });
  expect(allowed(named)).toBe('https://app.example.test');
  expect(allowed(await token(ORIGIN, { ...spa, client_id: 'nobody' }))).toBeUndefined();
  expect(allowed(await token('https://app.example.test', { ...other, client_secret: 'wrong' }))).toBe(
    'https://app.example.test',
  );
});

test('a page reads userinfo with an opaque access token as with a JWT, and the refusal of a dead one', async () => {
  const redirect_uris = [`${ORIGIN}/callback`];
  const opaque = await aPublicClient(at, { redirect_uris, access_token_format: 'opaque' });
  const { access_token } = (await someTokens(at, { client: opaque, user, browser })).tokens;
  const answer = await info(ORIGIN, access_token);
  expect(answer.statusCode).toBe(200);
  expect(allowed(answer)).toBe(ORIGIN);
  expect(allowed(await info('https://evil.test', access_token))).toBeUndefined();
  await postRaw(at, '/revoke', formOf({ token: access_token, ...credentials(opaque) }));
  const dead = await info(ORIGIN, access_token);
  expect(dead.statusCode).toBe(401);
  expect(allowed(dead)).toBe(ORIGIN);
});

test.each([
  '/token',
  '/userinfo',
  '/revoke',
  '/device_authorization',
  '/register',
  '/jwks',
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
])(
  'the preflight of %s is open, and allows authorization, content-type, dpop and mcp-protocol-version',
  async (url) => {
    const headers = { origin: 'https://any.example.test', 'access-control-request-method': 'POST' };
    const answer = await at.app.inject({ method: 'OPTIONS', url, headers });
    expect(answer.statusCode).toBe(204);
    expect(allowed(answer)).toBe('*');
    for (const name of ['authorization', 'content-type', 'dpop', 'mcp-protocol-version']) {
      expect(answer.headers['access-control-allow-headers']).toContain(name);
    }
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  },
);

test('any page may register a client and read the answer, a refusal too; there is no client yet whose origins could say', async () => {
  const headers = { origin: 'https://any.example.test' };
  for (const payload of [{ redirect_uris: ['https://any.example.test/callback'] }, { redirect_uris: ['nonsense'] }]) {
    const answer = await at.app.inject({ method: 'POST', url: '/register', headers, payload });
    expect(answer.statusCode).toBe(payload.redirect_uris[0] === 'nonsense' ? 400 : 201);
    expect(allowed(answer)).toBe('*');
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  }
});

test.each(['/introspect', '/authorize', '/login', '/logout', '/account', '/livez'])(
  'RFC 9700 §2.6: %s has no CORS headers, neither to a preflight nor to a request',
  async (url) => {
    for (const origin of [ORIGIN, 'https://id.example.test']) {
      const headers = { origin, 'access-control-request-method': 'POST' };
      const preflight = await at.app.inject({ method: 'OPTIONS', url, headers });
      expect(preflight.statusCode).toBeGreaterThanOrEqual(400);
      expect(preflight.statusCode).toBeLessThan(500);
      expect(allowed(preflight)).toBeUndefined();
      expect(allowed(await at.app.inject({ method: 'GET', url, headers: { origin } }))).toBeUndefined();
    }
    const client = await aClient(at, { redirect_uris: [`${ORIGIN}/callback`] });
    const asked = await postRaw(at, '/introspect', formOf({ token: 'x', ...credentials(client) }), { origin: ORIGIN });
    expect(asked.statusCode).toBe(200);
    expect(allowed(asked)).toBeUndefined();
  },
);
