/** Forged and misused tokens (RFC 8725, RFC 9068 §4, OpenID Connect Core §16.3). */
import { createHmac, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { exportJWK, SignJWT, type JWK } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  aUser,
  authorizationUrl,
  aVerifier,
  introspect,
  postForm,
  credentials,
  signIn,
  someTokens,
  userinfo,
  type AClient,
  type TestBrowser,
  type Tokens,
} from '../../support/fixtures.ts';
import { decode, expectRefusal } from '../../support/oauth.ts';

let at: TestApp;
let client: AClient;
let user: User;
let browser: TestBrowser;
let tokens: Tokens;
let jwks: JWK[];
const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 });
beforeAll(async () => {
  at = await testApp();
  client = await aClient(at, { may_introspect: true });
  user = await aUser(at);
  browser = await signIn(at, user);
  ({ tokens } = await someTokens(at, { client, user, browser }));
  jwks = (await at.app.inject('/jwks')).json<{ keys: JWK[] }>().keys;
});
afterAll(() => at.close());

const b64 = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const rs256 = (input: string, key: KeyObject = foreign.privateKey): string =>
  sign('sha256', Buffer.from(input), key).toString('base64url');
const own = () => decode(tokens.access_token);

/** The token is worth nothing anywhere, and revoking it revokes nothing. */
async function expectWorthless(token: string): Promise<void> {
  expectRefusal(await userinfo(at, token), 401, 'invalid_token');
  expect(await introspect(at, client, token)).toEqual({ active: false });
  expect((await postForm(at, '/revoke', { token, ...credentials(client) })).statusCode).toBe(200);
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(200);
}

/** Our own header and claims with changes, signed by somebody else. */
function forged(header: Record<string, unknown> = {}, claims: Record<string, unknown> = {}): string {
  const input = `${b64({ ...own().header, ...header })}.${b64({ ...own().payload, ...claims })}`;
  return `${input}.${rs256(input)}`;
}

/** Signed by our real key: what only a mistake of ours could bring about. */
function genuine(header: Record<string, unknown>, claims: Record<string, unknown>): Promise<string> {
  const { kid, alg, private_key } = at.deps.keys.active('RS256', at.clock.now());
  return new SignJWT({ ...own().payload, ...claims })
    .setProtectedHeader({ typ: 'at+jwt', alg, kid, ...header })
    .sign(private_key);
}

test('the real token works, and one signed the same way by our own key does: what follows fails for its own reason', async () => {
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(200);
  expect((await userinfo(at, await genuine({}, {}))).statusCode).toBe(200);
});

test.each(['none', 'None', 'NONE', 'nOnE', ''])(
  'RFC 8725 §3.1: alg %j, with and without a signature, is worthless',
  async (alg) => {
    const input = `${b64({ ...own().header, alg })}.${b64(own().payload)}`;
    await expectWorthless(`${input}.`);
    await expectWorthless(`${input}.${tokens.access_token.split('.')[2]}`);
    await expectWorthless(input);
  },
);

test('RFC 8725 §2.1: HS256 with our public key as the secret is worthless, in every encoding of the key', async () => {
  for (const jwk of jwks) {
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    for (const secret of [
      key.export({ type: 'spki', format: 'pem' }),
      key.export({ type: 'spki', format: 'der' }),
      JSON.stringify(jwk),
      jwk.n ?? jwk.x!,
    ]) {
      const input = `${b64({ typ: 'at+jwt', alg: 'HS256', kid: jwk.kid })}.${b64(own().payload)}`;
      await expectWorthless(`${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`);
    }
  }
});

test('RFC 8725 §3.8: a foreign key under our kid is worthless, and so is no kid or a made-up one', async () => {
  await expectWorthless(forged());
  for (const kid of [
    undefined,
    '',
    'unknown',
    '../../../../dev/null',
    "' or 1=1 --",
    '__proto__',
    0,
    null,
    {},
    ['x'],
    'x'.repeat(6000),
  ]) {
    await expectWorthless(forged({ kid }));
  }
});

test('RFC 8725 §3.10: jwk, jku, x5u and x5c in the header never pick a key', async () => {
  const jwk = await exportJWK(foreign.publicKey);
  for (const header of [
    { jwk },
    { jwk, kid: undefined },
    { jku: 'https://evil.test/jwks' },
    { jku: 'https://evil.test/jwks', kid: 'evil' },
    { x5u: 'https://evil.test/cert' },
    { x5c: ['MIIB'] },
    { 'x5t#S256': 'x' },
  ]) {
    await expectWorthless(forged(header));
  }
});

test('RFC 8725 §3.1: the key decides the algorithm: our RS256 kid with PS256, ES256 or RS512 is worthless', async () => {
  for (const alg of ['PS256', 'ES256', 'EdDSA', 'RS512', 'RS384']) await expectWorthless(forged({ alg }));
  const ec = jwks.find(({ alg }) => alg === 'ES256')!;
  await expectWorthless(forged({ kid: ec.kid }));
  await expectWorthless(forged({ kid: ec.kid, alg: 'ES256' }));
});

