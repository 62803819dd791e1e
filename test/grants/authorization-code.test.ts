import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  anAuthorizationCode,
  aPublicClient,
  aUser,
  aVerifier,
  introspect,
  redeem,
  refresh,
  signIn,
  someTokens,
  userinfo,
  type ACode,
  type AClient,
  type TestBrowser,
  type Tokens,
} from '../support/fixtures.ts';
import { decode, expectRefusal } from '../support/oauth.ts';
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

/** What the audit log says of the code of a grant. */
async function writtenOf(gid: unknown): Promise<unknown[]> {
  const rows = await at.deps.db.selectFrom('audit_events').selectAll().where('event', 'like', 'code_%').execute();
  return rows.filter(({ detail }) => (detail as { gid?: unknown }).gid === gid);
}

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

/** A code of the one client and person of this file: no password is hashed for it. */
const aCode = (parameters: Record<string, string | undefined> = {}): Promise<ACode> =>
  anAuthorizationCode(at, { client, user, browser, parameters });

/** The code was neither spent nor revoked: its own client redeems it. */
async function stillGood(code: ACode): Promise<Tokens> {
  const answer = await redeem(at, code);
  expect({ status: answer.statusCode, body: answer.json<unknown>() }).toMatchObject({ status: 200 });
  return answer.json<Tokens>();
}

const WITHOUT_PKCE = { code_challenge: undefined, code_challenge_method: undefined };

test('specification §States: an authorization code can be exchanged once: a replay half a minute later revokes everything', async () => {
  const code = await aCode();
  const tokens = await stillGood(code);
  const { refresh_token } = (await refresh(at, client, tokens.refresh_token)).json<Tokens>();
  at.clock.advance(30);
  expectRefusal(await redeem(at, code), 400, 'invalid_grant');
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(401);
  expectRefusal(await refresh(at, client, refresh_token), 400, 'invalid_grant');
});

test('RFC 9700 §4.5.3: a replay is recognised after the code has expired, too, as long as its grant lives', async () => {
  const code = await aCode();
  const { refresh_token } = await stillGood(code);
  at.clock.advance(6 * 86_400);
  const fresh = (await refresh(at, client, refresh_token)).json<Tokens>();
  expectRefusal(await redeem(at, code), 400, 'invalid_grant');
  expect((await userinfo(at, fresh.access_token)).statusCode).toBe(401);
  expectRefusal(await refresh(at, client, fresh.refresh_token), 400, 'invalid_grant');
  browser = await signIn(at, user);
});

test('a replay with a wrong verifier, redirect_uri or client revokes nothing', async () => {
  const code = await aCode();
  const { access_token } = await stillGood(code);
  const other = await aClient(at);
  expectRefusal(await redeem(at, code, { code_verifier: aVerifier().code_verifier }), 400, 'invalid_grant');
  expectRefusal(await redeem(at, code, { redirect_uri: 'https://app.example.test/other' }), 400, 'invalid_grant');
  expectRefusal(await redeem(at, { ...code, client: other }), 400, 'invalid_grant');
  expectRefusal(await redeem(at, code, { client_secret: 'wrong' }), 401, 'invalid_client');
  expect((await userinfo(at, access_token)).statusCode).toBe(200);
});

test('a replay revokes only the grant of that code, not what the person gave the client before', async () => {
  const before = await stillGood(await aCode());
  const code = await aCode();
  await stillGood(code);
  await redeem(at, code);
  expect((await userinfo(at, before.access_token)).statusCode).toBe(200);
});

test.each([
  'https://app.example.test/callback/',
  'https://app.example.test/callback?x=1',
  'https://app.example.test/Callback',
  'https://app.example.test/%63allback',
  'https://app.example.test:443/callback',
  ' https://app.example.test/callback',
])(
  'specification §Endpoints 2a: redirect_uri is the same as in the authorization request: %j is invalid_grant, and spends nothing',
  async (redirect_uri) => {
    const code = await aCode();
    expectRefusal(await redeem(at, code, { redirect_uri }), 400, 'invalid_grant');
    await stillGood(code);
  },
);

