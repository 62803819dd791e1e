/** Request objects: which are accepted, which are not, and that both doors for authorization requests agree about it. */
import type { LightMyRequestResponse } from 'fastify';
import * as jose from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient, aPublicClient, aUser, aVerifier, credentials, postForm } from '../support/fixtures.ts';
import { REDIRECT_URI, redeem, signIn, TestBrowser, type AClient } from '../support/fixtures.ts';
import { answerTo, crossSitePost, expectErrorPage } from '../support/pages.ts';

const ISSUER = 'https://id.example.test';

let at: TestApp;
let client: AClient;
let other: AClient;
let user: Awaited<ReturnType<typeof aUser>>;
let browser: TestBrowser;
/** Private keys as JWKs, by kid. */
const keys: Record<'rsa' | 'ec' | 'okp' | 'foreign', jose.JWK> = {} as never;

const publicJwks = (...kids: Array<keyof typeof keys>) => ({
  keys: kids.map((kid) => {
    const { d: _d, p: _p, q: _q, dp: _dp, dq: _dq, qi: _qi, ...jwk } = keys[kid];
    return { ...jwk, kty: jwk.kty as 'EC' };
  }),
});

beforeAll(async () => {
  at = await testApp();
  for (const [kid, alg] of Object.entries({ rsa: 'RS256', ec: 'ES256', okp: 'EdDSA', foreign: 'ES256' })) {
    const { privateKey } = await jose.generateKeyPair(alg, { extractable: true });
    // A foreign key under the kid of one that is registered.
    keys[kid as 'rsa'] = { ...(await jose.exportJWK(privateKey)), kid: kid === 'foreign' ? 'ec' : kid };
  }
  client = await aClient(at, {
    skip_consent: true,
    jwks: publicJwks('rsa', 'ec', 'okp'),
    request_object_encryption_alg: 'RSA-OAEP-256',
    request_uris: ['https://app.example.test/requests/one.jwt'],
  });
  other = await aClient(at, { jwks: publicJwks('ec') });
  user = await aUser(at);
  browser = await signIn(at, user);
});
afterAll(() => at.close());

type Claims = Record<string, unknown>;
const now = (): number => Math.floor(at.clock.now().getTime() / 1000);

/** What an object says that any of our checks lets pass; members can be replaced, or left out with undefined. */
const theClaims = (claims: Claims = {}): Claims =>
  JSON.parse(
    JSON.stringify({
      iss: client.client_id,
      aud: ISSUER,
      exp: now() + 60,
      iat: now(),
      client_id: client.client_id,
      response_type: 'code',
      redirect_uri: REDIRECT_URI,
      scope: 'openid email',
      state: 'inner state',
      ...claims,
    }),
  ) as Claims;

async function anObject(claims: Claims = {}, header: Claims = {}, key = keys.ec): Promise<string> {
  return new jose.SignJWT(theClaims(claims))
    .setProtectedHeader({ alg: 'ES256', kid: key.kid!, typ: 'oauth-authz-req+jwt', ...header })
    .sign(key);
}

/** The same with any header and payload at all, which no library would sign. */
async function aRawObject(payload: string, header: Claims = {}): Promise<string> {
  const key = (await jose.importJWK(keys.ec, 'ES256')) as jose.CryptoKey;
  const input = [{ alg: 'ES256', kid: 'ec', ...header }, payload]
    .map((part) => Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, Buffer.from(input));
  return `${input}.${Buffer.from(signature).toString('base64url')}`;
}

async function encrypted(text: string, header: Claims = {}, alg = 'RSA-OAEP-256'): Promise<string> {
  const jwks = (await at.app.inject('/jwks')).json<{ keys: jose.JWK[] }>().keys;
  const jwk = jwks.find((key) => key.use === 'enc' && key.alg === alg)!;
  return new jose.CompactEncrypt(Buffer.from(text))
    .setProtectedHeader({ alg, enc: 'A256GCM', kid: jwk.kid!, cty: 'JWT', ...header })
    .encrypt(await jose.importJWK(jwk, alg));
}

type Fields = Record<string, string | undefined>;
const query = (fields: Fields): string =>
  new URLSearchParams(Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined))
    .toString()
    .replaceAll('+', '%20');
