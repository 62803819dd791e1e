/** Answers in a JWT (JARM): what is in them, who can read them, and that nobody gets anything else who asked for one. */
import fc from 'fast-check';
import * as jose from 'jose';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setClientDisabled } from '../../src/clients/disabling.ts';
import type { ClientMetadataInput } from '../../src/protocol/client-metadata.ts';
import { algsInUse } from '../../src/store/keys.ts';
import { transact } from '../../src/store/postgres/db.ts';
import type { User } from '../../src/store/users.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aNetwork, anEncryptionKey, jwksOf, opened, type EncryptionPair } from '../support/encryption.ts';
import {
  aClient,
  aPublicClient,
  asOfBefore,
  aUser,
  authorizationUrl,
  BY,
  changeClient,
  credentials,
  postForm,
  REDIRECT_URI,
  signIn,
  TestBrowser,
  type AClient,
} from '../support/fixtures.ts';
import { recordStatements } from '../support/lists.ts';
import { answerTo, crossSitePost, expectErrorPage, follow, open, proceed, stepOf, submit } from '../support/pages.ts';

const ISSUER = 'https://id.example.test';
const KEYS_AT = 'https://app.example.test/jwks';
const MODES = ['jwt', 'query.jwt', 'form_post.jwt'] as const;
type Fields = Record<string, string | undefined>;

const published: Record<string, unknown> = {};
const network = aNetwork(published);
let at: TestApp;
let client: AClient;
let user: User;
let browser: TestBrowser;
let rsa: EncryptionPair;
let ec: EncryptionPair;
beforeAll(async () => {
  at = await testApp({ fetch: network.fetch });
  client = await aClient(at, { skip_consent: true });
  user = await aUser(at);
  browser = await signIn(at, user);
  [rsa, ec] = [await anEncryptionKey('RSA-OAEP-256'), await anEncryptionKey('ECDH-ES')];
});
afterAll(() => at.close());

const ask = (of: AClient, parameters: Fields = {}, by = browser, more = ''): Promise<LightMyRequestResponse> =>
  by.get(authorizationUrl(ISSUER, of, { response_mode: 'jwt', ...parameters }) + more);

const count = async (table: 'authorization_codes' | 'grants'): Promise<number> => {
  const counted = at.deps.db.selectFrom(table).select(({ fn }) => fn.countAll<string>().as('count'));
  return Number((await counted.executeTakeFirstOrThrow()).count);
};

/** What a form posts, all of it; undefined where there is no form that leads to the client. */
function posted(page: LightMyRequestResponse): Record<string, string> | undefined {
  const [form] = /<form id="form-post"[^]*?<\/form>/.exec(page.body) ?? [];
  if (form === undefined) return undefined;
  const inputs = [...form.matchAll(/<input[^>]*name="([^"]*)"[^>]*value="([^"]*)"/g)];
  return Object.fromEntries(inputs.map(([, name, value]) => [name, value]));
}

/** The JWT of an answer, beside which there is nothing (§2.3). */
function responseIn(of: AClient, answer: LightMyRequestResponse): string {
  const fields = posted(answer) ?? answerTo(of, answer, answer.statusCode === 303 ? 303 : 302);
  expect(Object.keys(fields)).toEqual(['response']);
  return fields['response']!;
}

/** Reads a JWT as its client does (§2.4), and leaves out what is the same in all. */
async function read(of: AClient, response: string, alg = 'RS256'): Promise<jose.JWTPayload> {
  const { body } = await at.app.inject({ url: '/jwks', headers: { host: 'id.example.test' } });
  const { payload, protectedHeader } = await jose.jwtVerify(
    response,
    jose.createLocalJWKSet(JSON.parse(body) as jose.JSONWebKeySet),
    { issuer: ISSUER, audience: of.client_id, currentDate: at.clock.now(), algorithms: [alg] },
  );
  expect(protectedHeader).toEqual({ alg, kid: expect.any(String) as string });
  const { iss: _iss, aud, exp, error_description: _words, ...said } = payload;
  expect(aud).toBe(of.client_id);
  expect(exp! - at.clock.now().getTime() / 1000).toBe(300);
  return said;
}

const told = async (of: AClient, answer: LightMyRequestResponse, alg?: string): Promise<jose.JWTPayload> =>
  read(of, responseIn(of, answer), alg);

