/** When the database is away: pages that say so and when to come again, and nothing that fails open. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FastifyInstance } from 'fastify';
import { buildApp } from '../../../src/app.ts';
import { createDirectory } from '../../../src/clients/directory.ts';
import type { Db } from '../../../src/store/postgres/db.ts';
import { openDb } from '../../../src/store/postgres/open.ts';
import { createProbe, type Probe } from '../../../src/store/postgres/probe.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { aClient, aUser, authorizationUrl, signIn, TestBrowser, type AClient } from '../../support/fixtures.ts';
import { errorOn, titleOf } from '../../support/pages.ts';

let at: TestApp;
let app: FastifyInstance;
let away: Db;
let probe: Probe;
let client: AClient;
let browser: TestBrowser;
let headers: Record<string, string>;
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at);
  browser = await signIn(at, await aUser(at));
  const nowhere = { host: '/nowhere/at/all', port: 5432, user: 'x', database: 'x' };
  away = openDb(nowhere, { max: 2 });
  // Whether it is ready is asked on a connection of its own.
  probe = createProbe(nowhere);
  app = await buildApp({ ...at.deps, db: away, probe, directory: createDirectory(away, () => performance.now()) });
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  headers = { host: 'id.example.test', accept: 'text/html', cookie, origin: 'https://id.example.test' };
});
afterAll(async () => {
  await app.close();
  await probe.close();
  await away.destroy();
  await at.close();
});

const id = `g15_${'a'.repeat(43)}`;

test.each([
  ['GET', '/authorize'],
  ['GET', `/interaction/${id}`],
  ['GET', `/interaction/${id}/login`],
  ['GET', `/interaction/${id}/consent`],
  ['POST', `/interaction/${id}/consent`],
  ['GET', '/account'],
  ['GET', '/logout'],
  ['POST', '/authorize'],
] as const)('%s %s answers a 503 page with Retry-After', async (method, path) => {
  const { search } = new URL(authorizationUrl('https://id.example.test', client));
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const response = await app.inject(
    method === 'GET'
      ? { method, url: path === '/authorize' ? path + search : path, headers }
      : { method, url: path, headers: { ...headers, ...form }, payload: search.slice(1) },
  );
  expect([response.statusCode, errorOn(response)]).toEqual([503, 'temporarily_unavailable']);
  expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
  expect(response.headers.location).toBeUndefined();
  expect(titleOf(response)).toBe('Error: Please try again in a moment');
  expect(response.body).not.toMatch(/ENOENT|nowhere|postgres/i);
  expect(response.headers['cache-control']).toBe('no-store');
});

test('POST /login answers 503 JSON with Retry-After, and nobody is signed in', async () => {
  const payload = { username: 'ada', password: 'x' };
  const response = await app.inject({ method: 'POST', url: '/login', payload });
  expect([response.statusCode, response.json()]).toMatchObject([503, { error: 'temporarily_unavailable' }]);
  expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
  expect(response.headers['set-cookie']).toBeUndefined();
});

test('pages that need no database keep answering', async () => {
  expect((await app.inject({ url: '/logout/done', headers })).statusCode).toBe(200);
  expect((await app.inject({ url: '/login', headers })).statusCode).toBe(200);
});

test('the process is alive, but not ready', async () => {
  expect((await app.inject({ url: '/livez' })).json()).toEqual({ status: 'ok' });
  const ready = await app.inject({ url: '/readyz' });
  expect([ready.statusCode, ready.json()]).toMatchObject([503, { reason: 'the database is not available' }]);
});

test('a table that somebody holds is a 503 within 3 seconds, not a wait', async () => {
  const other = openDb(at.database.connection, { max: 1 });
  const trx = await other.startTransaction().execute();
  await trx.schema.alterTable('interactions').addColumn('held', 'text').execute();
  const before = performance.now();
  const stranger = new TestBrowser(at);
  const response = await stranger.get(authorizationUrl(stranger.issuer, client));
  expect([response.statusCode, errorOn(response)]).toEqual([503, 'temporarily_unavailable']);
  expect(performance.now() - before).toBeLessThan(3000);
  await trx.rollback().execute();
  await other.destroy();
  expect((await stranger.get(authorizationUrl(stranger.issuer, client))).statusCode).toBe(302);
});

test('ASVS 16.5.1: a defect of ours is a 500 page with the request id and nothing else of it', async () => {
  const mac = (): never => {
    throw new Error('a detail of the inside');
  };
  const broken = await buildApp({ ...at.deps, secrets: { ...at.deps.secrets, name: 'x', mac } });
  const response = await broken.inject({ url: '/login', headers });
  const request_id = String(response.headers['x-request-id']);
  await broken.close();
  expect([response.statusCode, errorOn(response)]).toEqual([500, 'server_error']);
  expect(response.body).toContain(request_id);
  expect(response.body).not.toContain('a detail of the inside');
  expect(at.logged.find((line) => line.includes('a detail of the inside'))).toContain(request_id);
});
