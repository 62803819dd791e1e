import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  aPublicClient,
  aService,
  aUser,
  credentials,
  introspect,
  postForm,
  refresh,
  signIn,
  someTokens,
  userinfo,
  type AClient,
  type TestBrowser,
  type Tokens,
} from '../../support/fixtures.ts';
import { aTokenRequest, basic, decode, expectRefusal, postRaw, send } from '../../support/oauth.ts';

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

const tokensOf = async (of: AClient = client): Promise<Tokens> =>
  (await someTokens(at, { client: of, user, browser })).tokens;
const revoke = (token: string, of: AClient = client, fields: Record<string, string> = {}) =>
  postForm(at, '/revoke', { token, ...credentials(of), ...fields });

async function expectDead({ access_token, refresh_token }: Tokens, of: AClient = client): Promise<void> {
  expect((await userinfo(at, access_token)).statusCode).toBe(401);
  expectRefusal(await refresh(at, of, refresh_token), 400, 'invalid_grant');
}
async function expectAlive({ access_token, refresh_token }: Tokens, of: AClient = client): Promise<void> {
  expect((await userinfo(at, access_token)).statusCode).toBe(200);
  expect((await refresh(at, of, refresh_token)).statusCode).toBe(200);
}

test('RFC 7009 §2.1: revoking a refresh token kills its access tokens', async () => {
  const tokens = await tokensOf();
  const answer = await revoke(tokens.refresh_token);
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['cache-control']).toBe('no-store');
  await expectDead(tokens);
});

test('RFC 7009 §2.2: the status says it all; the body is an empty JSON object, for clients that take nothing but JSON', async () => {
  const answer = await revoke((await tokensOf()).refresh_token);
  expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
  expect(answer.body).toBe('{}');
});

test('revoking a person’s access token revokes the grant', async () => {
  const tokens = await tokensOf();
  expect((await revoke(tokens.access_token)).statusCode).toBe(200);
  await expectDead(tokens);
});

test('RFC 7009 §2.1: an opaque access token, too', async () => {
  const opaque = await aClient(at, { access_token_format: 'opaque' });
  const tokens = await tokensOf(opaque);
  await revoke(tokens.access_token, opaque);
  await expectDead(tokens, opaque);
});

test('RFC 7009 §2.1: only that authorization ends, not what the person gave before', async () => {
  const [one, two] = [await tokensOf(), await tokensOf()];
  await revoke(two.refresh_token);
  await expectDead(two);
  await expectAlive(one);
});

test('a client_credentials JWT is remembered by its jti until it expires; others of the client live', async () => {
  const service = await aService(at);
  const mint = async (): Promise<string> =>
    (await send(at, await aTokenRequest(at, 'client_credentials', { client: service }))).json<Tokens>().access_token;
  const [one, two] = [await mint(), await mint()];
  expect((await revoke(one, service)).statusCode).toBe(200);
  expect((await revoke(one, service)).statusCode).toBe(200);
  expect(await introspect(at, service, one)).toEqual({ active: false });
  expect(await introspect(at, service, two)).toMatchObject({ active: true });
  const rows = await at.deps.db.selectFrom('revoked_tokens').selectAll().execute();
  const { jti, exp } = decode(one).payload;
  expect(rows).toMatchObject([{ jti, expires_at: new Date((exp as number) * 1000) }]);
});

test('an opaque client_credentials token is revoked by its row', async () => {
  const service = await aService(at, { access_token_format: 'opaque' });
  const { access_token } = (
    await send(at, await aTokenRequest(at, 'client_credentials', { client: service }))
  ).json<Tokens>();
  await revoke(access_token, service);
  expect(await introspect(at, service, access_token)).toEqual({ active: false });
});

test.each(['access_token', 'refresh_token', 'nonsense'])(
  'RFC 7009 §2.1: token_type_hint=%s, right or wrong, makes no difference',
  async (token_type_hint) => {
    const [one, two] = [await tokensOf(), await tokensOf()];
    await revoke(one.access_token, client, { token_type_hint });
    await revoke(two.refresh_token, client, { token_type_hint });
    await expectDead(one);
    await expectDead(two);
  },
);

test('RFC 7009 §2.1: another’s token is left alone, and answered like an unknown one', async () => {
  const tokens = await tokensOf();
  for (const stranger of [await aClient(at), await aPublicClient(at), await aService(at, { may_introspect: true })]) {
    for (const token of [tokens.access_token, tokens.refresh_token, 'unknown']) {
      const answer = await revoke(token, stranger);
      expect([answer.statusCode, answer.body]).toEqual([200, '{}']);
    }
  }
  await expectAlive(tokens);
});

test.each(['unknown', 'a.b.c', `0_${'A'.repeat(43)}`, '..', 'x'.repeat(9000), "'; drop table grants; --"])(
  'RFC 7009 §2.2: an unknown token is 200: %s',
  async (token) => {
    expect((await revoke(token)).statusCode).toBe(200);
  },
);

test('RFC 7009 §2.1: a confidential client authenticates: otherwise 401, and nothing is revoked', async () => {
  const tokens = await tokensOf();
  expectRefusal(await revoke(tokens.refresh_token, { ...client, client_secret: 'wrong' }), 401, 'invalid_client');
  expectRefusal(await revoke(tokens.refresh_token, { ...client, client_secret: '' }), 401, 'invalid_client');
  expectRefusal(await postForm(at, '/revoke', { token: tokens.refresh_token }), 401, 'invalid_client');
  await expectAlive(tokens);
  const again = await tokensOf();
  const headers = { authorization: basic(client) };
  expect((await postRaw(at, '/revoke', `token=${again.refresh_token}`, headers)).statusCode).toBe(200);
  await expectDead(again);
});

test('RFC 7009 §2.1: a public client revokes its own tokens with its client_id', async () => {
  const spa = await aPublicClient(at);
  const tokens = await tokensOf(spa);
  expect((await revoke(tokens.refresh_token, spa)).statusCode).toBe(200);
  await expectDead(tokens, spa);
});

test('a refresh token that was used already still ends its grant: a client may sign out with what it has', async () => {
  const first = await tokensOf();
  const second = (await refresh(at, client, first.refresh_token)).json<Tokens>();
  await revoke(first.refresh_token);
  await expectDead(second);
});

test('an ID token revokes nothing', async () => {
  const tokens = await tokensOf();
  expect((await revoke(tokens.id_token)).statusCode).toBe(200);
  await expectAlive(tokens);
});

test('RFC 7009 §2.1: a token in the query is not read', async () => {
  const tokens = await tokensOf();
  expectRefusal(
    await postForm(at, `/revoke?token=${tokens.refresh_token}`, credentials(client)),
    400,
    'invalid_request',
  );
  await expectAlive(tokens);
});

test('ASVS 16.3: a revocation leaves an audit row, without the token', async () => {
  const tokens = await tokensOf();
  await revoke(tokens.refresh_token);
  const rows = await at.deps.db
    .selectFrom('audit_events')
    .selectAll()
    .where('event', '=', 'authorization_revoked')
    .execute();
  expect(rows.at(-1)).toMatchObject({ client_id: client.client_id, sub: user.sub });
  expect(JSON.stringify(rows)).not.toContain(tokens.refresh_token);
});