const get = (fields: Fields): Promise<LightMyRequestResponse> =>
  browser.get(`/authorize?${query({ client_id: client.client_id, ...fields })}`);
const push = (fields: Fields): Promise<LightMyRequestResponse> =>
  postForm(at, '/par', { ...credentials(client), ...fields });

describe('RFC 9101 §4, §5, §6: a signed object by value', () => {
  test.each([
    ['RS256', 'rsa'],
    ['RS512', 'rsa'],
    ['PS256', 'rsa'],
    ['ES256', 'ec'],
    ['EdDSA', 'okp'],
    ['Ed25519', 'okp'],
  ] as const)('signed with %s is accepted at /authorize, by GET and POST, and at /par', async (alg, kid) => {
    const request = await anObject({}, { alg }, keys[kid]);
    const answer = answerTo(client, await get({ request }));
    expect(answer).toEqual({ code: expect.any(String), state: 'inner state', iss: ISSUER });
    const posted = await crossSitePost(at, '/authorize', query({ client_id: client.client_id, request }));
    expect(posted.headers.location).toMatch(/\/interaction\/[\w-]+$/);
    const pushed = await push({ request });
    expect(pushed.statusCode).toBe(201);
    const { request_uri } = pushed.json<{ request_uri: string }>();
    expect(answerTo(client, await get({ request_uri }))).toMatchObject({ code: expect.any(String) });
  });

  test('RFC 9101 §6.3: only what is inside counts, whatever stands outside', async () => {
    const { code_verifier, code_challenge } = aVerifier();
    const request = await anObject({ code_challenge, code_challenge_method: 'S256', nonce: 'inner nonce' });
    const outside = {
      redirect_uri: 'https://evil.example/cb',
      response_type: 'token',
      response_mode: 'form_post',
      scope: 'openid profile offline_access',
      state: 'outer state',
      nonce: 'outer nonce',
      prompt: 'login',
      code_challenge: aVerifier().code_challenge,
    };
    const { code, state } = answerTo(client, await get({ request, ...outside }));
    expect(state).toBe('inner state');
    const tokens = await redeem(at, { code: code!, code_verifier, client, user, browser });
    const { scope, id_token } = tokens.json<{ scope: string; id_token: string }>();
    expect(scope).toBe('openid email');
    expect(jose.decodeJwt(id_token)).toMatchObject({ nonce: 'inner nonce' });
    expect((await push({ request, ...outside })).statusCode).toBe(201);
  });

  test('RFC 9101 §6.3: what is only outside is missing, and that goes to the redirect_uri inside', async () => {
    const request = await anObject({ response_type: undefined });
    const answer = answerTo(client, await get({ request, response_type: 'code', scope: 'openid' }));
    expect(answer).toMatchObject({ error: 'invalid_request', state: 'inner state' });
    // Without redirect_uri inside there is nowhere to go: the one outside does not count.
    const nowhere = await get({ request: await anObject({ redirect_uri: undefined }), redirect_uri: REDIRECT_URI });
    expectErrorPage(nowhere);
    expectErrorPage(await get({ request: await anObject({ redirect_uri: 'https://evil.example/cb' }) }));
  });

  test('RFC 9101 §4: max_age may be a number, claims an object, resource a list; other members are ignored', async () => {
    const request = await anObject({
      max_age: 3600,
      claims: { userinfo: { email: null } },
      resource: [ISSUER],
      jti: 'one',
      foo: { bar: [1] },
      nonce: '',
      display: null,
    });
    expect(answerTo(client, await get({ request }))).toMatchObject({ code: expect.any(String) });
    // RFC 9396 §3: they are a list there, as they are a text outside; of a type that there is not, they are refused.
    const details = await anObject({ authorization_details: [{ type: 'unknown' }] });
    expect(answerTo(client, await get({ request: details }))).toMatchObject({ error: 'invalid_authorization_details' });
    const late = await anObject({ max_age: 1, prompt: 'none' });
    at.clock.advance(2);
    expect(answerTo(client, await get({ request: late }))).toMatchObject({ error: 'login_required' });
    const unknown = await anObject({ resource: ['https://unknown.example'] });
    expect(answerTo(client, await get({ request: unknown }))).toMatchObject({ error: 'invalid_target' });
    expect((await push({ request: unknown })).json()).toMatchObject({ error: 'invalid_target' });
  });

  test.each<[string, Claims, Claims]>([
    ['no typ', {}, { typ: undefined }],
    ['typ JWT', {}, { typ: 'JWT' }],
    ['the full media type', {}, { typ: 'application/OAuth-Authz-Req+JWT' }],
    ['no iss, aud, exp or iat', { iss: undefined, aud: undefined, exp: undefined, iat: undefined }, {}],
    ['us among several audiences', { aud: ['https://other.example', ISSUER] }, {}],
    ['a client clock 50 s ahead', { iat: 50, nbf: 50 }, {}],
    ['a sub that is not the client', { sub: 'somebody' }, {}],
  ])('accepts %s', async (_what, claims, header) => {
    const moved = Object.fromEntries(
      Object.entries(claims).map(([name, value]) => [name, typeof value === 'number' ? now() + value : value]),
    );
    expect((await push({ request: await anObject(moved, header) })).statusCode).toBe(201);
  });

  test('has as much room in a form as a form has, and in an address what an address may have', async () => {
    const request = await anObject({ padding: 'x'.repeat(8000) });
    expect(answerTo(client, await get({ request }))).toHaveProperty('code');
    const large = await anObject({ padding: 'x'.repeat(40_000) });
    expect((await push({ request: large })).statusCode).toBe(201);
  });
});

