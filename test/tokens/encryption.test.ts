/** Encrypted ID tokens, signed and encrypted userinfo: OpenID Connect Core §5.3.2, §10; Registration §2. */
import { createLocalJWKSet, exportJWK, jwtVerify, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeClient } from '../../src/clients/register.ts';
import { clientMetadata, type ClientMetadataInput } from '../../src/protocol/client-metadata.ts';
import { CONTENT_ENCRYPTION, ENCRYPTION_ALGS } from '../../src/protocol/encryption-alg.ts';
import { issueLogoutToken } from '../../src/tokens/logout-token.ts';
import type { SigningAlg } from '../../src/protocol/signing-alg.ts';
import type { User } from '../../src/store/users.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aNetwork, anEncryptionKey, jwksOf, opened, type EncryptionPair } from '../support/encryption.ts';
import {
  aClient,
  anAuthorizationCode,
  authorizationUrl,
  aUser,
  introspect,
  redeem,
  refresh,
  signIn,
  someTokens,
  userinfo,
  type AClient,
  type TestBrowser,
  type Tokens,
} from '../support/fixtures.ts';
import { decode, expectRefusal } from '../support/oauth.ts';

const ISSUER = 'https://id.example.test';
const JWKS_URI = 'https://client.example.test/jwks';
const documents: Record<string, unknown> = {};
const network = aNetwork(documents);

let at: TestApp;
let user: User;
let browser: TestBrowser;
let rsa: EncryptionPair;
let ec: EncryptionPair;

beforeAll(async () => {
  const config = { SIGNING_ALGS: ['RS256', 'ES256', 'PS256', 'EdDSA'] as SigningAlg[], AUTHORIZATION_CODE_TTL: 600 };
  at = await testApp({ fetch: network.fetch, config });
  user = await aUser(at);
  browser = await signIn(at, user);
  rsa = await anEncryptionKey('RSA-OAEP-256');
  ec = await anEncryptionKey('ECDH-ES');
});
afterAll(() => at.close());

const client = (metadata: Partial<ClientMetadataInput>): Promise<AClient> =>
  aClient(at, { skip_consent: true, ...metadata });

async function tokensOf(metadata: Partial<ClientMetadataInput>): Promise<Tokens & { client: AClient }> {
  const of = await client(metadata);
  const { tokens } = await someTokens(at, { client: of, user, browser });
  return { ...tokens, client: of };
}

/** A JWT of ours, verified against the published keys. */
async function verified(jwt: string, audience: string) {
  const jwks = createLocalJWKSet((await at.app.inject('/jwks')).json<JSONWebKeySet>());
  return jwtVerify(jwt, jwks, { issuer: ISSUER, audience, currentDate: at.clock.now() });
}