const CODE = expect.stringMatching(/^[0-9a-z]+_[\w-]{43}$/) as string;

/** A client whose answers are encrypted to the key that it publishes. */
const secretive = (metadata: Partial<ClientMetadataInput> = {}): Promise<AClient> =>
  aClient(at, { jwks_uri: KEYS_AT, authorization_encrypted_response_alg: 'RSA-OAEP-256', ...metadata });

/** Another minute: what is known of the keys of clients is asked for again. */
const forgetKeys = (): void => at.clock.advance(360);

describe.each(MODES)('response_mode=%s', (response_mode) => {
  test.each(['a state', `"><script>alert('x')</script>&code=evil#ﷺ`])(
    'JARM §2.1, §2.3.1, §2.3.3, §2.3.4: a code comes with iss, aud, exp and state %j, all in one JWT and nothing beside it',
    async (state) => {
      const answer = await ask(client, { response_mode, state });
      expect(await told(client, answer)).toEqual({ code: CODE, state });
      expect(answer.statusCode).toBe(response_mode === 'form_post.jwt' ? 200 : 302);
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers['content-security-policy'] ?? '').not.toContain('form-action');
    },
  );

  test.each<[what: string, error: string, parameters: Fields, more?: string]>([
    ['another response_type', 'unsupported_response_type', { response_type: 'token' }],
    ['no scope that it may have', 'invalid_scope', { scope: 'nothing' }],
    ['a prompt that is none', 'invalid_request', { prompt: 'dance' }],
    ['a parameter twice', 'invalid_request', {}, '&nonce=1&nonce=2'],
    ['its response_mode twice', 'invalid_request', {}, '&response_mode=query'],
    ['an unknown resource', 'invalid_target', { resource: 'https://nowhere.example.test' }],
    ['registration', 'registration_not_supported', { registration: '{}' }],
    ['a request object that is none', 'invalid_request_object', { request: 'nothing' }],
    ['a hint that is none', 'invalid_request', { id_token_hint: 'nothing' }],
    ['an acr that nobody has', 'unmet_authentication_requirements', { claims: acrOf('unheard-of') }],
  ])('JARM §2.1: a refusal is in a JWT too: %s', async (_what, error, parameters, more = '') => {
    const before = await count('authorization_codes');
    const answer = await ask(client, { response_mode, ...parameters }, browser, more);
    expect(await told(client, answer)).toEqual({ error, state: 'a state' });
    expect(await count('authorization_codes')).toBe(before);
  });

  test('JARM §2.1: what prompt=none cannot have, and what a person refuses, is said in a JWT', async () => {
    const asks = await aClient(at);
    const silent = { response_mode, prompt: 'none' };
    expect(await told(client, await ask(client, silent, new TestBrowser(at)))).toMatchObject({
      error: 'login_required',
    });
    expect(await told(asks, await ask(asks, silent))).toMatchObject({ error: 'consent_required' });
    const consent = await open(browser, asks, { response_mode });
    expect(stepOf(consent)).toBe('consent');
    const denied = await proceed(browser, consent, { action: 'deny' });
    expect(await told(asks, denied.response)).toEqual({ error: 'access_denied', state: 'a state' });
    const stranger = new TestBrowser(at);
    const login = await open(stranger, asks, { response_mode });
    expect(login.response.headers['content-security-policy']).not.toContain('form-action');
    const left = await proceed(stranger, login, { action: 'cancel' });
    expect(await told(asks, left.response)).toEqual({ error: 'access_denied', state: 'a state' });
  });

  test('JARM §2.3: a pushed request keeps its mode, whatever the browser adds, and a request object says it inside', async () => {
    const { privateKey, publicKey } = await jose.generateKeyPair('ES256');
    const jwks = { keys: [{ ...(await jose.exportJWK(publicKey)), kty: 'EC' as const }] };
    const signs = await aClient(at, { skip_consent: true, jwks });
    const inside = {
      response_type: 'code',
      redirect_uri: REDIRECT_URI,
      scope: 'openid',
      state: 'inside',
      response_mode,
    };
    const pushed = await postForm(at, '/par', { ...credentials(signs), ...inside });
    const { request_uri } = pushed.json<{ request_uri: string }>();
    const beside = { response_mode: 'query', state: 'outside' };
    expect(await told(signs, await ask(signs, { ...beside, request_uri }))).toEqual({ code: CODE, state: 'inside' });
    const request = await new jose.SignJWT({ ...inside, client_id: signs.client_id })
      .setProtectedHeader({ alg: 'ES256', typ: 'oauth-authz-req+jwt' })
      .setIssuer(signs.client_id)
      .setAudience(ISSUER)
      .setExpirationTime(at.clock.now().getTime() / 1000 + 60)
      .sign(privateKey);
    expect(await told(signs, await ask(signs, { ...beside, request }))).toEqual({ code: CODE, state: 'inside' });
  });
});

