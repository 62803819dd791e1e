/** Without its database the server says so, fails closed, and still publishes its keys. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDb } from '../../../src/store/postgres/open.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import {
  aClient,
  aService,
  credentials,
  postForm,
  refresh,
  someTokens,
  userinfo,
  type ACode,
  type AClient,
  type Tokens,
} from '../../support/fixtures.ts';
import { expectPrivate, expectRefusal } from '../../support/oauth.ts';
import { Road } from '../../support/road.ts';

let road: Road;
let real: TestDatabase;
let at: TestApp;
let client: AClient;
let service: AClient;
let session: ACode & { tokens: Tokens };
beforeAll(async () => {
  real = await createTestDatabase();
  road = new Road(real.connection);
  await road.open();
  const db = openDb(road.connection, { max: 5 });
  at = await testApp({ database: { ...real, connection: road.connection, db } });
  [client, service] = [await aClient(at), await aService(at)];
  session = await someTokens(at, { client });
  await at.app.inject('/.well-known/openid-configuration');
});
afterAll(async () => {
  await at.close();
  await at.deps.db.destroy();
  await real.close();
});

const expectAway = (answer: Awaited<ReturnType<typeof userinfo>>): void => {
  expectRefusal(answer, 503, 'temporarily_unavailable');
  expectPrivate(answer);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
};

test('token, introspection, userinfo and revocation answer 503 JSON with Retry-After, and nothing fails open', async () => {
  await road.close();
  // Past every cache.
  at.clock.advance(11);
  const { access_token, refresh_token } = session.tokens;
  expectAway(await userinfo(at, access_token));
  expectAway(await refresh(at, client, refresh_token));
  expectAway(await postForm(at, '/introspect', { token: access_token, ...credentials(client) }));
  expectAway(await postForm(at, '/introspect', { token: refresh_token, ...credentials(client) }));
  expectAway(await postForm(at, '/revoke', { token: refresh_token, ...credentials(client) }));
  expectAway(await postForm(at, '/token', { grant_type: 'client_credentials', ...credentials(service) }));
  expectAway(
    await postForm(at, '/token', { grant_type: 'client_credentials', client_id: 'nobody', client_secret: 'x' }),
  );
});

test('keys and discovery keep being published, also long after', async () => {
  at.clock.advance(3600);
  for (const url of ['/jwks', '/.well-known/openid-configuration', '/.well-known/oauth-authorization-server']) {
    const answer = await at.app.inject(url);
    expect([url, answer.statusCode]).toEqual([url, 200]);
  }
});

test('alive, but not ready', async () => {
  expect((await at.app.inject('/livez')).statusCode).toBe(200);
  expect((await at.app.inject('/readyz')).statusCode).toBe(503);
});

test('what needs no database is refused as always', async () => {
  expectRefusal(await postForm(at, '/token', {}), 400, 'invalid_request');
  expect((await at.app.inject({ method: 'GET', url: '/token' })).statusCode).toBe(405);
  expectRefusal(await userinfo(at, 'a.b.c'), 401, 'invalid_token');
});

test('when the road is open again, the next request is answered, and nothing was spent meanwhile', async () => {
  await road.open();
  const answer = await refresh(at, client, session.tokens.refresh_token);
  expect(answer.statusCode).toBe(200);
  expect((await userinfo(at, answer.json<Tokens>().access_token)).statusCode).toBe(200);
  expect((await at.app.inject('/readyz')).statusCode).toBe(200);
});

test('the connection that breaks in the middle of a refresh is a 503 or the answer, never both outcomes', async () => {
  const { tokens } = await someTokens(at, { client, browser: session.browser, user: session.user });
  const pending = refresh(at, client, tokens.refresh_token);
  await road.close();
  const first = await pending;
  expect([200, 503]).toContain(first.statusCode);
  await road.open();
  const second = await refresh(at, client, tokens.refresh_token);
  // Answered means spent; a 503 leaves it open whether it was: either way there is one set of tokens at most.
  expect([first.statusCode, second.statusCode]).toBeOneOf([
    [200, 400],
    [503, 200],
    [503, 400],
  ]);
});

test('a pool that is closed is the database being away, too: 503, not 500', async () => {
  const closing = await testApp();
  await closing.deps.db.destroy();
  expectAway(
    await postForm(closing, '/token', { grant_type: 'client_credentials', client_id: 'x', client_secret: 'y' }),
  );
  expect((await closing.app.inject('/jwks')).statusCode).toBe(200);
  await closing.close();
});
