import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JWK } from 'jose';
import { testApp, type TestApp } from '../../support/app.ts';
import { BY } from '../../support/fixtures.ts';
import { rotateKey } from '../../support/rotation.ts';

let at: TestApp;
beforeAll(async () => {
  at = await testApp();
});
afterAll(() => at.close());

const get = (headers: Record<string, string> = {}) => at.app.inject({ method: 'GET', url: '/jwks', headers });

test('RFC 7517 §5: the keys with distinct kid, alg and use, those that sign before those to encrypt to, and nothing private', async () => {
  const answer = await get();
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  const { keys, ...rest } = answer.json<{ keys: JWK[] }>();
  expect(rest).toEqual({});
  // Who takes the first RSA key, or the first EC key, whatever it is for, has one that signs.
  expect(keys.map(({ alg, use, kty }) => [alg, use, kty])).toEqual([
    ['RS256', 'sig', 'RSA'],
    ['ES256', 'sig', 'EC'],
    ['RSA-OAEP-256', 'enc', 'RSA'],
    ['ECDH-ES', 'enc', 'EC'],
  ]);
  expect(new Set(keys.map(({ kid }) => kid)).size).toBe(4);
  for (const key of keys) {
    const members =
      key.kty === 'RSA' ? ['alg', 'e', 'kid', 'kty', 'n', 'use'] : ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'];
    expect(Object.keys(key).toSorted()).toEqual(members);
  }
  const moduli = keys.flatMap(({ n }) => (n === undefined ? [] : [Buffer.from(n, 'base64url').length * 8]));
  expect(moduli).toEqual([2048, 2048]);
});

test('public, cacheable for 300 to 3600 seconds, readable by every page, without cookies', async () => {
  const { headers } = await get({ origin: 'https://anybody.example.test' });
  const max_age = Number(/^public, max-age=(\d+)$/.exec(String(headers['cache-control']))?.[1]);
  expect(max_age).toBeGreaterThanOrEqual(300);
  expect(max_age).toBeLessThanOrEqual(3600);
  expect(headers['access-control-allow-origin']).toBe('*');
  expect(headers['access-control-allow-credentials']).toBeUndefined();
  expect(headers['set-cookie']).toBeUndefined();
  expect(headers['x-content-type-options']).toBe('nosniff');
});

test('RFC 9110 §13.1.2: its ETag is answered with 304, in a list and weak, too', async () => {
  const etag = (await get()).headers.etag!;
  expect(etag).toMatch(/^"[A-Za-z0-9_-]+"$/);
  for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const answer = await get({ 'if-none-match': tag });
    expect(answer.statusCode, tag).toBe(304);
    expect(answer.body).toBe('');
    expect(answer.headers).toMatchObject({ etag, 'cache-control': 'public, max-age=300' });
  }
  expect((await get({ 'if-none-match': '"other"' })).statusCode).toBe(200);
});

test('the ETag stays while the keys do, and changes when one is published', async () => {
  const before = (await get()).headers.etag;
  expect((await get()).headers.etag).toBe(before);
  await rotateKey(at.deps.db, at.deps.secrets, 'ES256', BY, at.clock.now());
  await at.deps.keys.reload();
  const after = await get({ 'if-none-match': before! });
  expect(after.statusCode).toBe(200);
  expect(after.headers.etag).not.toBe(before);
  expect(after.json<{ keys: JWK[] }>().keys).toHaveLength(5);
});

test('RFC 9110 §9.3.2: HEAD is answered like GET, without a body; other methods are 405', async () => {
  const head = await at.app.inject({ method: 'HEAD', url: '/jwks' });
  expect([head.statusCode, head.body]).toEqual([200, '']);
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    const answer = await at.app.inject({ method, url: '/jwks' });
    expect(answer.statusCode).toBe(405);
    expect(answer.headers['allow']).toBe('GET, HEAD');
  }
});