describe('OpenID Connect Core §10.2: encrypted ID tokens', () => {
  test.each([
    ['RSA-OAEP-256', 'A128CBC-HS256', undefined],
    ['RSA-OAEP-256', 'A256GCM', undefined],
    ['ECDH-ES', 'A192CBC-HS384', 'P-256'],
    ['ECDH-ES', 'A128GCM', 'X25519'],
    ['ECDH-ES+A128KW', 'A256CBC-HS512', 'P-384'],
    ['ECDH-ES+A256KW', 'A192GCM', 'P-521'],
  ] as const)('%s with %s (%s): signed, then encrypted to the client’s key', async (alg, enc, crv) => {
    const pair = alg === 'RSA-OAEP-256' ? rsa : await anEncryptionKey(alg, {}, crv);
    const { id_token, client: of } = await tokensOf({
      id_token_encrypted_response_alg: alg,
      id_token_encrypted_response_enc: enc,
      jwks: jwksOf(pair.jwk),
    });
    const { header, text } = await opened(id_token, pair.privateKey);
    expect(header).toMatchObject({ alg, enc, cty: 'JWT', kid: pair.jwk.kid });
    expect(header).not.toHaveProperty('zip');
    const { payload, protectedHeader } = await verified(text, of.client_id);
    expect(payload).toMatchObject({ sub: user.sub });
    expect(protectedHeader).toMatchObject({ alg: 'RS256', typ: 'JWT' });
  });

  test('Registration §2: enc is A128CBC-HS256 unless said, in the answer too', async () => {
    const metadata = { id_token_encrypted_response_alg: 'ECDH-ES', jwks: jwksOf(ec.jwk) } as const;
    const { id_token, client: of } = await tokensOf(metadata);
    expect((await opened(id_token, ec.privateKey)).header.enc).toBe('A128CBC-HS256');
    const document = describeClient((await at.deps.directory.client(of.client_id))!);
    expect(document).toMatchObject({ id_token_encrypted_response_enc: 'A128CBC-HS256' });
    expect(document).not.toHaveProperty('userinfo_encrypted_response_enc');
  });

  test('OpenID Connect Core §12.2: so is the ID token of a refresh, while the access token stays readable for its API', async () => {
    const of = await client({ id_token_encrypted_response_alg: 'ECDH-ES', jwks: jwksOf(ec.jwk) });
    const { tokens } = await someTokens(at, { client: of, user, browser });
    const refreshed = (await refresh(at, of, tokens.refresh_token)).json<Tokens>();
    const { text } = await opened(refreshed.id_token, ec.privateKey);
    expect((await verified(text, of.client_id)).payload.sub).toBe(user.sub);
    expect(decode(refreshed.access_token).header).toMatchObject({ typ: 'at+jwt' });
  });

  test('OpenID Connect Core §3.1.2.1: a hint is the signed token inside; encrypted to the client it says nothing to us', async () => {
    const { id_token, client: of } = await tokensOf({
      id_token_encrypted_response_alg: 'ECDH-ES',
      jwks: jwksOf(ec.jwk),
    });
    const { text } = await opened(id_token, ec.privateKey);
    const asked = async (id_token_hint: string) =>
      new URL((await browser.get(authorizationUrl(ISSUER, of, { prompt: 'none', id_token_hint }))).headers.location!)
        .searchParams;
    expect((await asked(text)).get('code')).toBeTruthy();
    expect((await asked(id_token)).get('error')).toBe('invalid_request');
  });

  test('an encrypted ID token is no access token', async () => {
    const { id_token, client: of } = await tokensOf({
      id_token_encrypted_response_alg: 'ECDH-ES',
      jwks: jwksOf(ec.jwk),
    });
    expectRefusal(await userinfo(at, id_token), 401, 'invalid_token');
    expect(await introspect(at, of, id_token)).toEqual({ active: false });
  });
});

describe('which key', () => {
  test('the one for encryption, whatever other keys share its kid', async () => {
    const signing = await anEncryptionKey('ECDH-ES', { use: 'sig', alg: 'ES256', kid: 'same' });
    const right = await anEncryptionKey('ECDH-ES', { kid: 'same' });
    const { id_token } = await tokensOf({
      id_token_encrypted_response_alg: 'ECDH-ES',
      jwks: jwksOf(signing.jwk, { ...rsa.jwk, kid: 'same' }, right.jwk),
    });
    expect((await opened(id_token, right.privateKey)).header.kid).toBe('same');
    await expect(opened(id_token, signing.privateKey)).rejects.toThrow(/decrypt/i);
  });

  test('one that says use=enc before one that says nothing; one of another alg never', async () => {
    const silent = await anEncryptionKey('ECDH-ES', { use: undefined });
    const other = await anEncryptionKey('ECDH-ES+A256KW', { alg: 'ECDH-ES+A256KW' });
    const right = await anEncryptionKey('ECDH-ES');
    const jwks = jwksOf(silent.jwk, other.jwk, right.jwk);
    const { id_token } = await tokensOf({ id_token_encrypted_response_alg: 'ECDH-ES', jwks });
    expect((await opened(id_token, right.privateKey)).text).toContain('.');
  });

  test('a key that cannot be used is passed over: a point off its curve', async () => {
    const right = await anEncryptionKey('ECDH-ES');
    const { id_token } = await tokensOf({
      id_token_encrypted_response_alg: 'ECDH-ES',
      jwks: jwksOf({ ...ec.jwk, y: ec.jwk.x! }, right.jwk),
    });
    expect((await opened(id_token, right.privateKey)).text).toContain('.');
  });

  test.each<[what: string, metadata: () => Promise<Record<string, unknown>> | Record<string, unknown>, member: string]>(
    [
      ['a private key', async () => ({ jwks: jwksOf({ ...(await exportJWK(ec.privateKey)), use: 'enc' }) }), 'jwks'],
      ['a symmetric key', () => ({ jwks: { keys: [{ kty: 'oct', k: 'c2VjcmV0', use: 'enc' }] } }), 'jwks'],
      ['no key at all', () => ({}), 'jwks'],
      ['a signing key only', () => ({ jwks: jwksOf({ ...ec.jwk, use: 'sig' }) }), 'jwks'],
      ['a key of another kind', () => ({ jwks: jwksOf(rsa.jwk) }), 'jwks'],
      ['dir', () => ({ id_token_encrypted_response_alg: 'dir' }), 'id_token_encrypted_response_alg'],
      ['RSA1_5', () => ({ id_token_encrypted_response_alg: 'RSA1_5' }), 'id_token_encrypted_response_alg'],
      ['PBES2', () => ({ id_token_encrypted_response_alg: 'PBES2-HS256+A128KW' }), 'id_token_encrypted_response_alg'],
      [
        'enc without alg',
        () => ({ id_token_encrypted_response_alg: undefined, id_token_encrypted_response_enc: 'A128GCM' }),
        'id_token_encrypted_response_enc',
      ],
      ['enc without alg', () => ({ userinfo_encrypted_response_enc: 'A128GCM' }), 'userinfo_encrypted_response_enc'],
    ],
  )('Registration §2: %s is refused', async (_what, metadata, member) => {
    const parsed = clientMetadata.safeParse({
      redirect_uris: ['https://app.example.test/callback'],
      id_token_encrypted_response_alg: 'ECDH-ES',
      ...(await metadata()),
    });
    expect(parsed.error?.issues.map(({ path }) => path[0])).toContain(member);
  });

  test('an algorithm that no key of ours signs with is refused', async () => {
    const other = await testApp({ database: at.database, config: { SIGNING_ALGS: ['RS256'] } });
    await expect(aClient(other, { userinfo_signed_response_alg: 'ES256' })).rejects.toThrow('SIGNING_ALGS');
    await other.close();
  });
});