function acrOf(value: string): string {
  return JSON.stringify({ id_token: { acr: { essential: true, value } } });
}

describe('signed and encrypted', () => {
  test('JARM §2.2, §3: authorization_signed_response_alg is what it is signed with', async () => {
    const es256 = await aClient(at, { skip_consent: true, authorization_signed_response_alg: 'ES256' });
    expect(await told(es256, await ask(es256), 'ES256')).toMatchObject({ code: CODE });
    expect(await told(es256, await ask(es256, { scope: 'nothing' }), 'ES256')).toMatchObject({
      error: 'invalid_scope',
    });
  });

  test.each([
    ['RSA-OAEP-256', undefined, 'A128CBC-HS256', () => rsa],
    ['ECDH-ES', 'A256GCM', 'A256GCM', () => ec],
  ] as const)(
    'JARM §2.2, §3, §5.4: encrypted with %s it is a signed JWT inside, for the client alone',
    async (alg, asked, enc, key) => {
      const of = await aClient(at, {
        skip_consent: true,
        jwks: jwksOf(key().jwk),
        authorization_encrypted_response_alg: alg,
        authorization_encrypted_response_enc: asked,
      });
      for (const [parameters, said] of [
        [{}, { code: CODE, state: 'a state' }],
        [{ prompt: 'dance' }, { error: 'invalid_request', state: 'a state' }],
      ] as const) {
        const jwe = responseIn(of, await ask(of, parameters));
        expect(jwe.split('.')).toHaveLength(5);
        const { header, text } = await opened(jwe, key().privateKey);
        expect(header).toMatchObject({ alg, enc, cty: 'JWT', kid: key().jwk.kid });
        expect(await read(of, text)).toEqual(said);
      }
    },
  );

  test('JARM §2.4, §5.3: the answer to one client is none to another, and none after five minutes', async () => {
    const other = await aClient(at);
    const response = responseIn(client, await ask(client));
    await expect(read(other, response)).rejects.toThrow(/"aud"/);
    const now = at.clock.now();
    const late = { ...at, clock: { now: () => new Date(now.getTime() + 301_000) } };
    const { body } = await late.app.inject({ url: '/jwks', headers: { host: 'id.example.test' } });
    const keys = jose.createLocalJWKSet(JSON.parse(body) as jose.JSONWebKeySet);
    await expect(jose.jwtVerify(response, keys, { currentDate: late.clock.now() })).rejects.toThrow(/"exp"/);
  });

  test('JARM §5.2: a code is good once and for its client, in whatever JWT it came', async () => {
    const other = await aClient(at);
    const { code } = (await told(client, await ask(client))) as { code: string };
    const redeem = (of: AClient): Promise<LightMyRequestResponse> => {
      const grant = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
      return postForm(at, '/token', { ...credentials(of), ...grant });
    };
    expect((await redeem(other)).json()).toMatchObject({ error: 'invalid_grant' });
    expect((await redeem(client)).statusCode).toBe(200);
    expect((await redeem(client)).json()).toMatchObject({ error: 'invalid_grant' });
  });

  test('JARM §5.1: the longest answer is of a size that addresses may have, and names its key', async () => {
    const of = await aClient(at, { jwks: jwksOf(rsa.jwk), authorization_encrypted_response_alg: 'RSA-OAEP-256' });
    const answer = await ask(of, { state: '€'.repeat(2048), prompt: 'none' });
    expect(answer.headers.location!.length).toBeLessThan(16_384);
    expect(jose.decodeProtectedHeader(responseIn(of, answer))).toHaveProperty('kid');
  });

  test('it is neither an ID token nor an access token, nor the word of a client', async () => {
    const id_token_hint = responseIn(client, await ask(client));
    expect(await told(client, await ask(client, { id_token_hint }))).toMatchObject({ error: 'invalid_request' });
    const headers = { host: 'id.example.test', authorization: `Bearer ${id_token_hint}` };
    expect((await at.app.inject({ url: '/userinfo', headers })).statusCode).toBe(401);
    expect(await told(client, await ask(client, { request: id_token_hint }))).toMatchObject({
      error: 'invalid_request_object',
    });
  });
});

