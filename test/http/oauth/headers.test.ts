/** What every answer of the OAuth doors carries, and how strangers at the wrong address are answered. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type TestApp } from '../../support/app.ts';
import { aService, someTokens, userinfo } from '../../support/fixtures.ts';
import { aTokenRequest, expectRefusal, postRaw, send } from '../../support/oauth.ts';

let at: TestApp;
let plain: TestApp;
beforeAll(async () => {
  at = await testApp();
  plain = await testApp({ database: at.database, config: { ISSUER: 'http://localhost:3000' } });
});
afterAll(async () => {
  await plain.close();
  await at.close();
});

const everyDoor = async (test = at) => [
  await send(test, await aTokenRequest(at, 'client_credentials', { client: await aService(at) })),
  await postRaw(test, '/token', 'grant_type=x'),
  await postRaw(test, '/introspect', ''),
  await postRaw(test, '/revoke', ''),
  await postRaw(test, '/token', '', { 'content-type': 'text/plain' }),
  await test.app.inject('/userinfo'),
  await test.app.inject('/token'),
  await test.app.inject('/jwks'),
  await test.app.inject('/.well-known/openid-configuration'),
];

test('ASVS 3.4: nosniff, a CSP that allows nothing, no referrer, no frame, and a request id, on every answer', async () => {
  for (const { headers, statusCode } of await everyDoor()) {
    expect(headers, String(statusCode)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'x-request-id': expect.stringMatching(/^[\w-]{16}$/) as string,
    });
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('server');
    expect(headers).not.toHaveProperty('set-cookie');
  }
});

test('specification §Authentication 1: all traffic uses HTTPS: HSTS for a year, and only with an https issuer', async () => {
  for (const { headers } of await everyDoor()) {
    expect(headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
  }
  for (const { headers } of await everyDoor(plain)) expect(headers).not.toHaveProperty('strict-transport-security');
});

test('specification §What the service does 6: tokens travel over HTTPS only: what a trusted proxy received as http is refused', async () => {
  const proxied = await testApp({ database: at.database, config: { TRUST_PROXY: ['127.0.0.1'] } });
  const request = await aTokenRequest(at, 'client_credentials', { client: await aService(at) });
  const body = new URLSearchParams({ ...request.fields, ...request.client, redirect_uri: '' }).toString();
  const answer = (proto: string) => postRaw(proxied, '/token', body, { 'x-forwarded-proto': proto });
  expect((await answer('http')).statusCode).toBe(400);
  expect((await answer('https')).statusCode).toBe(200);
  expect((await postRaw(at, '/token', body, { 'x-forwarded-proto': 'http' })).statusCode).toBe(200);
  await proxied.close();
});

test('RFC 6749 §5.1: Cache-Control: no-store on every answer with a token, a claim or an error', async () => {
  const { tokens } = await someTokens(at);
  expect((await userinfo(at, tokens.access_token)).headers['cache-control']).toBe('no-store');
  const doors = await everyDoor();
  for (const { headers } of doors.slice(0, -2)) expect(headers['cache-control']).toBe('no-store');
});

test('ASVS 16.5.1: the request id is ours and leads to the log lines, where the caller’s stands beside it', async () => {
  const given = await postRaw(at, '/token', 'grant_type=x', { 'x-request-id': 'trace-0123456789' });
  const request_id = String(given.headers['x-request-id']);
  expect(request_id).toMatch(/^[\w-]{16}$/);
  const lines = at.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
  const [refused, request] = lines.filter((line) => line['request_id'] === request_id);
  expect(refused).toMatchObject({ event: 'refused' });
  expect(request).toMatchObject({ route: '/token', caller_request_id: 'trace-0123456789' });
  for (const bad of [
    'short',
    'x'.repeat(65),
    'with space 0123',
    'line\\nbreak-0123',
    '<script>-0123456',
    '"quoted"-01234',
  ]) {
    const answer = await postRaw(at, '/token', 'grant_type=x', { 'x-request-id': bad });
    expect(answer.headers['x-request-id']).toMatch(/^[\w-]{16}$/);
    expect(JSON.parse(at.logged.at(-1)!)).not.toHaveProperty('caller_request_id');
  }
});

test('one log line for every token issued and every refusal, with who asked', async () => {
  const client = await aService(at);
  const request = await aTokenRequest(at, 'client_credentials', { client });
  const lineOf = async (changes: Record<string, string>): Promise<unknown> => {
    const before = at.logged.length;
    const answer = await send(at, request, changes);
    const id = String(answer.headers['x-request-id']);
    const lines = at.logged.slice(before).map((line) => JSON.parse(line) as Record<string, unknown>);
    return lines.find((line) => line['request_id'] === id && 'event' in line);
  };
  const { client_id } = client;
  expect(await lineOf({})).toMatchObject({
    event: 'token_issued',
    grant_type: 'client_credentials',
    client_id,
    sub: client_id,
    jti: expect.any(String) as string,
  });
  expect(await lineOf({ scope: 'nonsense' })).toMatchObject({ event: 'refused', error: 'invalid_scope', client_id });
  expect(await lineOf({ client_secret: 'wrong' })).toMatchObject({
    event: 'refused',
    error: 'invalid_client',
    client_id,
  });
});

test('ASVS 16.4.1: a client_id that could break a log line or hide in it is not logged as one', async () => {
  const before = at.logged.length;
  await postRaw(at, '/token', 'grant_type=x&client_id=a%0A%0D%5B31mforged');
  await postRaw(at, '/token', 'grant_type=x&client_id=%22%7D%0Aforged');
  expect(at.logged.slice(before).join('')).not.toContain('forged');
});

test('specification §General REST: an unknown address is 404; JSON for who asks for JSON', async () => {
  const answer = await at.app.inject({ url: '/nothing-here', headers: { accept: 'application/json' } });
  expect(answer.statusCode).toBe(404);
  expect(answer.json()).toMatchObject({ error: 'not_found' });
  expect((await at.app.inject({ method: 'POST', url: '/token/' })).statusCode).toBe(404);
  expect((await at.app.inject({ method: 'POST', url: '//token' })).statusCode).toBe(404);
});

test.each([
  '/%',
  '/%zz',
  '/jwks%00',
  '/%C0%AF',
  '/jwks?%',
  '/userinfo?access_token=%FF',
  '/userinfo?a=1&a=2',
  '/.well-known/%2e%2e/x',
])('a malformed address is never a 5xx: %s', async (url) => {
  const answer = await at.app.inject({ method: 'GET', url });
  expect(answer.statusCode).toBeLessThan(500);
  expect(answer.headers['x-content-type-options']).toBe('nosniff');
});

test('ASVS 13.4: no TRACE, no debug answers, and no OPTIONS where there is no CORS', async () => {
  const trace = await at.app.inject({ method: 'TRACE' as 'GET', url: '/token' });
  expect(trace.statusCode).toBe(405);
  expect(trace.headers['allow']).toBe('POST');
  for (const method of ['SEARCH', 'PROPFIND'] as const) {
    const answer = await at.app.inject({ method: method as 'GET', url: '/token' });
    expect([404, 405, 501]).toContain(answer.statusCode);
  }
  const error = await postRaw(at, '/token', 'grant_type=x');
  expect(error.body).not.toMatch(/stack|node_modules|\.ts/);
  expectRefusal(error, 401, 'invalid_client');
});