describe('jwks_uri', () => {
  test('a key that cannot be had costs nothing: the same code, and the same refresh token, are good afterwards', async () => {
    const of = await client({ id_token_encrypted_response_alg: 'ECDH-ES', jwks_uri: JWKS_URI });
    const code = await anAuthorizationCode(at, { client: of, user, browser });
    for (const broken of [
      new Error('no route'),
      undefined,
      'not JSON',
      jwksOf(rsa.jwk),
      jwksOf({ ...(await exportJWK(ec.privateKey)), use: 'enc' }),
      { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] },
    ]) {
      documents[JWKS_URI] = broken;
      const answer = await redeem(at, code);
      expectRefusal(answer, 503, 'temporarily_unavailable');
      expect(answer.headers['retry-after']).toBe('30');
      expect(answer.body).not.toContain('no route');
      // The set is looked for again after half a minute.
      at.clock.advance(31);
    }
    documents[JWKS_URI] = jwksOf(ec.jwk);
    const tokens = (await redeem(at, code)).json<Tokens>();
    expect((await opened(tokens.id_token, ec.privateKey)).text).toContain('.');

    documents[JWKS_URI] = undefined;
    at.clock.advance(301);
    expectRefusal(await refresh(at, of, tokens.refresh_token), 503, 'temporarily_unavailable');
    documents[JWKS_URI] = jwksOf(ec.jwk);
    at.clock.advance(31);
    expect((await refresh(at, of, tokens.refresh_token)).statusCode).toBe(200);
  });

  test('a set is fetched once for many tokens, and again for a kind of key it lacked', async () => {
    documents[JWKS_URI] = jwksOf(ec.jwk);
    at.clock.advance(301);
    const of = await client({ id_token_encrypted_response_alg: 'ECDH-ES', jwks_uri: JWKS_URI });
    const before = network.asked.length;
    const { tokens } = await someTokens(at, { client: of, user, browser });
    await refresh(at, of, tokens.refresh_token);
    expect(network.asked.length).toBe(before + 1);
    documents[JWKS_URI] = jwksOf(ec.jwk, rsa.jwk);
    at.clock.advance(31);
    const second = await tokensOf({ id_token_encrypted_response_alg: 'RSA-OAEP-256', jwks_uri: JWKS_URI });
    expect((await opened(second.id_token, rsa.privateKey)).text).toContain('.');
    expect(network.asked.length).toBe(before + 2);
  });
});