describe('RFC 9101 §6.1: an encrypted object', () => {
  test.each([
    ['RSA-OAEP-256', 'A128CBC-HS256'],
    ['RSA-OAEP-256', 'A256GCM'],
    ['ECDH-ES', 'A256CBC-HS512'],
    ['ECDH-ES', 'A128GCM'],
  ])('with %s and %s is accepted', async (alg, enc) => {
    const request = await encrypted(await anObject(), { enc }, alg);
    expect(answerTo(client, await get({ request }))).toMatchObject({ code: expect.any(String), state: 'inner state' });
    expect((await push({ request })).statusCode).toBe(201);
  });

  test('is opened without a kid, and only for a client that registered for it', async () => {
    expect((await push({ request: await encrypted(await anObject(), { kid: undefined }) })).statusCode).toBe(201);
    const request = await encrypted(await anObject({ iss: other.client_id, client_id: other.client_id }));
    const refused = await push({ ...credentials(other), request });
    expect(refused.json()).toMatchObject({ error: 'invalid_request_object' });
  });
});

/** A JWE whose header was changed after it was made; what it would mean is never reached. */
const withHeader = (jwe: string, change: Claims): string => {
  const [header, ...rest] = jwe.split('.');
  const changed = { ...(JSON.parse(Buffer.from(header!, 'base64url').toString()) as Claims), ...change };
  return [Buffer.from(JSON.stringify(changed)).toString('base64url'), ...rest].join('.');
};

const symmetric = async (alg: string, key: Uint8Array): Promise<string> =>
  new jose.CompactEncrypt(Buffer.from(await anObject())).setProtectedHeader({ alg, enc: 'A256GCM' }).encrypt(key);

