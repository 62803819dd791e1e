/** What docs/specification.md says of the token endpoint as a whole. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  anAuthorizationCode,
  aUser,
  aVerifier,
  credentials,
  PASSWORD,
  redeem,
  signIn,
  userinfo,
  type AClient,
  type TestBrowser,
  type Tokens,
} from '../../support/fixtures.ts';
import { decode, expectPrivate, expectRefusal, formOf, postRaw } from '../../support/oauth.ts';

let at: TestApp;
let client: AClient;
let user: User;
let browser: TestBrowser;
beforeAll(async () => {
  at = await testApp();
  [client, user] = [await aClient(at), await aUser(at)];
  browser = await signIn(at, user);
});
afterAll(() => at.close());

test('specification §What the service does 1: scoped, time-limited tokens, and never the user’s credentials', async () => {
  const answer = await redeem(at, await anAuthorizationCode(at, { client, user, browser }));
  const tokens = answer.json<Tokens>();
  const seen = [
    answer.body,
    ...[tokens.access_token, tokens.id_token].map((jwt) => JSON.stringify(decode(jwt))),
  ].join();
  expect(seen).not.toContain(PASSWORD);
  expect(seen).not.toContain('argon2');
  for (const jwt of [tokens.access_token, tokens.id_token]) {
    expect(decode(jwt).payload['exp']).toBeGreaterThan(at.clock.now().getTime() / 1000);
  }
});

test('specification §What the service does 5: identity only with openid: without it neither ID token nor userinfo', async () => {
  const code = await anAuthorizationCode(at, { client, user, browser, parameters: { scope: 'profile email' } });
  const tokens = (await redeem(at, code)).json<Tokens>();
  expect(tokens).not.toHaveProperty('id_token');
  expectRefusal(await userinfo(at, tokens.access_token), 403, 'insufficient_scope');
  for (const claim of ['name', 'email', 'preferred_username']) {
    expect(decode(tokens.access_token).payload).not.toHaveProperty(claim);
  }
});

test('specification §Resources: the service stores the code_challenge together with the code', async () => {
  const { code_challenge } = aVerifier();
  await anAuthorizationCode(at, { client, user, browser, parameters: { code_challenge } });
  const rows = await at.deps.db.selectFrom('authorization_codes').selectAll().execute();
  expect(rows.map((row) => row.code_challenge)).toContain(code_challenge);
});

test('specification §Endpoints 2: POST {auth_url}/token with a form answers a JSON token response', async () => {
  const { code, code_verifier } = await anAuthorizationCode(at, { client, user, browser });
  const body = formOf({
    grant_type: 'authorization_code',
    code,
    redirect_uri: client.redirect_uri,
    client_id: client.client_id,
    client_secret: client.client_secret,
    code_verifier,
  });
  const answer = await postRaw(at, '/token', body);
  expect(answer.statusCode).toBe(200);
  expectPrivate(answer);
  expect(Object.keys(answer.json()).toSorted()).toEqual(
    ['access_token', 'expires_in', 'id_token', 'refresh_token', 'scope', 'token_type'].toSorted(),
  );
});

test.each(['application/json', '*/*', 'text/html', 'application/xml', 'nonsense', ''])(
  'specification §Endpoints 5: JSON is the response format, whatever Accept: %s asks for',
  async (accept) => {
    const code = await anAuthorizationCode(at, { client, user, browser });
    const fields = { code: code.code, code_verifier: code.code_verifier, redirect_uri: client.redirect_uri };
    const body = formOf({ grant_type: 'authorization_code', ...fields, ...credentials(client) });
    const answer = await postRaw(at, '/token', body, { accept });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expectRefusal(await postRaw(at, '/token', 'grant_type=x', { accept }), 401, 'invalid_client');
  },
);

test('specification §Endpoints 5: an Idempotency-Key may be sent; the single-use rule stands: a retry never gives a second set of tokens', async () => {
  const code = await anAuthorizationCode(at, { client, user, browser });
  const fields = { code: code.code, code_verifier: code.code_verifier, redirect_uri: client.redirect_uri };
  const body = formOf({ grant_type: 'authorization_code', ...fields, ...credentials(client) });
  const headers = { 'idempotency-key': 'one-logical-request' };
  expect((await postRaw(at, '/token', body, headers)).statusCode).toBe(200);
  expectRefusal(await postRaw(at, '/token', body, headers), 400, 'invalid_grant');
});

test('specification §Authentication 3: PKCE is recommended for all clients, confidential ones included: require_pkce and REQUIRE_PKCE=all', async () => {
  const strict = await testApp({ database: at.database, clock: at.clock, config: { REQUIRE_PKCE: 'all' } });
  const without = { code_challenge: undefined, code_challenge_method: undefined };
  const careful = await aClient(at, { require_pkce: true });
  await expect(anAuthorizationCode(at, { client: careful, user, browser, parameters: without })).rejects.toThrow(
    'error=invalid_request',
  );
  const theirs = await signIn(strict, user);
  await expect(anAuthorizationCode(strict, { client, user, browser: theirs, parameters: without })).rejects.toThrow(
    'error=invalid_request',
  );
  expect((await redeem(strict, await anAuthorizationCode(strict, { client, user, browser: theirs }))).statusCode).toBe(
    200,
  );
  await strict.close();
});
