import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type TestApp } from '../support/app.ts';
import {
  type AClient,
  aClient,
  anAuthorizationCode,
  aPublicClient,
  aUser,
  changeClient,
  introspect,
  redeem,
  refresh,
  signIn,
  type TestBrowser,
  type Tokens,
  userinfo,
} from '../support/fixtures.ts';
import { decode, expectPrivate, expectRefusal } from '../support/oauth.ts';
import type { User } from '../../src/store/users.ts';

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

async function tokensFor(of: AClient = client, parameters: Record<string, string> = {}): Promise<Tokens> {
  const answer = await redeem(at, await anAuthorizationCode(at, { client: of, user, browser, parameters }));
  expect(answer.statusCode).toBe(200);
  return answer.json<Tokens>();
}

async function refreshed(token: string, of: AClient = client, fields: Record<string, string> = {}): Promise<Tokens> {
  const answer = await refresh(at, of, token, fields);
  expect({ status: answer.statusCode, body: answer.json<unknown>() }).toMatchObject({ status: 200 });
  expectPrivate(answer);
  return answer.json<Tokens>();
}

test('specification §States: refresh-token rotation: a new refresh token is issued with each use', async () => {
  const first = await tokensFor();
  const second = await refreshed(first.refresh_token);
  const third = await refreshed(second.refresh_token);
  expect(new Set([first, second, third].map(({ refresh_token }) => refresh_token)).size).toBe(3);
  expect(new Set([first, second, third].map(({ access_token }) => access_token)).size).toBe(3);
  expect(third).toMatchObject({ token_type: 'Bearer', expires_in: 600, scope: 'openid profile email' });
});

test('specification §States: reuse of an old refresh token is a sign of compromise: the whole authorization dies', async () => {
  const first = await tokensFor();
  const second = await refreshed(first.refresh_token);
  at.clock.advance(at.deps.config.REFRESH_TOKEN_RETRY_WINDOW);
  expectRefusal(await refresh(at, client, first.refresh_token), 400, 'invalid_grant');
  expectRefusal(await refresh(at, client, second.refresh_token), 400, 'invalid_grant');
  for (const { access_token } of [first, second]) {
    expect((await userinfo(at, access_token)).statusCode).toBe(401);
    expect(await introspect(at, client, access_token)).toEqual({ active: false });
  }
  const rows = await at.deps.db
    .selectFrom('audit_events')
    .selectAll()
    .where('event', '=', 'refresh_token_reuse')
    .execute();
  expect(rows.at(-1)).toMatchObject({ client_id: client.client_id });
});

test('RFC 9700 §4.14.2: reuse of a token many rotations old is recognised, too', async () => {
  const first = await tokensFor();
  let token = first.refresh_token;
  for (let times = 0; times < 4; times += 1) token = (await refreshed(token)).refresh_token;
  expectRefusal(await refresh(at, client, first.refresh_token), 400, 'invalid_grant');
  expectRefusal(await refresh(at, client, token), 400, 'invalid_grant');
});

test('RFC 9700 §2.2.2: the same holds for a public client', async () => {
  const spa = await aPublicClient(at);
  const first = await tokensFor(spa);
  const second = await refreshed(first.refresh_token, spa);
  at.clock.advance(at.deps.config.REFRESH_TOKEN_RETRY_WINDOW);
  expectRefusal(await refresh(at, spa, first.refresh_token), 400, 'invalid_grant');
  expectRefusal(await refresh(at, spa, second.refresh_token), 400, 'invalid_grant');
});

test('RFC 6749 §6: a refresh token is bound to its client; a stranger neither spends nor revokes, used token or not', async () => {
  const [confidential, spa] = [await aClient(at), await aPublicClient(at)];
  const first = await tokensFor();
  for (const thief of [confidential, spa]) {
    const stolen = await refresh(at, thief, first.refresh_token);
    const unknown = await refresh(at, thief, `${first.refresh_token.slice(0, -1)}x`);
    expectRefusal(stolen, 400, 'invalid_grant');
    expect(stolen.body).toBe(unknown.body);
  }
  const second = await refreshed(first.refresh_token);
  expectRefusal(await refresh(at, confidential, first.refresh_token), 400, 'invalid_grant');
  expectRefusal(await refresh(at, client, first.refresh_token, { client_secret: 'wrong' }), 401, 'invalid_client');
  await refreshed(second.refresh_token);
});

test('RFC 6749 §6: scope can be narrowed, and the next refresh has all of the grant again', async () => {
  const first = await tokensFor();
  const narrow = await refreshed(first.refresh_token, client, { scope: 'email openid' });
  expect(narrow.scope).toBe('email openid');
  expect(decode(narrow.access_token).payload).toMatchObject({ scope: 'email openid' });
  expect((await userinfo(at, narrow.access_token)).json()).not.toHaveProperty('name');
  expect((await refreshed(narrow.refresh_token)).scope).toBe('openid profile email');
});

