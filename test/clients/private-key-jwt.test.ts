import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CLIENT_ASSERTION_TYPE } from '../../src/protocol/jwt-assertion.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient, aService, postForm, type AClient } from '../support/fixtures.ts';

let at: TestApp;
let keys: { privateKey: CryptoKey; jwk: JWK };
let client: AClient;

async function aKey(kid: string, alg = 'ES256'): Promise<typeof keys> {
  const { publicKey, privateKey } = await generateKeyPair(alg);
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

const asJwks = (...jwks: JWK[]) => ({ keys: jwks.map((jwk) => ({ ...jwk, kty: jwk.kty as 'EC' })) });

beforeAll(async () => {
  at = await testApp();
  keys = await aKey('one');
  await aService(at);
  client = await aService(at, { token_endpoint_auth_method: 'private_key_jwt', jwks: asJwks(keys.jwk) });
});
afterAll(() => at.close());

let count = 0;

/** An assertion that authenticates the client; claims and header can be replaced, or left out with undefined. */
async function anAssertion(
  claims: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
  key: CryptoKey | Uint8Array = keys.privateKey,
  by = client,
): Promise<string> {
  const now = Math.floor(at.clock.now().getTime() / 1000);
  const payload = {
    iss: by.client_id,
    sub: by.client_id,
    aud: 'https://id.example.test',
    exp: now + 60,
    iat: now,
    jti: `assertion ${(count += 1)}`,
    ...claims,
  };
  return new SignJWT(JSON.parse(JSON.stringify(payload)) as Record<string, unknown>)
    .setProtectedHeader({ alg: 'ES256', kid: 'one', ...header })
    .sign(key);
}

const ask = (client_assertion: string, fields: Record<string, string | undefined> = {}) =>
  postForm(at, '/token', {
    grant_type: 'client_credentials',
    client_assertion_type: CLIENT_ASSERTION_TYPE,
    client_assertion,
    ...fields,
  });

describe('OpenID Connect Core §9, RFC 7523 §2.2, §3: private_key_jwt', () => {
  test('authenticates a client by what it signed', async () => {
    const answer = await ask(await anAssertion());
    expect(answer.statusCode).toBe(200);
  });

  test.each([
    ['our token endpoint as audience', { aud: 'https://id.example.test/token' }, {}],
    ['a list of one audience', { aud: ['https://id.example.test'] }, {}],
    ['a client clock 50 s ahead', { iat: 50, nbf: 50 }, {}],
    ['an explicit typ', {}, { typ: 'client-authentication+jwt' }],
  ])('accepts %s', async (_what, claims, header) => {
    const now = Math.floor(at.clock.now().getTime() / 1000);
    const moved = Object.fromEntries(
      Object.entries(claims).map(([name, value]) => [name, typeof value === 'number' ? now + value : value]),
    );
    expect((await ask(await anAssertion(moved, header))).statusCode).toBe(200);
  });

  test('accepts an assertion once, of twenty at the same time', async () => {
    const assertion = await anAssertion();
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(assertion)));
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
    expect(answers.filter(({ statusCode }) => statusCode === 401)).toHaveLength(19);
  });

  test.each([
    ["another server's audience", { aud: 'https://other.example' }],
    ['two audiences', { aud: ['https://id.example.test', 'https://other.example'] }],
    ['another iss', { iss: 'somebody' }],
    ['no jti', { jti: undefined }],
    ['no exp', { exp: undefined }],
    ['an exp in the past', { exp: -120 }],
    ['an exp an hour ahead', { exp: 3600 }],
    ['an nbf two minutes ahead', { nbf: 120 }],
    ['an iat two minutes ahead', { iat: 120 }],
  ])('refuses %s', async (_what, claims) => {
    const now = Math.floor(at.clock.now().getTime() / 1000);
    const moved = Object.fromEntries(
      Object.entries(claims).map(([name, value]) => [name, typeof value === 'number' ? now + value : value]),
    );
    const answer = await ask(await anAssertion(moved));
    expect(answer.statusCode).toBe(401);
    expect(answer.json()).toMatchObject({ error: 'invalid_client' });
  });

  test('refuses a foreign key under our kid, an HMAC with the public key, and no signature', async () => {
    const foreign = await aKey('one');
    expect((await ask(await anAssertion({}, {}, foreign.privateKey))).statusCode).toBe(401);
    const secret = new TextEncoder().encode(JSON.stringify(keys.jwk));
    expect((await ask(await anAssertion({}, { alg: 'HS256' }, secret))).statusCode).toBe(401);
    const [, payload] = (await anAssertion()).split('.');
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    expect((await ask(none)).statusCode).toBe(401);
  });

  test('refuses a key that the token itself brings', async () => {
    const foreign = await aKey('mine');
    const assertion = await anAssertion({}, { kid: 'mine', jwk: foreign.jwk }, foreign.privateKey);
    expect((await ask(assertion)).statusCode).toBe(401);
  });

  test('RFC 6749 §2.3: refuses a second method beside it, and another type of assertion', async () => {
    const assertion = await anAssertion();
    const two = await ask(assertion, { client_id: client.client_id, client_secret: 'a secret it does not have' });
    expect(two.json()).toMatchObject({ error: 'invalid_request' });
    const saml = await ask(assertion, {
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer',
    });
    expect(saml.json()).toMatchObject({ error: 'invalid_request' });
    expect((await ask(assertion)).statusCode).toBe(200);
  });

  test('accepts only the method a client registered', async () => {
    const secretive = await aService(at, { jwks: asJwks(keys.jwk) });
    expect((await ask(await anAssertion({}, {}, keys.privateKey, secretive))).statusCode).toBe(401);
    const web = await aClient(at, { token_endpoint_auth_method: 'private_key_jwt', jwks: asJwks(keys.jwk) });
    expect(web.client_secret).toBe('');
    const none = await postForm(at, '/token', { grant_type: 'client_credentials', client_id: client.client_id });
    expect(none.statusCode).toBe(401);
  });

  test('authenticates at introspection, revocation and PAR as at the token endpoint', async () => {
    for (const path of ['/introspect', '/revoke']) {
      const fields = { token: 'x', client_assertion_type: CLIENT_ASSERTION_TYPE };
      const right = await postForm(at, path, { ...fields, client_assertion: await anAssertion() });
      expect(right.statusCode).toBe(200);
      const wrong = await postForm(at, path, { ...fields, client_assertion: await anAssertion({ aud: 'x' }) });
      expect(wrong.statusCode).toBe(401);
    }
  });
});