test('RFC 7515 §4.1.11: a crit that is not understood is refused, though our own key signed it', async () => {
  const { kid, alg, private_key } = at.deps.keys.active('RS256', at.clock.now());
  const sealed = (header: Record<string, unknown>): string => {
    const input = `${b64({ typ: 'at+jwt', alg, kid, ...header })}.${b64(own().payload)}`;
    return `${input}.${rs256(input, private_key)}`;
  };
  expect((await userinfo(at, sealed({}))).statusCode).toBe(200);
  await expectWorthless(sealed({ crit: ['exp'], exp: 1 }));
  await expectWorthless(sealed({ crit: ['https://example.test/x'], 'https://example.test/x': true }));
  await expectWorthless(sealed({ crit: [] }));
  await expectWorthless(sealed({ crit: ['b64'], b64: false }));
});

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['another issuer', {}, { iss: 'https://evil.test' }],
  ['our issuer with a slash', {}, { iss: 'https://id.example.test/' }],
  ['no issuer', {}, { iss: undefined }],
  ['the type JWT', { typ: 'JWT' }, {}],
  ['no type', { typ: undefined }, {}],
  ['the type logout+jwt', { typ: 'logout+jwt' }, {}],
  ['an expiry in the past', {}, { exp: 1 }],
  ['no expiry', {}, { exp: undefined }],
  ['an expiry that is text', {}, { exp: '9999999999' }],
  ['a start in the future', {}, { nbf: 9_999_999_999 }],
  ['an unknown grant', {}, { gid: 'zz_AAAAAAAAAAAAAAAAAAAAAA' }],
  ['a grant that is none', {}, { gid: 'x' }],
  ['no client', {}, { client_id: undefined }],
  ['an unknown client', {}, { client_id: 'nobody' }],
  ['no jti', {}, { jti: undefined }],
  ['claims of wrong types', {}, { scope: ['openid'] }],
])('RFC 9068 §4: a token with %s is worthless, though our own key signed it', async (_what, header, claims) => {
  await expectWorthless(await genuine(header, claims));
});

test('RFC 9068 §2.1: application/at+jwt is the same type', async () => {
  expect((await userinfo(at, await genuine({ typ: 'application/at+jwt' }, {}))).statusCode).toBe(200);
});

test('RFC 9068 §4: an ID token is no access token', async () => {
  await expectWorthless(tokens.id_token);
});

test('RFC 7515 §5.2: a changed, cut, padded or stretched token is worthless', async () => {
  const [header, payload, mac] = tokens.access_token.split('.') as [string, string, string];
  for (const token of [
    `${header}.${b64({ ...own().payload, sub: 'somebody-else' })}.${mac}`,
    `${header}.${payload}.${mac.slice(0, -4)}`,
    `${header}.${payload}.`,
    `${header}..${mac}`,
    `.${payload}.${mac}`,
    `${header}.${payload}.${mac}.`,
    `${header}.${payload}.${mac}.x.y`,
    `${header}.${payload}.${mac}=`,
    `${header}.${payload}.${mac}A`,
    `${b64('not json')}.${payload}.${mac}`,
    `${b64([])}.${payload}.${mac}`,
    `${b64(null)}.${payload}.${mac}`,
    `${header}.${b64('[]')}.${mac}`,
  ]) {
    await expectWorthless(token);
  }
});

test('OpenID Connect Core §3.1.2.1: an access token, a forged or a foreign ID token is no id_token_hint', async () => {
  const { code_challenge } = aVerifier();
  const hinted = async (id_token_hint: string): Promise<URLSearchParams> => {
    const url = authorizationUrl(browser.issuer, client, {
      id_token_hint,
      prompt: 'none',
      code_challenge,
      code_challenge_method: 'S256',
    });
    const { location } = (await browser.get(url)).headers;
    return new URL(location!).searchParams;
  };
  expect((await hinted(tokens.id_token)).get('code')).toBeTruthy();
  const id = decode(tokens.id_token);
  const input = `${b64(id.header)}.${b64(id.payload)}`;
  const none = `${b64({ typ: 'JWT', alg: 'none' })}.${b64(id.payload)}.`;
  for (const hint of [
    tokens.access_token,
    `${input}.${rs256(input)}`,
    none,
    'garbage',
    await genuine({ typ: 'JWT' }, { iss: 'https://evil.test' }),
  ]) {
    const answer = await hinted(hint);
    expect(answer.get('error'), hint.slice(0, 60)).toBe('invalid_request');
    expect(answer.get('code')).toBeNull();
  }
});

test('RFC 9068 §4: a genuine access token is worthless a second after it expired', async () => {
  at.clock.advance(600);
  expectRefusal(await userinfo(at, tokens.access_token), 401, 'invalid_token');
  expect(await introspect(at, client, tokens.access_token)).toEqual({ active: false });
});