test('OpenID Connect Core §12.2: narrowed to a scope without openid there is no ID token', async () => {
  const first = await tokensFor();
  expect(await refreshed(first.refresh_token, client, { scope: 'email' })).not.toHaveProperty('id_token');
});

test.each(['openid profile email offline_access', 'phone', 'nonsense', 'openid "'])(
  'RFC 6749 §6: scope=%s is wider than the grant: invalid_scope, and the token is not spent',
  async (scope) => {
    const first = await tokensFor();
    expectRefusal(await refresh(at, client, first.refresh_token, { scope }), 400, 'invalid_scope');
    await refreshed(first.refresh_token);
  },
);

test('OpenID Connect Core §12.2: a new ID token keeps iss, sub, aud, auth_time and has a new iat, and no nonce', async () => {
  const first = await tokensFor(client, { nonce: 'only once' });
  const before = decode(first.id_token).payload;
  expect(before).toMatchObject({ nonce: 'only once' });
  at.clock.advance(300);
  const after = decode((await refreshed(first.refresh_token)).id_token).payload;
  for (const claim of ['iss', 'sub', 'aud', 'auth_time', 'acr', 'amr', 'sid'])
    expect(after[claim]).toEqual(before[claim]);
  expect(after['iat']).toBe((before['iat'] as number) + 300);
  expect(after['exp']).toBe((before['exp'] as number) + 300);
  expect(after).not.toHaveProperty('nonce');
});

test('ASVS 10.4.8: an unused refresh token lapses after REFRESH_TOKEN_IDLE_TTL', async () => {
  const [kept, left] = [await tokensFor(), await tokensFor()];
  at.clock.advance(604_799);
  await refreshed(kept.refresh_token);
  at.clock.advance(2);
  expectRefusal(await refresh(at, client, left.refresh_token), 400, 'invalid_grant');
  browser = await signIn(at, user);
});

test('ASVS 10.4.8: rotation does not extend the absolute lifetime, REFRESH_TOKEN_TTL', async () => {
  let tokens = await tokensFor(client, { scope: 'openid offline_access', prompt: 'consent' });
  for (let day = 6; day <= 24; day += 6) {
    at.clock.advance(6 * 86_400);
    tokens = await refreshed(tokens.refresh_token);
  }
  at.clock.advance(6 * 86_400 - 60);
  tokens = await refreshed(tokens.refresh_token);
  // What is issued a minute before the end dies with the grant.
  expect(tokens.expires_in).toBe(60);
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(200);
  at.clock.advance(60);
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(401);
  expectRefusal(await refresh(at, client, tokens.refresh_token), 400, 'invalid_grant');
  browser = await signIn(at, user);
});

test('a client’s own refresh_token_ttl and refresh_token_idle_ttl come before the server’s', async () => {
  const short = await aClient(at, { refresh_token_ttl: 1000, refresh_token_idle_ttl: 500 });
  const first = await tokensFor(short);
  at.clock.advance(499);
  const second = await refreshed(first.refresh_token, short);
  at.clock.advance(499);
  const third = await refreshed(second.refresh_token, short);
  at.clock.advance(2);
  expectRefusal(await refresh(at, short, third.refresh_token), 400, 'invalid_grant');
});

test.each(['x', `0_${'A'.repeat(43)}`, `zzzzzz_${'A'.repeat(43)}`, 'a.b.c', 'A'.repeat(512)])(
  'RFC 6749 §5.2: %s is no refresh token: invalid_grant',
  async (token) => {
    expectRefusal(await refresh(at, client, token), 400, 'invalid_grant');
  },
);

test('RFC 6749 §6: an access token, an ID token or a code is no refresh token', async () => {
  const { code, ...rest } = await anAuthorizationCode(at, { client, user, browser });
  expectRefusal(await refresh(at, client, code), 400, 'invalid_grant');
  const tokens = (await redeem(at, { code, ...rest })).json<Tokens>();
  expectRefusal(await refresh(at, client, tokens.id_token.slice(0, 500)), 400, 'invalid_grant');
  expectRefusal(await refresh(at, client, tokens.access_token.slice(0, 500)), 400, 'invalid_grant');
  await refreshed(tokens.refresh_token);
});

test('a client that no longer has the grant cannot refresh, and has its token when it has it again', async () => {
  const changed = await aClient(at);
  const { refresh_token } = await tokensFor(changed);
  await changeClient(at, changed, { grant_types: ['authorization_code'] });
  expectRefusal(await refresh(at, changed, refresh_token), 400, 'unauthorized_client');
  await changeClient(at, changed, { grant_types: ['authorization_code', 'refresh_token'] });
  await refreshed(refresh_token, changed);
});