test('CLIENT_ASSERTION_AUDIENCE=issuer: only the issuer, as a plain string', async () => {
  const strict = await testApp({
    config: { CLIENT_ASSERTION_AUDIENCE: 'issuer' },
    database: at.database,
    clock: at.clock,
  });
  const send = async (aud: unknown) =>
    (
      await postForm(strict, '/token', {
        grant_type: 'client_credentials',
        client_assertion_type: CLIENT_ASSERTION_TYPE,
        client_assertion: await anAssertion({ aud }),
      })
    ).statusCode;
  expect(await send('https://id.example.test')).toBe(200);
  expect(await send(['https://id.example.test'])).toBe(401);
  expect(await send('https://id.example.test/token')).toBe(401);
  await strict.close();
});

describe('keys that the client publishes (jwks_uri)', () => {
  let server: Server;
  let published: JWK[];
  let fetched = 0;
  let media_type: string;
  beforeEach(() => void (media_type = 'application/jwk-set+json'));
  let uri: string;
  let host: string;
  beforeAll(async () => {
    server = createServer((_request, response) => {
      fetched += 1;
      if (media_type !== '') response.setHeader('content-type', media_type);
      response.end(JSON.stringify({ keys: published }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    uri = `http://${host}/jwks`;
  });
  afterAll(() => {
    server.close();
  });

  test('are fetched, kept, and fetched again for an unknown kid', async () => {
    const app = await testApp({ clock: at.clock, config: { OUTBOUND_ALLOW: [host] } });
    const [old, next] = [await aKey('old'), await aKey('next')];
    await aService(app);
    const remote = await aService(app, { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: uri });
    const send = async (kid: string, key: CryptoKey) =>
      (
        await postForm(app, '/token', {
          grant_type: 'client_credentials',
          client_assertion_type: CLIENT_ASSERTION_TYPE,
          client_assertion: await anAssertion({}, { kid }, key, remote),
        })
      ).statusCode;
    published = [old.jwk];
    expect(await send('old', old.privateKey)).toBe(200);
    expect(await send('old', old.privateKey)).toBe(200);
    expect(fetched).toBe(1);
    published = [next.jwk];
    expect(await send('next', next.privateKey)).toBe(401);
    app.clock.advance(31);
    at.clock.advance(31);
    expect(await send('next', next.privateKey)).toBe(200);
    expect(fetched).toBe(2);
    await app.close();
  });

  test('RFC 7517 §5: keys of kinds that we do not know are ignored beside those that we do', async () => {
    const app = await testApp({ clock: at.clock, config: { OUTBOUND_ALLOW: [host] } });
    const key = await aKey('known');
    published = [{ kty: 'AKP', kid: 'new', alg: 'ML-DSA-44', pub: 'AA' }, key.jwk];
    await aService(app);
    const remote = await aService(app, { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: uri });
    const answer = await postForm(app, '/token', {
      grant_type: 'client_credentials',
      client_assertion_type: CLIENT_ASSERTION_TYPE,
      client_assertion: await anAssertion({}, { kid: 'known' }, key.privateKey, remote),
    });
    expect(answer.statusCode).toBe(200);
    await app.close();
  });

  test.each([
    ['application/jwk-set+json; charset=utf-8', 200],
    ['application/json', 200],
    ['text/plain; charset=utf-8', 200],
    ['application/octet-stream', 200],
    ['', 200],
    ['text/html; charset=utf-8', 401],
    ['application/xhtml+xml', 401],
    ['image/svg+xml', 401],
    ['text/javascript', 401],
  ])('RFC 7517 §8.5: what is %j is taken for a key set, or is none', async (type, status) => {
    const app = await testApp({ clock: at.clock, config: { OUTBOUND_ALLOW: [host] } });
    const key = await aKey('one');
    published = [key.jwk];
    media_type = type;
    const remote = await aService(app, { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: uri });
    const answer = await postForm(app, '/token', {
      grant_type: 'client_credentials',
      client_assertion_type: CLIENT_ASSERTION_TYPE,
      client_assertion: await anAssertion({}, { kid: 'one' }, key.privateKey, remote),
    });
    expect(answer.statusCode).toBe(status);
    await app.close();
  });

  test('a stranger with made-up kids neither locks the client out nor makes us fetch without end', async () => {
    const app = await testApp({ clock: at.clock, config: { OUTBOUND_ALLOW: [host] } });
    const [good, other] = [await aKey('good'), await aKey('made up')];
    await aService(app);
    const remote = await aService(app, { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: uri });
    const send = async (kid: string, key: CryptoKey) =>
      (
        await postForm(app, '/token', {
          grant_type: 'client_credentials',
          client_assertion_type: CLIENT_ASSERTION_TYPE,
          client_assertion: await anAssertion({}, { kid }, key, remote),
        })
      ).statusCode;
    published = [good.jwk];
    expect(await send('good', good.privateKey)).toBe(200);
    // From here on the client's endpoint is broken.
    published = [];
    app.clock.advance(31);
    at.clock.advance(31);
    const before = fetched;
    const junk = await Promise.all(Array.from({ length: 10 }, () => send('made up', other.privateKey)));
    expect(new Set(junk)).toEqual(new Set([401]));
    expect(fetched - before).toBe(1);
    expect(await send('good', good.privateKey)).toBe(200);
    await app.close();
  });

  test('what an operator had fetched from a private address is no stranger’s, though kept', async () => {
    const app = await testApp({ clock: at.clock, config: { OUTBOUND_ALLOW: [host], REGISTRATION: 'open' } });
    const key = await aKey('shared');
    published = [key.jwk];
    await aService(app);
    const operators = await aService(app, { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: uri });
    const { client_id } = (
      await app.app.inject({
        method: 'POST',
        url: '/register',
        payload: {
          redirect_uris: ['https://stranger.example.test/'],
          token_endpoint_auth_method: 'private_key_jwt',
          jwks_uri: uri,
        },
      })
    ).json<{ client_id: string }>();
    const strangers = { ...operators, client_id };
    const authenticates = async (by: AClient): Promise<boolean> =>
      (
        await postForm(app, '/revoke', {
          token: 'x',
          client_assertion_type: CLIENT_ASSERTION_TYPE,
          client_assertion: await anAssertion({}, { kid: 'shared' }, key.privateKey, by),
        })
      ).statusCode === 200;
    expect(await authenticates(operators)).toBe(true);
    expect(await authenticates(strangers)).toBe(false);
    expect(await authenticates(operators)).toBe(true);
    await app.close();
  });

  test('are out of reach at a private address, and the client is told no more than invalid_client', async () => {
    const app = await testApp({ clock: at.clock });
    await aService(app);
    const remote = await aService(app, { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: uri });
    const answer = await postForm(app, '/token', {
      grant_type: 'client_credentials',
      client_assertion_type: CLIENT_ASSERTION_TYPE,
      client_assertion: await anAssertion({}, {}, keys.privateKey, remote),
    });
    expect(answer.json()).toEqual({ error: 'invalid_client', error_description: 'client authentication failed' });
    await app.close();
  });
});

test('RFC 9864: who registered EdDSA may sign with Ed25519, which is the same, and the reverse; and with nothing else', async () => {
  const pair = await generateKeyPair('EdDSA');
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'okp' };
  for (const registered of ['EdDSA', 'Ed25519'] as const) {
    const by = await aService(at, {
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: registered,
      jwks: asJwks(jwk, keys.jwk),
    });
    for (const alg of ['EdDSA', 'Ed25519']) {
      expect((await ask(await anAssertion({}, { alg, kid: 'okp' }, pair.privateKey, by))).statusCode).toBe(200);
    }
    expect((await ask(await anAssertion({}, {}, keys.privateKey, by))).statusCode).toBe(401);
  }
});

test.each([
  ['without a point', { kty: 'EC' as const, crv: 'P-256', kid: 'one' }],
  ['of another kind', { kty: 'RSA' as const, kid: 'one' }],
  ['that is off its curve', { kty: 'EC' as const, crv: 'P-256', x: 'AA', y: 'AA', kid: 'one' }],
])('a registered key %s authenticates nobody, and is no server error', async (_what, jwk) => {
  const broken = await aService(at, { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [jwk] } });
  expect((await ask(await anAssertion({}, {}, keys.privateKey, broken))).statusCode).toBe(401);
});