describe('nobody takes the JWT away', () => {
  test.each([
    [['jwt'], 'query', 'query'],
    [['query.jwt'], undefined, 'query'],
    [['jwt'], 'form_post', 'query'],
    [['form_post.jwt'], 'query', 'form'],
    [['form_post.jwt'], 'jwt', 'form'],
    [['query.jwt'], 'fragment', 'query'],
    [['query', 'form_post.jwt'], 'jwt', 'form'],
  ] as const)(
    'JARM §2.3: a client of %j that seems to ask for %s is refused in a JWT, by %s',
    async (open_modes, mode, way) => {
      const strict = await aClient(at, { skip_consent: true, response_modes: [...open_modes] });
      const before = await count('grants');
      const parameters = { response_mode: mode as string | undefined };
      const answers = [
        await ask(strict, parameters),
        await crossSitePost(at, '/authorize', new URL(authorizationUrl(ISSUER, strict, parameters)).search.slice(1)),
      ];
      for (const answer of answers) {
        expect(await told(strict, answer)).toEqual({ error: 'invalid_request', state: 'a state' });
        expect(posted(answer) === undefined).toBe(way === 'query');
      }
      const fields = { response_type: 'code', redirect_uri: REDIRECT_URI, scope: 'openid', ...parameters };
      const pushed = await postForm(at, '/par', { ...credentials(strict), ...fields });
      expect([pushed.statusCode, pushed.json()]).toMatchObject([400, { error: 'invalid_request' }]);
      expect(await count('grants')).toBe(before);
    },
  );

  test.each(['fragment.jwt', 'nothing.jwt'])(
    'JARM §2.3, specification §What the service does 4: %s, which is not there, is refused in a JWT',
    async (response_mode) => {
      const answer = await ask(client, { response_mode });
      expect(await told(client, answer)).toEqual({ error: 'invalid_request', state: 'a state' });
      expect(answer.headers.location).not.toContain('#');
    },
  );

  test('whoever is registered for jwt may say query.jwt, and the reverse', async () => {
    for (const [registered, response_mode] of [
      ['jwt', 'query.jwt'],
      ['query.jwt', 'jwt'],
    ] as const) {
      const of = await aClient(at, { skip_consent: true, response_modes: [registered] });
      expect(await told(of, await ask(of, { response_mode }))).toMatchObject({ code: CODE });
    }
  });

  test('a client that is registered for plain answers alone gets no code in a JWT', async () => {
    const plain = await aClient(at, { skip_consent: true, response_modes: ['query'] });
    expect(await told(plain, await ask(plain))).toEqual({ error: 'invalid_request', state: 'a state' });
  });

  test('no page posts to a private-use scheme: the refusal of form_post.jwt is a JWT in the query', async () => {
    const redirect_uris = ['com.example.app:/cb'];
    const native = await aPublicClient(at, { application_type: 'native', redirect_uris });
    const answer = await ask(native, { response_mode: 'form_post.jwt' });
    expect(await told(native, answer)).toEqual({ error: 'invalid_request', state: 'a state' });
  });
});

