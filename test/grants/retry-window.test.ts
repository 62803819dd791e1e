/** REFRESH_TOKEN_RETRY_WINDOW: a client whose network lost the answer asks again. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../src/store/users.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  anAuthorizationCode,
  aUser,
  credentials,
  introspect,
  postForm,
  redeem,
  refresh,
  signIn,
  userinfo,
  type AClient,
  type TestBrowser,
  type Tokens,
} from '../support/fixtures.ts';
import { decode, expectRefusal } from '../support/oauth.ts';

const WINDOW = 20;
let at: TestApp;
let client: AClient;
let user: User;
let browser: TestBrowser;
beforeAll(async () => {
  at = await testApp({ config: { REFRESH_TOKEN_RETRY_WINDOW: WINDOW } });
  [client, user] = [await aClient(at), await aUser(at)];
  browser = await signIn(at, user);
});
afterAll(() => at.close());

async function firstTokens(): Promise<Tokens> {
  return (await redeem(at, await anAuthorizationCode(at, { client, user, browser }))).json<Tokens>();
}

async function refreshed(token: string, fields: Record<string, string> = {}): Promise<Tokens> {
  const answer = await refresh(at, client, token, fields);
  expect({ status: answer.statusCode, body: answer.json<unknown>() }).toMatchObject({ status: 200 });
  return answer.json<Tokens>();
}

/** Everything of the grant is dead. */
async function expectDead(...tokens: Tokens[]): Promise<void> {
  for (const { access_token, refresh_token } of tokens) {
    expect((await userinfo(at, access_token)).statusCode).toBe(401);
    expect(await introspect(at, client, refresh_token)).toEqual({ active: false });
  }
}

test('within the window the same token gives the same successor again, beside a new access token', async () => {
  const first = await firstTokens();
  const second = await refreshed(first.refresh_token);
  at.clock.advance(WINDOW - 1);
  const again = await refreshed(first.refresh_token);
  expect(again.refresh_token).toBe(second.refresh_token);
  expect(again.access_token).not.toBe(second.access_token);
  expect(decode(again.id_token).payload).toMatchObject({ sub: user.sub });
  const many = await Promise.all([1, 2, 3, 4, 5].map(() => refreshed(first.refresh_token)));
  expect(new Set(many.map(({ refresh_token }) => refresh_token))).toEqual(new Set([second.refresh_token]));
  for (const { access_token } of [second, again]) expect((await userinfo(at, access_token)).statusCode).toBe(200);
  await refreshed(second.refresh_token);
});

test('many at once: one rotates, the others receive its successor', async () => {
  const first = await firstTokens();
  const many = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(() => refreshed(first.refresh_token)));
  expect(new Set(many.map(({ refresh_token }) => refresh_token)).size).toBe(1);
});

test('when the window is over it is a reuse, and revokes', async () => {
  const first = await firstTokens();
  const second = await refreshed(first.refresh_token);
  at.clock.advance(WINDOW);
  expectRefusal(await refresh(at, client, first.refresh_token), 400, 'invalid_grant');
  await expectDead(first, second);
});

test('a retry does not open the window again', async () => {
  const first = await firstTokens();
  const second = await refreshed(first.refresh_token);
  at.clock.advance(WINDOW - 5);
  await refreshed(first.refresh_token);
  at.clock.advance(5);
  expectRefusal(await refresh(at, client, first.refresh_token), 400, 'invalid_grant');
  await expectDead(first, second);
});

test('once the successor was used, its predecessor is a reuse', async () => {
  const first = await firstTokens();
  const second = await refreshed(first.refresh_token);
  const third = await refreshed(second.refresh_token);
  expectRefusal(await refresh(at, client, first.refresh_token), 400, 'invalid_grant');
  await expectDead(first, second, third);
});