test('specification §Endpoints 2a: another registered redirect_uri of the client is not the same', async () => {
  const two = await aClient(at, { redirect_uris: ['https://app.example.test/one', 'https://app.example.test/two'] });
  const code = await anAuthorizationCode(at, { client: two, user, browser });
  expectRefusal(await redeem(at, code, { redirect_uri: 'https://app.example.test/two' }), 400, 'invalid_grant');
  await stillGood(code);
});

test.each(['code', 'redirect_uri', 'grant_type'])(
  'specification §Endpoints 2a: %s is required: missing or empty it is invalid_request, and spends nothing',
  async (name) => {
    const code = await aCode();
    expectRefusal(await redeem(at, code, { [name]: undefined }), 400, 'invalid_request');
    expectRefusal(await redeem(at, code, { [name]: '' }), 400, 'invalid_request');
    await stillGood(code);
  },
);

test('specification §Endpoints 2a: client_id is required (of a client without HTTP Basic)', async () => {
  const code = await aCode();
  expectRefusal(await redeem(at, code, { client_id: undefined }), 401, 'invalid_client');
  await stillGood(code);
});

test.each([
  ['wrong', aVerifier().code_verifier, 'invalid_grant'],
  ['missing', undefined, 'invalid_grant'],
  ['empty', '', 'invalid_grant'],
  ['of 42 characters', 'a'.repeat(42), 'invalid_request'],
  ['of 129 characters', 'a'.repeat(129), 'invalid_request'],
  ['with a space', `${'a'.repeat(42)} `, 'invalid_request'],
  ['with a plus', `${'a'.repeat(42)}+`, 'invalid_request'],
  ['with a line break after it', `${'a'.repeat(43)}\n`, 'invalid_request'],
])(
  'specification §Errors: without the right code_verifier no tokens: %s is refused, and spends nothing',
  async (_what, code_verifier, error) => {
    const code = await aCode();
    expectRefusal(await redeem(at, code, { code_verifier }), 400, error);
    await stillGood(code);
  },
);

test('RFC 7636 §4.6: the challenge itself is not an answer to it', async () => {
  const { code_challenge } = aVerifier();
  const code = await aCode({ code_challenge });
  expectRefusal(await redeem(at, code, { code_verifier: code_challenge }), 400, 'invalid_grant');
});

test('specification §What the service does 4: a confidential client may go without PKCE', async () => {
  const code = await aCode(WITHOUT_PKCE);
  const answer = await redeem(at, code, { code_verifier: undefined });
  expect(answer.statusCode).toBe(200);
});

test('RFC 9700 §4.8.2: a verifier for a code that had no challenge is invalid_grant, and spends nothing', async () => {
  const code = await aCode(WITHOUT_PKCE);
  expectRefusal(await redeem(at, code), 400, 'invalid_grant');
  expect((await redeem(at, code, { code_verifier: undefined })).statusCode).toBe(200);
});

test('specification §Authentication 3: a public client authenticates by PKCE: an intercepted code cannot be exchanged without the verifier', async () => {
  const spa = await aPublicClient(at);
  const code = await anAuthorizationCode(at, { client: spa, user, browser });
  expectRefusal(await redeem(at, code, { code_verifier: undefined }), 400, 'invalid_grant');
  expectRefusal(await redeem(at, code, { code_verifier: aVerifier().code_verifier }), 400, 'invalid_grant');
  const { refresh_token } = await stillGood(code);
  expect(refresh_token).toBeTruthy();
});

test('RFC 6749 §4.1.3: a code of another client is invalid_grant, told like an unknown one, and not spent', async () => {
  const code = await aCode();
  const thief = await aClient(at);
  const stolen = await redeem(at, { ...code, client: thief });
  const unknown = await redeem(at, { ...code, client: thief, code: `${code.code.slice(0, -1)}x` });
  expectRefusal(stolen, 400, 'invalid_grant');
  expect(stolen.body).toBe(unknown.body);
  await stillGood(code);
});

test.each([
  'x',
  'zzzzzz_' + 'A'.repeat(43),
  '0_' + 'A'.repeat(43),
  'a.b.c',
  '../../etc/passwd',
  "' or 1=1 --",
  'A'.repeat(512),
])('RFC 6749 §5.2: %s is no code: invalid_grant', async (code) => {
  expectRefusal(
    await redeem(at, { code, code_verifier: aVerifier().code_verifier, client, user, browser }),
    400,
    'invalid_grant',
  );
});

