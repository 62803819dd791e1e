/** ID tokens as the token endpoint gives them: the table of docs/specification.md, OpenID Connect Core §2 and §3.1.3.6. */
import { createHash } from 'node:crypto';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  anAuthorizationCode,
  aUser,
  redeem,
  signIn,
  userinfo,
  type AClient,
  type TestBrowser,
  type Tokens,
} from '../../support/fixtures.ts';
import { decode } from '../../support/oauth.ts';

const CLAIMS = {
  name: 'Ada Lovelace',
  given_name: 'Ada',
  nickname: 'Countess',
  birthdate: '1815-12-10',
  phone_number: '+44 20 7946 0000',
  address: { locality: 'London', country: 'GB' },
  groups: ['engineers', 'poets'],
};

let at: TestApp;
let client: AClient;
let user: User;
let browser: TestBrowser;
let signedInAt: number;
beforeAll(async () => {
  at = await testApp({ config: { SIGNING_ALGS: ['RS256', 'ES256', 'PS256', 'EdDSA'] } });
  client = await aClient(at, { scope: 'openid profile email phone address groups' });
  user = await aUser(at, { claims: CLAIMS });
  browser = await signIn(at, user);
  signedInAt = at.clock.now().getTime() / 1000;
  at.clock.advance(100);
});
afterAll(() => at.close());

async function tokensFor(parameters: Record<string, string> = {}, of: AClient = client): Promise<Tokens> {
  return (await redeem(at, await anAuthorizationCode(at, { client: of, user, browser, parameters }))).json<Tokens>();
}

const claimsOf = async (parameters: Record<string, string> = {}, of: AClient = client) =>
  decode((await tokensFor(parameters, of)).id_token).payload;

test('specification §Resources: iss is the issuer, aud the client it is for, as one string', async () => {
  const claims = await claimsOf();
  expect(claims).toMatchObject({ iss: 'https://id.example.test', aud: client.client_id, sub: user.sub });
  expect(claims).not.toHaveProperty('azp');
});

test('specification §Resources: exp and iat are integers, seconds since the epoch', async () => {
  const { iat, exp } = await claimsOf();
  expect(iat).toBe(at.clock.now().getTime() / 1000);
  expect(Number.isInteger(iat)).toBe(true);
  expect(exp).toBe((iat as number) + 3600);
});

test('specification §Resources: nonce echoes the nonce of the authorization request, and is absent without one', async () => {
  expect(await claimsOf({ nonce: 'n-0S6_WzA2Mj "ü"' })).toMatchObject({ nonce: 'n-0S6_WzA2Mj "ü"' });
  expect(await claimsOf()).not.toHaveProperty('nonce');
});

test('specification §Resources: name with the profile scope, email and email_verified with the email scope, in the ID token', async () => {
  expect(await claimsOf()).toMatchObject({ name: 'Ada Lovelace', email: user.email, email_verified: true });
  const profile = await claimsOf({ scope: 'openid profile' });
  expect(profile).toMatchObject({ name: 'Ada Lovelace', preferred_username: user.username, nickname: 'Countess' });
  expect(profile).not.toHaveProperty('email');
  expect(profile).not.toHaveProperty('email_verified');
  const email = await claimsOf({ scope: 'openid email' });
  expect(email).toMatchObject({ email: user.email, email_verified: true });
  expect(email).not.toHaveProperty('name');
  const bare = await claimsOf({ scope: 'openid' });
  for (const claim of ['name', 'email', 'preferred_username', 'updated_at']) expect(bare).not.toHaveProperty(claim);
});

test('specification §Resources: sub is a unique user identifier, the same in every token, and no address', async () => {
  const tokens = await tokensFor();
  expect(user.sub).toMatch(/^[A-Za-z0-9_-]{22}$/);
  for (const token of [tokens.id_token, tokens.access_token])
    expect(decode(token).payload).toMatchObject({ sub: user.sub });
  expect((await userinfo(at, tokens.access_token)).json()).toMatchObject({ sub: user.sub });
});

test('groups, phone and address are in the ID token with their scopes, with their types', async () => {
  const claims = await claimsOf({ scope: 'openid phone address groups profile' });
  expect(claims).toMatchObject({
    groups: ['engineers', 'poets'],
    phone_number: '+44 20 7946 0000',
    phone_number_verified: false,
    address: { locality: 'London', country: 'GB' },
  });
  expect(Number.isInteger(claims['updated_at'])).toBe(true);
});