describe('what changes between request and answer', () => {
  test('JARM §2.2: a key of the client that is not to be had costs nobody anything: a page, and later the answer', async () => {
    published[KEYS_AT] = undefined;
    const of = await secretive();
    const consent = await open(browser, of, { response_mode: 'jwt' });
    const before = [await count('grants'), await count('authorization_codes')];
    const resumed = (await submit(browser, consent, { action: 'approve' })).headers.location!;
    for (let tries = 0; tries < 2; tries += 1) {
      const page = await browser.get(resumed);
      expectErrorPage(page, 'temporarily_unavailable', 503);
      expect(page.headers['retry-after']).toBe('30');
      expect(page.body).not.toContain(REDIRECT_URI);
    }
    expect([await count('grants'), await count('authorization_codes')]).toEqual(before);
    published[KEYS_AT] = jwksOf(rsa.jwk);
    at.clock.advance(31);
    const answer = await browser.get(resumed);
    const { text } = await opened(responseIn(of, answer), rsa.privateKey);
    expect(await read(of, text)).toEqual({ code: CODE, state: 'a state' });
    expectErrorPage(await browser.get(resumed));
  });

  test('neither a refusal nor prompt=none is told in any other way meanwhile, and no refusal is used up', async () => {
    published[KEYS_AT] = jwksOf(ec.jwk);
    const of = await secretive();
    forgetKeys();
    expectErrorPage(await ask(of, { prompt: 'none' }), 'temporarily_unavailable', 503);
    expectErrorPage(await ask(of, { scope: 'nothing' }), 'temporarily_unavailable', 503);
    const denied = await submit(browser, await open(browser, of, { response_mode: 'jwt' }), { action: 'deny' });
    expectErrorPage(await browser.get(denied.headers.location!), 'temporarily_unavailable', 503);
    const fields = { response_type: 'code', redirect_uri: REDIRECT_URI, scope: 'email', response_mode: 'jwt' };
    const { request_uri } = (await postForm(at, '/par', { ...credentials(of), ...fields })).json<{
      request_uri: string;
    }>();
    await changeClient(at, of, { scope: 'openid' });
    at.deps.directory.clear();
    expectErrorPage(await ask(of, { request_uri }), 'temporarily_unavailable', 503);
    published[KEYS_AT] = jwksOf(rsa.jwk);
    at.clock.advance(31);
    for (const [answer, error] of [
      [await browser.get(denied.headers.location!), 'access_denied'],
      [await ask(of, { request_uri }), 'invalid_scope'],
    ] as const) {
      const { text } = await opened(responseIn(of, answer), rsa.privateKey);
      expect(await read(of, text)).toMatchObject({ error });
    }
    expectErrorPage(await ask(of, { request_uri }), 'invalid_request_uri');
  });

  test('it is encrypted and signed as the client is registered when it is answered', async () => {
    published[KEYS_AT] = jwksOf(rsa.jwk);
    forgetKeys();
    const of = await secretive();
    const consent = await open(browser, of, { response_mode: 'jwt' });
    const newer = await anEncryptionKey('RSA-OAEP-256');
    published[KEYS_AT] = jwksOf(newer.jwk);
    forgetKeys();
    await changeClient(at, of, { authorization_signed_response_alg: 'ES256' });
    at.deps.directory.clear();
    const { response } = await proceed(browser, consent, { action: 'approve' });
    const { text } = await opened(responseIn(of, response), newer.privateKey);
    expect(await read(of, text, 'ES256')).toMatchObject({ code: CODE });
  });

  test.each<[what: string, change: Partial<ClientMetadataInput>]>([
    ['may use plain answers alone', { response_modes: ['query'] }],
    ['has lost the scope', { scope: 'email' }],
  ])('a client that %s by then is told so in a JWT', async (_what, change) => {
    const of = await aClient(at);
    const consent = await open(browser, of, { response_mode: 'form_post.jwt', scope: 'openid' });
    await changeClient(at, of, change);
    at.deps.directory.clear();
    const { response } = await follow(browser, await submit(browser, consent, { action: 'approve' }));
    expect(await told(of, response)).toMatchObject({ error: expect.stringMatching(/^invalid_/) as string });
  });

  test('a client that is disabled by then, and a request that waited too long, are answered by a page alone', async () => {
    const of = await aClient(at);
    const consent = await open(browser, of, { response_mode: 'jwt' });
    const late = await open(browser, await aClient(at), { response_mode: 'jwt' });
    await transact(at.deps.db, (trx) => setClientDisabled(trx, of.client_id, true, BY, at.clock.now()));
    at.deps.directory.clear();
    expectErrorPage(await submit(browser, consent, { action: 'approve' }));
    at.clock.advance(3601);
    const page = await browser.get(late.url);
    expectErrorPage(page);
    expect(page.body).not.toContain('response=');
  });

  test('JARM §3: an algorithm that this server has no key for is refused when it is asked for, and cannot be registered', async () => {
    await expect(aClient(at, { authorization_signed_response_alg: 'PS256' })).rejects.toThrow('SIGNING_ALGS');
    const of = await aClient(at);
    const here = await signIn(at, user);
    const consent = await open(here, of, { response_mode: 'jwt' });
    await asOfBefore(at, of, { authorization_signed_response_alg: 'PS256' });
    // Its key is kept as long as somebody is registered for it.
    expect(await algsInUse(at.deps.db)).toContain('PS256');
    const before = await count('grants');
    expectErrorPage(await ask(of));
    expectErrorPage(await ask(of, { scope: 'nothing', response_mode: 'form_post.jwt' }));
    const fields = { response_type: 'code', redirect_uri: REDIRECT_URI, scope: 'openid', response_mode: 'jwt' };
    expect((await postForm(at, '/par', { ...credentials(of), ...fields })).json()).toEqual({
      error: 'invalid_request',
      error_description: 'this server has no key to sign an answer with PS256',
    });
    expectErrorPage((await follow(here, await submit(here, consent, { action: 'approve' }))).response);
    expect(answerTo(of, await ask(of, { response_mode: undefined, prompt: 'none' }))).toMatchObject({ iss: ISSUER });
    expect(await count('grants')).toBe(before);
  });
});

