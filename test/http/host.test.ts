/** The Host of a request: a page whose own name was made to lead here is not one of ours (DNS rebinding). */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { request as send } from 'node:http';
import { buildApp } from '../../src/app.ts';
import { configWith, type Config } from '../../src/config.ts';
import { listenForScrapes } from '../../src/http/metrics.ts';
import { testApp, type TestApp } from '../support/app.ts';

let at: TestApp;
beforeAll(async () => {
  at = await testApp();
});
afterAll(() => at.close());

const HEALTH = ['/livez', '/healthz', '/readyz'];

async function appWith(config: Partial<Config>) {
  const app = await buildApp({ ...at.deps, config: configWith(at.deps.config, config) });
  onTestFinished(() => app.close());
  return async (url: string, host: string | undefined) =>
    app.inject({ url, headers: host === undefined ? {} : { host, accept: 'application/json' } });
}

describe('development mode answers to its own names only', () => {
  const DEVELOPMENT = { mode: 'dev', ISSUER: 'http://postern.localhost:3000' } as const;
  const OURS = [
    'localhost',
    'LOCALHOST:3000',
    'a.localhost:9',
    'postern.localhost:3000',
    '127.0.0.1:3000',
    '[::1]:3000',
  ];
  const OTHERS = ['evil.example', 'evil.example:3000', 'localhost.evil.example', '127.0.0.1.evil.example', '192.0.2.7'];
  const PATHS = ['/.well-known/openid-configuration', '/jwks', '/account', '/admin/v1/clients', '/nothing/here'];

  test('and refuses all others, in each door’s own form', async () => {
    const ask = await appWith(DEVELOPMENT);
    for (const host of OURS) {
      for (const path of PATHS) expect((await ask(path, host)).statusCode, `${host}${path}`).not.toBe(421);
    }
    for (const host of [...OTHERS, 'postern']) {
      for (const path of PATHS) expect((await ask(path, host)).statusCode, `${host}${path}`).toBe(421);
    }
    // RFC 9112 §3.2: these are nobody's.
    for (const host of ['localhost@evil.example', 'a b']) {
      for (const path of PATHS) expect((await ask(path, host)).statusCode, `${host}${path}`).toBe(400);
    }
    const json = await ask('/jwks', 'evil.example');
    expect(json.json()).toMatchObject({ error: 'misdirected_request' });
    expect((await ask('/admin/v1/clients', 'evil.example')).json()).toMatchObject({
      status: 421,
      type: expect.stringContaining('misdirected'),
    });
  });

  test('where it is exposed also to addresses and to names that nobody else can have', async () => {
    const ask = await appWith({ ...DEVELOPMENT, EXPOSE_DEVELOPMENT: true, ALLOWED_HOSTS: ['dev.example.test'] });
    for (const host of ['192.0.2.7:3000', '[2001:db8::1]', 'postern:3000', 'dev.example.test']) {
      expect((await ask('/jwks', host)).statusCode, host).toBe(200);
    }
    expect((await ask('/jwks', 'evil.example')).statusCode).toBe(421);
  });

  test('a check of its health goes by any name', async () => {
    const ask = await appWith(DEVELOPMENT);
    for (const path of HEALTH) {
      expect((await ask(path, '192.0.2.7')).statusCode, path).toBe(200);
      for (const other of [`/account?x=${path}`, `/jwks?${path}`, `/nothing${path}`])
        expect((await ask(other, 'evil.example')).statusCode, other).toBe(421);
    }
  });
});

describe('in production', () => {
  test('the admin API answers to the issuer’s host, to addresses, to names of the operator’s network and to ALLOWED_HOSTS', async () => {
    const ask = await appWith({ ALLOWED_HOSTS: ['id.internal.example'] });
    const ours = ['id.example.test', 'localhost', '10.1.2.3:3000', 'postern:3000', 'id.internal.example:8080'];
    for (const host of ours) expect((await ask('/admin/v1/clients', host)).statusCode, host).toBe(401);
    const paths = ['/clients', '/docs', '/openapi.json', '/nothing', ''].map((path) => `/admin/v1${path}`);
    for (const path of [...paths, '/%61dmin/v1/clients', '/admin/v1?x=/readyz', '/admin/%761/nothing']) {
      expect((await ask(path, 'evil.example')).statusCode, path).toBe(421);
    }
  });

  test('what is public answers to any name, the same', async () => {
    const ask = await appWith({});
    for (const path of ['/jwks', '/.well-known/openid-configuration', ...HEALTH]) {
      const [theirs, others] = [await ask(path, 'id.example.test'), await ask(path, 'evil.example')];
      expect([others.statusCode, others.body], path).toEqual([200, theirs.body]);
    }
  });

  test('the metrics answer to the same names, and to METRICS_HOST', async () => {
    const config = configWith(at.deps.config, { ALLOWED_HOSTS: ['scraped.example.test'] });
    const listener = await listenForScrapes({ ...at.deps, config }, { host: '127.0.0.1', port: 0 });
    onTestFinished(() => listener.close());
    const statusFor = (host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        send({ host: '127.0.0.1', port: listener.port, path: '/metrics', headers: { host } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        })
          .on('error', reject)
          .end();
      });
    for (const host of ['127.0.0.1:9464', '10.1.2.3:9464', 'postern:9464', 'scraped.example.test', 'id.example.test']) {
      expect(await statusFor(host), host).toBe(200);
    }
    expect(await statusFor('evil.example:9464')).toBe(421);
  });
});