test('only the immediately preceding token is served again', async () => {
  const first = await firstTokens();
  const second = await refreshed(first.refresh_token);
  const third = await refreshed(second.refresh_token);
  expect((await refreshed(second.refresh_token)).refresh_token).toBe(third.refresh_token);
  expectRefusal(await refresh(at, client, first.refresh_token), 400, 'invalid_grant');
  await expectDead(third);
});

test('where the authorization has ended meanwhile, a retry is refused and is no alarm; later it is', async () => {
  const alarms = async () =>
    (await at.deps.db.selectFrom('audit_events').select('event').where('event', '=', 'refresh_token_reuse').execute())
      .length;
  const first = await firstTokens();
  const second = await refreshed(first.refresh_token);
  await postForm(at, '/revoke', { token: second.refresh_token, ...credentials(client) });
  const before = await alarms();
  expectRefusal(await refresh(at, client, first.refresh_token), 400, 'invalid_grant');
  expect(await alarms()).toBe(before);
  at.clock.advance(WINDOW);
  expectRefusal(await refresh(at, client, first.refresh_token), 400, 'invalid_grant');
  expect(await alarms()).toBe(before + 1);
});

test('another client gets nothing, and revokes nothing', async () => {
  const other = await aClient(at);
  const first = await firstTokens();
  const second = await refreshed(first.refresh_token);
  expectRefusal(await refresh(at, other, first.refresh_token), 400, 'invalid_grant');
  expect((await refreshed(first.refresh_token)).refresh_token).toBe(second.refresh_token);
});

test('RFC 6749 §6: a retry may narrow', async () => {
  const first = await firstTokens();
  await refreshed(first.refresh_token);
  expect((await refreshed(first.refresh_token, { scope: 'openid' })).scope).toBe('openid');
});

test.each([
  ['scope', 'openid address', 'invalid_scope'],
  ['resource', 'https://notes.example.test', 'invalid_target'],
])('RFC 6749 §6: a retry that widens %s is refused as a mistake, and revokes nothing', async (name, value, error) => {
  const first = await firstTokens();
  const second = await refreshed(first.refresh_token);
  expectRefusal(await refresh(at, client, first.refresh_token, { [name]: value }), 400, error);
  expect((await userinfo(at, second.access_token)).statusCode).toBe(200);
  expect((await refreshed(first.refresh_token)).refresh_token).toBe(second.refresh_token);
  at.clock.advance(WINDOW);
  expectRefusal(await refresh(at, client, first.refresh_token, { [name]: value }), 400, 'invalid_grant');
  await expectDead(first, second);
});

test('nothing but hashes is stored: the successor cannot be read from its row', async () => {
  const first = await firstTokens();
  const second = await refreshed(first.refresh_token);
  const rows = await at.deps.db.selectFrom('refresh_tokens').selectAll().execute();
  const stored = JSON.stringify(rows, (_key, value: unknown) =>
    value !== null && typeof value === 'object' && 'type' in value && value.type === 'Buffer'
      ? Buffer.from((value as unknown as { data: number[] }).data).toString('base64url')
      : value,
  );
  for (const token of [first, second]) expect(stored).not.toContain(token.refresh_token.split('_').slice(1).join('_'));
});

test('a process with other SECRET_KEYS cannot derive the successor: it refuses rather than give a second one', async () => {
  const other = await testApp({
    database: at.database,
    clock: at.clock,
    config: {
      REFRESH_TOKEN_RETRY_WINDOW: WINDOW,
      SECRET_KEYS: ['a new secret key, of more than thirty-two characters', ...at.deps.config.SECRET_KEYS],
    },
  });
  const first = await firstTokens();
  const second = await refreshed(first.refresh_token);
  const retried = await refresh(other, client, first.refresh_token);
  expect(retried.json()).toMatchObject({ refresh_token: second.refresh_token });
  const third = await refresh(other, client, second.refresh_token);
  const { refresh_token } = third.json<Tokens>();
  expectRefusal(await refresh(at, client, second.refresh_token), 400, 'invalid_grant');
  expectRefusal(await refresh(at, client, refresh_token), 400, 'invalid_grant');
  await other.close();
});