const bad: ReadonlyArray<[what: string, fields: () => Promise<Fields>, error?: string]> = [
  ['no signature', async () => ({ request: new jose.UnsecuredJWT(theClaims()).encode() })],
  ['an alg in other letters', async () => ({ request: `${btoa('{"alg":"None"}')}.${btoa('{}')}.` })],
  [
    'an HMAC with the public key',
    async () => ({
      request: await new jose.SignJWT(theClaims())
        .setProtectedHeader({ alg: 'HS256', kid: 'ec' })
        .sign(Buffer.from(JSON.stringify(publicJwks('ec').keys[0]))),
    }),
  ],
  [
    'an HMAC with the client secret',
    async () => ({
      request: await new jose.SignJWT(theClaims())
        .setProtectedHeader({ alg: 'HS256' })
        .sign(Buffer.from(client.client_secret)),
    }),
  ],
  ['a foreign key under a kid of the client', async () => ({ request: await anObject({}, {}, keys.foreign) })],
  [
    'a key that it brings itself',
    async () => ({
      request: await anObject({}, { kid: 'mine', jwk: publicJwks('foreign').keys[0] }, keys.foreign),
    }),
  ],
  ['a kid nobody knows', async () => ({ request: await anObject({}, { kid: 'unknown' }) })],
  [
    'a payload that was changed',
    async () => {
      const [header, , signature] = (await anObject()).split('.');
      const payload = Buffer.from(JSON.stringify(theClaims({ scope: 'openid offline_access' }))).toString('base64url');
      return { request: `${header}.${payload}.${signature}` };
    },
  ],
  ['something else', async () => ({ request: 'not a JWT' })],
  ['five parts of nothing', async () => ({ request: '....' })],
  ['another client inside', async () => ({ request: await anObject({ client_id: other.client_id }) })],
  ['no client inside', async () => ({ request: await anObject({ client_id: undefined }) })],
  ['a list of clients inside', async () => ({ request: await anObject({ client_id: [client.client_id] }) })],
  ['another iss', async () => ({ request: await anObject({ iss: other.client_id }) })],
  ['another aud', async () => ({ request: await anObject({ aud: 'https://other.example' }) })],
  ['no aud of several', async () => ({ request: await anObject({ aud: ['https://other.example', `${ISSUER}/`] }) })],
  ['an exp that is over', async () => ({ request: await anObject({ exp: now() - 61 }) })],
  ['an exp that is no number', async () => ({ request: await anObject({ exp: '9999999999' }) })],
  ['an nbf two minutes ahead', async () => ({ request: await anObject({ nbf: now() + 120 }) })],
  ['an iat two minutes ahead', async () => ({ request: await anObject({ iat: now() + 120 }) })],
  ['the client as sub (§10.8)', async () => ({ request: await anObject({ sub: client.client_id }) })],
  ['an object inside', async () => ({ request: await anObject({ request: await anObject() }) })],
  ['a request_uri inside', async () => ({ request: await anObject({ request_uri: 'https://app.example.test/r' }) })],
  ['the typ of an access token', async () => ({ request: await anObject({}, { typ: 'at+jwt' }) })],
  ['the typ of an assertion', async () => ({ request: await anObject({}, { typ: 'client-authentication+jwt' }) })],
  ['a payload that is no object', async () => ({ request: await aRawObject('["code"]') })],
  ['a payload that is no JSON', async () => ({ request: await aRawObject('{"client_id":') })],
  [
    'crit',
    async () => ({ request: await aRawObject(JSON.stringify(theClaims()), { crit: ['exp'], exp: now() + 60 }) }),
  ],
  [
    'an extension, although it changes nothing',
    async () => ({ request: await aRawObject(JSON.stringify(theClaims()), { crit: ['b64'], b64: true }) }),
  ],
  ['a null byte', async () => ({ request: await anObject({ state: 'a\u0000b' }) })],
  [
    'half a character',
    async () => ({ request: await aRawObject(JSON.stringify(theClaims()).replace('inner', String.raw`\ud800`)) }),
  ],
  [
    'half a character, deep inside',
    async () => ({ request: await anObject({ claims: { userinfo: { ['\ud800']: null } } }) }),
  ],
  ['a list where one value belongs', async () => ({ request: await anObject({ resource: [{}] }) })],
  [
    'nothing but depth',
    async () => ({
      request: await aRawObject(
        JSON.stringify(theClaims({ claims: '?' })).replace('"?"', `${'['.repeat(20_000)}${']'.repeat(20_000)}`),
      ),
    }),
  ],
  ['a JWE without a JWS inside', async () => ({ request: await encrypted(JSON.stringify(theClaims())) })],
  [
    'a JWE of what nobody signed',
    async () => ({ request: await encrypted(new jose.UnsecuredJWT(theClaims()).encode()) }),
  ],
  ['a JWE in a JWE', async () => ({ request: await encrypted(await encrypted(await anObject())) })],
  ['a JWE that was changed', async () => ({ request: (await encrypted(await anObject())).slice(0, -4) + 'AAAA' })],
  ['a JWE with zip', async () => ({ request: await encrypted(await anObject(), { zip: 'DEF' }) })],
  ['a JWE with crit', async () => ({ request: withHeader(await encrypted(await anObject()), { crit: ['exp'] }) })],
  ['a JWE with RSA1_5', async () => ({ request: withHeader(await encrypted(await anObject()), { alg: 'RSA1_5' }) })],
  [
    'a JWE with RSA-OAEP',
    async () => ({ request: withHeader(await encrypted(await anObject()), { alg: 'RSA-OAEP' }) }),
  ],
  [
    'a JWE for the key of another algorithm',
    async () => ({ request: withHeader(await encrypted(await anObject()), { alg: 'ECDH-ES' }) }),
  ],
  [
    'a JWE for a key nobody has',
    async () => ({ request: withHeader(await encrypted(await anObject()), { kid: 'x' }) }),
  ],
  ['a JWE with dir', async () => ({ request: await symmetric('dir', Buffer.alloc(32, 1)) })],
  [
    'a JWE with a wrapping secret',
    async () => ({ request: await symmetric('A256KW', Buffer.from(client.client_secret).subarray(0, 32)) }),
  ],
  [
    'a JWE with a password',
    async () => ({ request: await symmetric('PBES2-HS256+A128KW', Buffer.from(client.client_secret)) }),
  ],
];