test('ASVS 10.4.3: a code is good until its lifetime ends, and refused a second later', async () => {
  const [early, late] = [await aCode(), await aCode()];
  at.clock.advance(59);
  await stillGood(early);
  at.clock.advance(2);
  expectRefusal(await redeem(at, late), 400, 'invalid_grant');
});

test('specification §Resources: a code, an opaque token and a refresh token are opaque and have 256 random bits', async () => {
  const codes = [await aCode(), await aCode()];
  for (const { code } of codes) expect(code).toMatch(/^[0-9a-z]{1,6}_[A-Za-z0-9_-]{43}$/);
  const [one, two] = codes.map(({ code }) => code.split('_').slice(1).join('_'));
  expect(one!.slice(0, 6)).not.toBe(two!.slice(0, 6));
  const { refresh_token } = await stillGood(codes[0]!);
  expect(refresh_token).toMatch(/^[0-9a-z]{1,6}_[A-Za-z0-9_-]{43}$/);
});

test('ASVS 11.4: neither code, token nor secret is in the database', async () => {
  const code = await aCode();
  const tokens = await stillGood(code);
  for (const table of ['authorization_codes', 'refresh_tokens', 'grants', 'audit_events', 'client_secrets'] as const) {
    const rows = JSON.stringify(await at.deps.db.selectFrom(table).selectAll().execute());
    for (const secret of [code.code, tokens.refresh_token, tokens.access_token, client.client_secret]) {
      expect(rows).not.toContain(secret);
    }
  }
});

test('RFC 6749 §4.1.3: the code is bound to the nonce of its own request', async () => {
  const [a, b] = [await aCode({ nonce: 'nonce a' }), await aCode({ nonce: 'nonce b' })];
  expect(decode((await stillGood(b)).id_token).payload).toMatchObject({ nonce: 'nonce b' });
  expect(decode((await stillGood(a)).id_token).payload).toMatchObject({ nonce: 'nonce a' });
});

test('specification §Resources: refresh tokens are issued in the authorization code flow, to a client that has the grant', async () => {
  const without = await aClient(at, { grant_types: ['authorization_code'] });
  const code = await anAuthorizationCode(at, { client: without, user, browser });
  expect(await stillGood(code)).not.toHaveProperty('refresh_token');
});

test('specification §Resources: an id_token only when the scope openid was requested', async () => {
  const tokens = await stillGood(await aCode({ scope: 'profile email' }));
  expect(tokens).not.toHaveProperty('id_token');
  expect(tokens.scope).toBe('profile email');
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(403);
});

test('specification §Resources: scope says what was really granted, which may be a subset', async () => {
  const tokens = await stillGood(await aCode({ scope: 'openid email phone nonsense' }));
  expect(tokens.scope).toBe('openid email');
  expect(decode(tokens.access_token).payload).toMatchObject({ scope: 'openid email' });
});

test('ASVS 16.3.3: a replay leaves an alarm in the audit log', async () => {
  const code = await aCode();
  const { access_token } = await stillGood(code);
  const { payload } = decode(access_token);
  at.clock.advance(at.deps.config.REFRESH_TOKEN_RETRY_WINDOW);
  await redeem(at, code);
  expect(await writtenOf(payload['gid'])).toMatchObject([
    { event: 'code_replay', client_id: client.client_id, ip: '127.0.0.1' },
  ]);
  expect(JSON.stringify(await writtenOf(payload['gid']))).not.toContain(code.code);
});

test('RFC 6749 §4.1.2: whoever comes again within the retry window may have had no answer: it ends what the code gave, without an alarm', async () => {
  const code = await aCode();
  const { access_token } = await stillGood(code);
  const { payload } = decode(access_token);
  at.clock.advance(at.deps.config.REFRESH_TOKEN_RETRY_WINDOW - 1);
  expectRefusal(await redeem(at, code), 400, 'invalid_grant');
  expect((await userinfo(at, access_token)).statusCode).toBe(401);
  expect(await writtenOf(payload['gid'])).toMatchObject([{ event: 'code_repeated', client_id: client.client_id }]);
});
