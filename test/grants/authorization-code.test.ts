import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type TestApp } from '../support/app.ts';
import { anAuthorizationCode, introspect, redeem, refresh, someTokens, userinfo } from '../support/fixtures.ts';

let at: TestApp;
beforeAll(async () => {
  at = await testApp();
});
afterAll(() => at.close());

test('RFC 6749 §4.1.3: exchanges a code for tokens', async () => {
  const { tokens, user, client } = await someTokens(at);
  expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 600, scope: 'openid profile email' });
  const info = await userinfo(at, tokens.access_token);
  expect(info.json()).toMatchObject({ sub: user.sub, email: user.email, email_verified: true, name: 'Ada Lovelace' });
  const refreshed = await refresh(at, client, tokens.refresh_token);
  expect(refreshed.statusCode).toBe(200);
});

test('RFC 6749 §4.1.2: refuses a code a second time and revokes what it gave', async () => {
  const code = await anAuthorizationCode(at);
  const first = await redeem(at, code);
  expect(first.statusCode).toBe(200);
  const second = await redeem(at, code);
  expect(second.statusCode).toBe(400);
  expect(second.json()).toMatchObject({ error: 'invalid_grant' });
  const { access_token, refresh_token } = first.json<{ access_token: string; refresh_token: string }>();
  expect(await introspect(at, code.client, access_token)).toEqual({ active: false });
  expect(await introspect(at, code.client, refresh_token)).toEqual({ active: false });
  expect((await userinfo(at, access_token)).statusCode).toBe(401);
});