test('whatever stands in a request, nothing fails here, and who says jwt is answered in a JWT or by a page', async () => {
  const redirect_uris = ['com.example.app:/cb'];
  const clients = [
    client,
    await aClient(at, { skip_consent: true, response_modes: ['query'] }),
    await aClient(at, { skip_consent: true, response_modes: ['form_post.jwt'] }),
    await aPublicClient(at, { application_type: 'native', redirect_uris, response_modes: ['form_post.jwt'] }),
    await secretive({ skip_consent: true, authorization_encrypted_response_alg: 'ECDH-ES' }),
  ];
  const mode = fc.oneof(
    fc.constantFrom('jwt', 'query.jwt', 'form_post.jwt', 'fragment.jwt', '.jwt', 'JWT', 'query', 'form_post', ''),
    fc.string({ unit: 'binary', maxLength: 20 }),
  );
  const odd = fc.string({ unit: fc.constantFrom(...'a.=&#?%"<>\u0000\r\n€', '\u{1F30D}', 'eyJhbGciOiJub25lIn0.e30.') });
  const names = 'state prompt scope claims request request_uri nonce response_type client_id redirect_uri'.split(' ');
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...clients),
      fc.array(mode, { maxLength: 3 }),
      fc.array(fc.tuple(fc.constantFrom(...names), odd), { maxLength: 2 }),
      fc.boolean(),
      async (of, modes, others, byForm) => {
        const url = new URL(authorizationUrl(ISSUER, of));
        for (const response_mode of modes) url.searchParams.append('response_mode', response_mode);
        for (const [name, value] of others) url.searchParams.append(name, value);
        const answer = await (byForm ? crossSitePost(at, '/authorize', url.search.slice(1)) : browser.get(url.href));
        // A key that cannot be had is answered 503, and is no failure of ours.
        expect([200, 302, 303, 400, of === clients[4] ? 503 : 200]).toContain(answer.statusCode);
        const { location = '' } = answer.headers;
        const isAnswer = posted(answer) !== undefined || (location !== '' && !location.startsWith(ISSUER));
        const saysJwt = modes.some((one) => one === 'jwt' || one.endsWith('.jwt'));
        if (isAnswer && (saysJwt || of === clients[2] || of === clients[3])) responseIn(of, answer);
      },
    ),
    { numRuns: 50 },
  );
});

test('whoever asks for no JWT pays for none: no key is fetched, and a JWT wants no statement more', async () => {
  published[KEYS_AT] = jwksOf(rsa.jwk);
  forgetKeys();
  const here = await signIn(at, user);
  const of = await secretive({ skip_consent: true });
  await ask(of, { response_mode: undefined }, here);
  network.asked.length = 0;
  const statements = recordStatements();
  try {
    const plain = await ask(of, { response_mode: undefined }, here);
    const withoutJwt = statements.take().map(({ text }) => text);
    expect(answerTo(of, plain)).toHaveProperty('code');
    expect(network.asked).toEqual([]);
    responseIn(of, await ask(of, {}, here));
    expect(statements.take().map(({ text }) => text)).toEqual(withoutJwt);
    expect(network.asked).toEqual([KEYS_AT]);
  } finally {
    statements.stop();
  }
});