describe('OpenID Connect Core §5.3.2: userinfo', () => {
  test.each(['RS256', 'PS256', 'ES256', 'EdDSA'] as const)(
    'signed with %s: application/jwt with iss and aud',
    async (alg) => {
      const { access_token, client: of } = await tokensOf({ userinfo_signed_response_alg: alg });
      const answer = await userinfo(at, access_token);
      expect(answer.statusCode).toBe(200);
      expect(answer.headers).toMatchObject({ 'content-type': 'application/jwt', 'cache-control': 'no-store' });
      const { payload, protectedHeader } = await verified(answer.body, of.client_id);
      expect(payload).toMatchObject({ iss: ISSUER, aud: of.client_id, sub: user.sub, email: user.email });
      expect(protectedHeader.alg).toBe(alg);
    },
  );

  test('signed and encrypted is nested; encrypted alone holds the claims themselves', async () => {
    const encrypted = { userinfo_encrypted_response_alg: 'ECDH-ES', jwks: jwksOf(ec.jwk) } as const;
    const both = await tokensOf({ ...encrypted, userinfo_signed_response_alg: 'ES256' });
    const nested = await userinfo(at, both.access_token);
    expect(nested.headers['content-type']).toBe('application/jwt');
    const inside = await opened(nested.body, ec.privateKey);
    expect(inside.header).toMatchObject({ cty: 'JWT', enc: 'A128CBC-HS256' });
    expect((await verified(inside.text, both.client.client_id)).payload).toMatchObject({ sub: user.sub });

    const one = await tokensOf({ ...encrypted, userinfo_encrypted_response_enc: 'A256GCM' });
    const plain = await userinfo(at, one.access_token);
    expect(plain.headers['content-type']).toBe('application/jwt');
    const { header, text } = await opened(plain.body, ec.privateKey);
    expect(header.enc).toBe('A256GCM');
    expect(header).not.toHaveProperty('cty');
    expect(JSON.parse(text)).toMatchObject({ sub: user.sub, email: user.email });
  });

  test('a key that cannot be had: 503, and the access token stays good', async () => {
    documents['https://client.example.test/none'] = undefined;
    const { access_token } = await tokensOf({
      userinfo_encrypted_response_alg: 'ECDH-ES',
      jwks_uri: 'https://client.example.test/none',
    });
    expectRefusal(await userinfo(at, access_token), 503, 'temporarily_unavailable');
    documents['https://client.example.test/none'] = jwksOf(ec.jwk);
    at.clock.advance(31);
    expect((await userinfo(at, access_token)).statusCode).toBe(200);
  });

  test('signed userinfo is no ID token: as a hint it is refused', async () => {
    const { access_token, client: of } = await tokensOf({ userinfo_signed_response_alg: 'RS256' });
    const id_token_hint = (await userinfo(at, access_token)).body;
    const answer = await browser.get(authorizationUrl(ISSUER, of, { prompt: 'none', id_token_hint }));
    expect(new URL(answer.headers.location!).searchParams.get('error')).toBe('invalid_request');
  });

  test('a bad token is answered as JSON, whatever the client registered', async () => {
    expectRefusal(await userinfo(at, 'x.y.z'), 401, 'invalid_token');
  });
});

test('Back-Channel Logout §2.4, §2.6: logout tokens are encrypted as ID tokens are, iss in the header', async () => {
  const of = await client({ id_token_encrypted_response_alg: 'ECDH-ES', jwks: jwksOf(ec.jwk) });
  const row = (await at.deps.directory.client(of.client_id))!;
  const token = await issueLogoutToken(at.deps, row, { sub: user.sub, sid: 'a sid', sector: null }, at.clock.now());
  const { header, text } = await opened(token, ec.privateKey);
  expect(header).toMatchObject({ cty: 'JWT', iss: ISSUER });
  const { payload, protectedHeader } = await verified(text, of.client_id);
  expect(protectedHeader.typ).toBe('logout+jwt');
  expect(payload).toMatchObject({ sub: user.sub, sid: 'a sid' });
});

test('OpenID Connect Discovery §3: what can be registered is what the document says', async () => {
  const document = (await at.app.inject('/.well-known/openid-configuration')).json<Record<string, unknown>>();
  expect(document).toMatchObject({
    id_token_encryption_alg_values_supported: ENCRYPTION_ALGS,
    id_token_encryption_enc_values_supported: CONTENT_ENCRYPTION,
    userinfo_signing_alg_values_supported: at.deps.config.SIGNING_ALGS,
    userinfo_encryption_alg_values_supported: ENCRYPTION_ALGS,
    userinfo_encryption_enc_values_supported: CONTENT_ENCRYPTION,
  });
  for (const weak of ['RSA1_5', 'RSA-OAEP', 'dir']) expect(ENCRYPTION_ALGS).not.toContain(weak);
});
