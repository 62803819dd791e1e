/** /livez and /readyz: at the root of the listener and under the issuer's path. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { configWith } from '../../src/config.ts';
import { testApp, type TestApp } from '../support/app.ts';

let at: TestApp;
beforeAll(async () => {
  at = await testApp();
});
afterAll(() => at.close());

test('contract: /livez and /readyz answer ok, not stored', async () => {
  for (const url of ['/livez', '/readyz']) {
    const { statusCode, headers, body } = await at.app.inject({ url });
    expect([statusCode, JSON.parse(body), headers['cache-control']]).toEqual([200, { status: 'ok' }, 'no-store']);
  }
});

test('contract: they are at the root and under the issuer’s path', async () => {
  const app = await buildApp({ ...at.deps, config: configWith(at.deps.config, { ISSUER: 'https://x.test/realm' }) });
  for (const url of ['/livez', '/readyz', '/realm/livez', '/realm/readyz']) {
    expect((await app.inject({ url })).statusCode, url).toBe(200);
  }
  expect((await app.inject({ url: '/other/livez' })).statusCode).toBe(404);
  await app.close();
});

test('faults: while the process closes it is alive, but not ready', async () => {
  const readiness = { closing: false };
  const app = await buildApp(at.deps, readiness);
  expect((await app.inject({ url: '/readyz' })).statusCode).toBe(200);
  readiness.closing = true;
  expect((await app.inject({ url: '/readyz' })).json()).toEqual({ status: 'not ready', reason: 'closing' });
  expect((await app.inject({ url: '/livez' })).statusCode).toBe(200);
  await app.close();
});

test('contract: without a signing key it is not ready', async () => {
  const app = await buildApp({ ...at.deps, keys: { ...at.deps.keys, ready: false } });
  const { statusCode, body } = await app.inject({ url: '/readyz' });
  expect([statusCode, JSON.parse(body)]).toEqual([503, { status: 'not ready', reason: 'no signing key is loaded' }]);
  await app.close();
});

test('ASVS 13.4.5: neither says anything of the inside, and metrics are not here', async () => {
  const answer = await at.app.inject({ url: '/readyz' });
  expect(Object.keys(answer.json<object>())).toEqual(['status']);
  expect((await at.app.inject({ url: '/metrics' })).statusCode).toBe(404);
});