test('OpenID Connect Core §2: auth_time is the time of the real authentication; acr and amr say how', async () => {
  expect(await claimsOf()).toMatchObject({ auth_time: signedInAt, acr: '1', amr: ['pwd'] });
  expect(await claimsOf({ max_age: '10000' })).toMatchObject({ auth_time: signedInAt });
});

test('sid names the session, is the same in its tokens, and is not the cookie', async () => {
  const [one, two] = [await claimsOf(), await claimsOf()];
  expect(one['sid']).toBeTruthy();
  expect(one['sid']).toBe(two['sid']);
  for (const value of browser.cookies.values()) expect(value).not.toContain(one['sid']);
  const elsewhere = await signIn(at, user);
  const tokens = (await redeem(at, await anAuthorizationCode(at, { client, user, browser: elsewhere }))).json<Tokens>();
  expect(decode(tokens.id_token).payload['sid']).not.toBe(one['sid']);
});

test.each([
  ['RS256', 'sha256'],
  ['ES256', 'sha256'],
  ['PS256', 'sha256'],
  ['EdDSA', 'sha512'],
] as const)(
  'OpenID Connect Core §3.1.3.6: %s: signed as registered, verified by the JWKS, at_hash right',
  async (alg, hash) => {
    const of = await aClient(at, { id_token_signed_response_alg: alg });
    const tokens = await tokensFor({}, of);
    const jwks = createLocalJWKSet((await at.app.inject('/jwks')).json<JSONWebKeySet>());
    const { payload, protectedHeader } = await jwtVerify(tokens.id_token, jwks, {
      issuer: 'https://id.example.test',
      audience: of.client_id,
      currentDate: at.clock.now(),
    });
    expect(protectedHeader).toEqual({ typ: 'JWT', alg, kid: expect.any(String) as string });
    const digest = createHash(hash).update(tokens.access_token).digest();
    expect(payload['at_hash']).toBe(digest.subarray(0, digest.length / 2).toString('base64url'));
    // RFC 9068: the access token follows the resource, not this client.
    expect(decode(tokens.access_token).header).toMatchObject({ typ: 'at+jwt', alg: 'RS256' });
  },
);

test('RFC 9068 §2.2: a person’s JWT access token has iss, exp, aud, sub, client_id, iat, jti, auth_time, acr, amr, scope', async () => {
  const { access_token } = await tokensFor();
  const { payload } = decode(access_token);
  expect(Object.keys(payload).toSorted()).toEqual(
    ['acr', 'amr', 'aud', 'auth_time', 'client_id', 'exp', 'gid', 'iat', 'iss', 'jti', 'scope', 'sub'].toSorted(),
  );
  expect(payload).toMatchObject({ client_id: client.client_id, aud: 'https://id.example.test', auth_time: signedInAt });
  expect((payload['exp'] as number) - (payload['iat'] as number)).toBe(600);
  expect(decode((await tokensFor()).access_token).payload['jti']).not.toBe(payload['jti']);
});

test('id_token_claims=minimal leaves a person’s claims to userinfo', async () => {
  const minimal = await aClient(at, { id_token_claims: 'minimal' });
  const tokens = await tokensFor({}, minimal);
  const { payload } = decode(tokens.id_token);
  expect(Object.keys(payload).toSorted()).toEqual(
    ['acr', 'amr', 'at_hash', 'aud', 'auth_time', 'exp', 'iat', 'iss', 'sid', 'sub'].toSorted(),
  );
  expect((await userinfo(at, tokens.access_token)).json()).toMatchObject({ name: 'Ada Lovelace', email: user.email });
});

test('ID_TOKEN_CLAIMS=minimal is the server’s default, a client’s own choice comes first', async () => {
  const other = await testApp({ database: at.database, clock: at.clock, config: { ID_TOKEN_CLAIMS: 'minimal' } });
  const code = await anAuthorizationCode(at, { client, user, browser });
  const tokens = (await redeem(other, code)).json<Tokens>();
  expect(decode(tokens.id_token).payload).not.toHaveProperty('email');
  const chosen = await aClient(at, { id_token_claims: 'scope' });
  const second = (await redeem(other, await anAuthorizationCode(at, { client: chosen, user, browser }))).json<Tokens>();
  expect(decode(second.id_token).payload).toHaveProperty('email');
  await other.close();
});

test('specification §Resources: an ID token lives for minutes; a client may have its own lifetime', async () => {
  const of = await aClient(at, { id_token_ttl: 300 });
  const { iat, exp } = await claimsOf({}, of);
  expect((exp as number) - (iat as number)).toBe(300);
});