describe.each(bad)('RFC 9101 §6, §10: %s', (_what, fields) => {
  test('is refused: on a page, at the registered redirect_uri outside, and as JSON', async () => {
    const sent = await fields();
    expectErrorPage(await get(sent), 'invalid_request_object');
    expectErrorPage(await get({ ...sent, redirect_uri: 'https://evil.example/cb' }), 'invalid_request_object');
    const { error_description, ...answer } = answerTo(
      client,
      await get({ ...sent, redirect_uri: REDIRECT_URI, state: 'outer state' }),
    );
    expect(answer).toEqual({ error: 'invalid_request_object', state: 'outer state', iss: ISSUER });
    expect(error_description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/);
    const pushed = await push(sent);
    expect(pushed.statusCode).toBe(400);
    expect(pushed.json()).toMatchObject({ error: 'invalid_request_object' });
  });
});

describe('parameters beside an object', () => {
  test.each<[what: string, text: (request: string) => string]>([
    ['request repeated', (request) => `&request=${request}&request=${request}`],
    ['request repeated, empty', (request) => `&request=${request}&request=`],
    ['a parameter that does not count repeated', (request) => `&request=${request}&nonce=1&nonce=2`],
    [
      'request and request_uri',
      (request) => `&request=${request}&request_uri=https://app.example.test/requests/one.jwt`,
    ],
  ])('%s: invalid_request', async (_what, text) => {
    const more = text(await anObject());
    expectErrorPage(await browser.get(`/authorize?client_id=${client.client_id}${more}`));
    const payload = `${query(credentials(client))}${more}`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const pushed = await at.app.inject({ method: 'POST', url: '/par', headers, payload });
    expect(pushed.json()).toMatchObject({ error: 'invalid_request' });
  });

  test('client_id outside is needed, and is that of the object', async () => {
    const request = await anObject();
    expectErrorPage(await browser.get(`/authorize?request=${request}`));
    expectErrorPage(await get({ client_id: other.client_id, request }), 'invalid_request_object');
    // RFC 9126 §3: at /par it is that of who authenticated.
    const pushed = await push({ ...credentials(other), request });
    expect(pushed.json()).toMatchObject({ error: 'invalid_request_object' });
  });

  test('an object authenticates nobody', async () => {
    const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
    const signing = await aClient(at, { token_endpoint_auth_method: 'private_key_jwt', jwks: publicJwks('ec') });
    const said = { iss: signing.client_id, client_id: signing.client_id, sub: signing.client_id, jti: 'one' };
    const client_assertion = await anObject(said);
    const answer = await postForm(at, '/par', { client_assertion_type, client_assertion });
    expect(answer.statusCode).toBe(401);
  });
});

describe('what a client registers of its objects', () => {
  test('OpenID Connect Registration §2: request_object_signing_alg is then the only one', async () => {
    const metadata = { jwks: publicJwks('rsa', 'ec', 'okp'), skip_consent: true };
    const strict = await aClient(at, { ...metadata, request_object_signing_alg: 'ES256' });
    const edwards = await aClient(at, { ...metadata, request_object_signing_alg: 'EdDSA' });
    const send = async (by: AClient, alg: string, kid: 'rsa' | 'ec' | 'okp') => {
      const claims = { iss: by.client_id, client_id: by.client_id };
      return (await push({ ...credentials(by), request: await anObject(claims, { alg }, keys[kid]) })).statusCode;
    };
    expect(await send(strict, 'ES256', 'ec')).toBe(201);
    expect(await send(strict, 'RS256', 'rsa')).toBe(400);
    expect(await send(edwards, 'Ed25519', 'okp')).toBe(201);
    expect(await send(edwards, 'ES256', 'ec')).toBe(400);
  });

  test('RFC 9101 §10.5: require_signed_request_object, of a client or the server, refuses other requests on a page', async () => {
    const plain = { response_type: 'code', redirect_uri: REDIRECT_URI, scope: 'openid' };
    const metadata = { jwks: publicJwks('ec'), skip_consent: true };
    const signing = await aClient(at, { ...metadata, require_signed_request_object: true });
    expectErrorPage(await get({ client_id: signing.client_id, ...plain }));
    expect((await push({ ...credentials(signing), ...plain })).json()).toMatchObject({ error: 'invalid_request' });
    const claims = { iss: signing.client_id, client_id: signing.client_id };
    const request = await anObject(claims);
    expect(answerTo(signing, await get({ client_id: signing.client_id, request }))).toHaveProperty('code');
    // What is not signed says nothing of where an error goes.
    const broken = await get({ client_id: signing.client_id, request: `${request}x`, ...plain });
    expectErrorPage(broken, 'invalid_request_object');

    const config = { REQUIRE_SIGNED_REQUEST_OBJECT: true };
    const strict = await testApp({ config, database: at.database, clock: at.clock });
    expectErrorPage(
      await new TestBrowser(strict).get(`/authorize?${query({ client_id: client.client_id, ...plain })}`),
    );
    const refused = await postForm(strict, '/par', { ...credentials(client), ...plain });
    expect(refused.json()).toMatchObject({ error: 'invalid_request' });
    const signed = await postForm(strict, '/par', { ...credentials(client), request: await anObject() });
    expect(signed.statusCode).toBe(201);
    const discovery = (await strict.app.inject('/.well-known/openid-configuration')).json<Claims>();
    expect(discovery).toMatchObject({ require_signed_request_object: true });
    await strict.close();
  });

  test('RFC 9126 §6: one that has to push is refused with an object by value', async () => {
    const metadata = { jwks: publicJwks('ec'), require_pushed_authorization_requests: true };
    const pushing = await aClient(at, metadata);
    const request = await anObject({ iss: pushing.client_id, client_id: pushing.client_id });
    const answer = await get({ client_id: pushing.client_id, request });
    expect(answerTo(pushing, answer)).toMatchObject({ error: 'invalid_request', state: 'inner state' });
  });

  test('RFC 7636 §4.4.1: one without a secret needs PKCE inside', async () => {
    const spa = await aPublicClient(at, { jwks: publicJwks('ec') });
    const claims = { iss: spa.client_id, client_id: spa.client_id };
    const outside = { client_id: spa.client_id, code_challenge: aVerifier().code_challenge };
    const answer = await get({ ...outside, code_challenge_method: 'S256', request: await anObject(claims) });
    expect(answerTo(spa, answer)).toMatchObject({ error: 'invalid_request', state: 'inner state' });
  });

  test('one without keys has no objects, and an object is no parameter of the token endpoint', async () => {
    const keyless = await aClient(at);
    const claims = { iss: keyless.client_id, client_id: keyless.client_id };
    const answer = await push({ ...credentials(keyless), request: await anObject(claims) });
    expect(answer.json()).toMatchObject({ error: 'invalid_request_object' });
    const inside = await anObject({ grant_type: 'client_credentials' });
    const token = await postForm(at, '/token', { ...credentials(client), request: inside });
    expect(token.json()).toMatchObject({ error: 'invalid_request' });
  });
});
