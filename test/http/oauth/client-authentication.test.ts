/** The same attacks on every door that authenticates clients: none may be the one that forgot a check. */
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { sql } from 'kysely';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEVICE_GRANT } from '../../../src/protocol/client.ts';
import type { ClientMetadataInput } from '../../../src/protocol/client-metadata.ts';
import { CLIENT_ASSERTION_TYPE } from '../../../src/protocol/jwt-assertion.ts';
import { metadata } from '../../../src/http/oauth/discovery.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { aClient, anAuthorizationCode, aUser, signIn, type AClient, type TestBrowser } from '../../support/fixtures.ts';
import { basic, basicOf, expectRefusal, formOf, postRaw } from '../../support/oauth.ts';

const ISSUER = 'https://id.example.test';
const STRANGER = 'https://evil.example.test';
type Fields = Record<string, string | undefined>;

/** The doors by the name that discovery has for them: what a client sends there, and what it is answered. */
const doors = {
  token_endpoint: { path: '/token', good: 200, fields: redeemable },
  introspection_endpoint: { path: '/introspect', good: 200, fields: () => ({ token: 'x' }) },
  revocation_endpoint: { path: '/revoke', good: 200, fields: () => ({ token: 'x' }) },
  pushed_authorization_request_endpoint: {
    path: '/par',
    good: 201,
    fields: ({ redirect_uri }) => ({ response_type: 'code', redirect_uri, ...CHALLENGE }),
  },
  device_authorization_endpoint: { path: '/device_authorization', good: 200, fields: () => ({ scope: 'openid' }) },
} as const satisfies Record<string, { path: string; good: number; fields(client: AClient): Fields | Promise<Fields> }>;
type Door = { path: string; good: number; fields(client: AClient): Fields | Promise<Fields> };
const CHALLENGE = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' };

/** Endpoints where nobody is authenticated as a client. */
const OTHERS = ['authorization_endpoint', 'userinfo_endpoint', 'registration_endpoint', 'end_session_endpoint'];

let at: TestApp;
let browser: TestBrowser;
let keys: { privateKey: CryptoKey; publicKey: CryptoKey; jwk: JWK };
let foreign: CryptoKey;
let foreignJwk: JWK;
/** Of each kind one, otherwise alike; the one with a secret has the keys registered, too. */
let clients: Record<'secret' | 'keys' | 'open', AClient>;

beforeAll(async () => {
  at = await testApp({ config: { REGISTRATION: 'open' } });
  browser = await signIn(at, await aUser(at));
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const other = await generateKeyPair('ES256');
  [foreign, foreignJwk] = [other.privateKey, await exportJWK(other.publicKey)];
  keys = { privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' } };
  const jwks = { keys: [keys.jwk] } as ClientMetadataInput['jwks'];
  const alike: Partial<ClientMetadataInput> = {
    grant_types: ['authorization_code', 'refresh_token', DEVICE_GRANT],
    skip_consent: true,
  };
  clients = {
    secret: await aClient(at, { ...alike, jwks }),
    keys: await aClient(at, { ...alike, jwks, token_endpoint_auth_method: 'private_key_jwt' }),
    open: await aClient(at, { ...alike, token_endpoint_auth_method: 'none' }),
  };
});
afterAll(() => at.close());

async function redeemable(client: AClient): Promise<Fields> {
  const { code, code_verifier } = await anAuthorizationCode(at, { client, browser });
  return { grant_type: 'authorization_code', code, code_verifier, redirect_uri: client.redirect_uri };
}

const now = (): number => Math.floor(at.clock.now().getTime() / 1000);
let count = 0;

/** An assertion by which `keys` authenticates; claims and header can be replaced, or left out with undefined. */
function assertion(
  claims: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
  key: CryptoKey | Uint8Array = keys.privateKey,
): Promise<string> {
  const { client_id } = clients.keys;
  const payload = {
    iss: client_id,
    sub: client_id,
    aud: ISSUER,
    exp: now() + 60,
    jti: `jti ${(count += 1)}`,
    ...claims,
  };
  return new SignJWT(JSON.parse(JSON.stringify(payload)) as Record<string, unknown>)
    .setProtectedHeader({ alg: 'ES256', kid: 'one', ...header })
    .sign(key);
}

const asserted = (client_assertion: string, more: Fields = {}): Attempt => ({
  fields: { client_assertion_type: CLIENT_ASSERTION_TYPE, client_assertion, ...more },
});
const signed = async (...args: Parameters<typeof assertion>): Promise<Attempt> => asserted(await assertion(...args));

/** The credentials of one request. */
interface Attempt {
  fields?: Fields;
  authorization?: string;
  /** More of the body, as it stands. */
  raw?: string;
  query?: string;
}
type Make = (door: Door) => Attempt | Promise<Attempt>;
type Case = [what: string, who: keyof typeof clients, make: Make, error?: 'invalid_client' | 'invalid_request'];

const named = (client: AClient): Fields => ({ client_id: client.client_id });
const both = ({ client_id, client_secret }: AClient): Fields => ({ client_id, client_secret });

const cases: Case[] = [
  // A client with a secret.
  ['no credentials but its name', 'secret', () => ({ fields: named(clients.secret) })],
  ['a wrong secret in the body', 'secret', () => ({ fields: { ...named(clients.secret), client_secret: 'a guess' } })],
  ['a wrong secret in the header', 'secret', () => ({ authorization: basicOf(`${clients.secret.client_id}:a guess`) })],
  ['an empty secret in the body', 'secret', () => ({ fields: { ...named(clients.secret), client_secret: '' } })],
  ['an empty secret in the header', 'secret', () => ({ authorization: basicOf(`${clients.secret.client_id}:`) })],
  ['a secret without a name', 'secret', () => ({ fields: { client_secret: clients.secret.client_secret } })],
  ['Basic that cannot be decoded', 'secret', () => ({ authorization: basicOf(`${clients.secret.client_id}:%zz`) })],
  ['Basic without a colon', 'secret', () => ({ authorization: basicOf(clients.secret.client_id) })],
  ['Basic that is no base64', 'secret', () => ({ authorization: 'Basic ****' })],
  ['Basic and nothing', 'secret', () => ({ authorization: 'Basic' })],
  ['another scheme', 'secret', () => ({ authorization: basic(clients.secret).replace('Basic', 'Digest') })],
  ['its secret as a bearer token', 'secret', () => ({ authorization: `Bearer ${clients.secret.client_secret}` })],
  ['its secret in the query', 'secret', () => ({ fields: named(clients.secret), query: formOf(both(clients.secret)) })],
  ['all credentials in the query', 'secret', () => ({ query: formOf(both(clients.secret)) })],
  ['an assertion of a key it registered', 'secret', () => signed(ofClient('secret'))],
  [
    'header and body at once',
    'secret',
    () => ({ authorization: basic(clients.secret), fields: both(clients.secret) }),
    'invalid_request',
  ],
  [
    'a secret and an assertion',
    'secret',
    async () => ({ fields: { ...both(clients.secret), ...(await signed(ofClient('secret'))).fields } }),
    'invalid_request',
  ],
  [
    'Basic and an assertion',
    'secret',
    async () => ({ authorization: basic(clients.secret), ...(await signed(ofClient('secret'))) }),
    'invalid_request',
  ],
  [
    'another client_id beside Basic',
    'secret',
    () => ({ authorization: basic(clients.secret), fields: named(clients.open) }),
    'invalid_request',
  ],
  [
    'client_id twice',
    'secret',
    () => ({ fields: both(clients.secret), raw: formOf(named(clients.secret)) }),
    'invalid_request',
  ],
  [
    'client_secret twice',
    'secret',
    () => ({ fields: both(clients.secret), raw: 'client_secret=x' }),
    'invalid_request',
  ],

  // A client with a key.
  ['no credentials but its name', 'keys', () => ({ fields: named(clients.keys) })],
  [
    'a type of assertion and no assertion',
    'keys',
    () => ({ fields: { ...named(clients.keys), client_assertion_type: CLIENT_ASSERTION_TYPE } }),
  ],
  ['a secret', 'keys', () => ({ fields: { ...named(clients.keys), client_secret: 'a secret it does not have' } })],
  ['Basic', 'keys', () => ({ authorization: basicOf(`${clients.keys.client_id}:`) })],
  ['an assertion used at this door before', 'keys', ({ path }) => used(path)],
  ['an assertion used at another door before', 'keys', ({ path }) => used(path === '/par' ? '/revoke' : '/par')],
  ['an assertion for another server', 'keys', () => signed({ aud: 'https://other.example.test' })],
  ['an assertion for us and another', 'keys', () => signed({ aud: [ISSUER, 'https://other.example.test'] })],
  ['an assertion for us under two names', 'keys', () => signed({ aud: [ISSUER, `${ISSUER}/token`] })],
  ['an assertion for nobody', 'keys', () => signed({ aud: undefined })],
  ['an assertion for the issuer with a slash', 'keys', () => signed({ aud: `${ISSUER}/` })],
  [
    'an assertion for a door other than the token endpoint',
    'keys',
    ({ path }) => signed({ aud: ISSUER + (path === '/token' ? '/par' : path) }),
  ],
  ['an assertion that has expired', 'keys', () => signed({ exp: now() - 61 })],
  ['an assertion that is not valid yet', 'keys', () => signed({ nbf: now() + 61 })],
  ['an assertion from the future', 'keys', () => signed({ iat: now() + 61 })],
  ['an assertion good for more than five minutes', 'keys', () => signed({ exp: now() + 361 })],
  ['an assertion without exp', 'keys', () => signed({ exp: undefined })],
  ['an assertion with exp as text', 'keys', () => signed({ exp: String(now() + 60) })],
  ['an assertion without jti', 'keys', () => signed({ jti: undefined })],
  ['an assertion with an empty jti', 'keys', () => signed({ jti: '' })],
  ['an assertion without iss', 'keys', () => signed({ iss: undefined })],
  ['an assertion without sub', 'keys', () => signed({ sub: undefined })],
  ['an assertion of another issuer', 'keys', () => signed({ iss: clients.secret.client_id })],
  ['an assertion about an unknown client', 'keys', () => signed({ iss: 'nobody', sub: 'nobody' })],
  ['an assertion about a client without keys', 'keys', () => signed(ofClient('open'))],
  ['an assertion of a foreign key under its kid', 'keys', () => signed({}, {}, foreign)],
  ['an assertion that brings its own key', 'keys', () => signed({}, { kid: 'mine', jwk: foreignJwk }, foreign)],
  [
    'an assertion that says where its key is',
    'keys',
    () => signed({}, { jku: 'https://evil.example.test/jwks' }, foreign),
  ],
  ['an assertion without signature (alg none)', 'keys', unsigned],
  [
    'an HMAC with the public key as PEM',
    'keys',
    async () => signed({}, { alg: 'HS256' }, bytes(await exportSPKI(keys.publicKey))),
  ],
  ['an HMAC with the public key as JWK', 'keys', () => signed({}, { alg: 'HS256' }, bytes(JSON.stringify(keys.jwk)))],
  ['an access token’s typ', 'keys', () => signed({}, { typ: 'at+jwt' })],
  ['a text that is no JWT', 'keys', () => asserted('not.a.jwt')],
  [
    'another client_id beside the assertion',
    'keys',
    async () => asserted(await assertion(), named(clients.open)),
    'invalid_request',
  ],
  [
    'an assertion of another type',
    'keys',
    async () =>
      asserted(await assertion(), {
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer',
      }),
    'invalid_request',
  ],
  [
    'an assertion without a type',
    'keys',
    async () => asserted(await assertion(), { client_assertion_type: undefined }),
    'invalid_request',
  ],
  [
    'two assertions',
    'keys',
    async () => ({ ...(await signed()), raw: formOf({ client_assertion: await assertion() }) }),
    'invalid_request',
  ],
  ['an assertion in the query', 'keys', async () => ({ query: formOf((await signed()).fields!) })],

  // A client that can prove nothing.
  ['a secret', 'open', () => ({ fields: { ...named(clients.open), client_secret: 'a secret it does not have' } })],
  ['Basic with an empty secret', 'open', () => ({ authorization: basicOf(`${clients.open.client_id}:`) })],
  ['the name of a client there is not', 'open', () => ({ fields: { client_id: 'nobody' } })],
  ['a name that no client can have', 'open', () => ({ fields: { client_id: 'a b\u0000' } }), 'invalid_request'],
  ['its name in the query', 'open', () => ({ query: formOf(named(clients.open)) })],
  [
    'its name twice',
    'open',
    () => ({ fields: named(clients.open), raw: formOf(named(clients.open)) }),
    'invalid_request',
  ],
  ['nothing at all', 'open', () => ({})],
];

const ofClient = (who: keyof typeof clients) => ({ iss: clients[who].client_id, sub: clients[who].client_id });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function unsigned(): Promise<Attempt> {
  const [, payload] = (await assertion()).split('.');
  return asserted(`${Buffer.from('{"alg":"none","kid":"one"}').toString('base64url')}.${payload}.`);
}

/** An assertion that authenticated a request before, if not a good one. */
async function used(path: string): Promise<Attempt> {
  const attempt = await signed();
  const first = await postRaw(at, path, formOf({ grant_type: 'refresh_token', refresh_token: 'x', ...attempt.fields }));
  expect(first.json()).not.toMatchObject({ error: 'invalid_client' });
  return attempt;
}

/** Sends it from a network of its own: nobody's guesses slow another's down. */
function knock({ path }: Door, fields: Fields, attempt: Attempt): Promise<LightMyRequestResponse> {
  const body = [formOf({ ...fields, ...attempt.fields }), attempt.raw].filter(Boolean).join('&');
  const headers = {
    origin: STRANGER,
    ...(attempt.authorization !== undefined && { authorization: attempt.authorization }),
  };
  const url = attempt.query === undefined ? path : `${path}?${attempt.query}`;
  return postRaw(at, url, body, headers, `198.18.${(count += 1) % 250}.${count % 250}`);
}

/** Everything that a request could have used up or left behind. */
async function stored(): Promise<unknown> {
  const tables = [
    'authorization_codes',
    'device_codes',
    'pushed_requests',
    'refresh_tokens',
    'access_tokens',
    'revoked_tokens',
    'grants',
    'replays',
  ];
  const rows = sql.join(tables.map((table) => sql`(select json_agg(t order by t::text) from ${sql.table(table)} t)`));
  const { rows: all } = await sql`select json_build_array(${rows}) as rows`.execute(at.deps.db);
  return all;
}

test('every endpoint that discovery names is here, or is known to authenticate no client', async () => {
  const named = Object.keys(metadata(at.deps.config, await at.deps.directory.scopes(), new Map())).filter((member) =>
    member.endsWith('_endpoint'),
  );
  expect(named.toSorted()).toEqual([...Object.keys(doors), ...OTHERS].toSorted());
});

describe.each(Object.entries<Door>(doors))('%s', (name, door) => {
  let fields: Record<keyof typeof clients, Fields>;
  beforeAll(async () => {
    const { secret, keys: withKeys, open } = clients;
    fields = { secret: await door.fields(secret), keys: await door.fields(withKeys), open: await door.fields(open) };
  });

  test.each(cases)('RFC 6749 §5.2: %s (%s client) is refused, and leaves nothing', async (what, who, make, error) => {
    const attempt = await make(door);
    const before = await stored();
    const answer = await knock(door, fields[who], attempt);
    const expected = error ?? 'invalid_client';
    expectRefusal(answer, expected === 'invalid_client' ? 401 : 400, expected);
    const { headers } = answer;
    // RFC 6749 §5.2: the challenge is for those who tried the header.
    const challenged = expected === 'invalid_client' && attempt.authorization !== undefined;
    expect(headers['www-authenticate'], what).toEqual(
      challenged ? `Basic realm="${ISSUER}", charset="UTF-8"` : undefined,
    );
    for (const header of ['access-control-allow-origin', 'access-control-allow-credentials', 'set-cookie']) {
      expect(headers).not.toHaveProperty(header);
    }
    expect(await stored()).toEqual(before);
  });

  test('OpenID Connect Core §16.12: whoever fails is told the same: unknown, wrong secret, wrong method, wrong key', async () => {
    const attempts: Attempt[] = [
      { fields: { client_id: 'nobody', client_secret: 'a guess' } },
      { fields: { ...named(clients.secret), client_secret: 'a guess' } },
      { fields: { ...named(clients.open), client_secret: 'a guess' } },
      { fields: named(clients.keys) },
      { fields: { client_id: 'nobody' } },
      await signed({}, {}, foreign),
      await signed({ iss: 'nobody', sub: 'nobody' }),
    ];
    const answers = await Promise.all(attempts.map((attempt) => knock(door, fields.secret, attempt)));
    const told = answers.map(({ statusCode, body }) => ({ statusCode, body }));
    expect(new Set(told.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });

  // Last: with the very requests that were refused so often.
  test('RFC 6749 §2.3: made right, the same requests are answered: in the body, in the header, signed, and by name', async () => {
    const { good } = door;
    expect((await knock(door, fields.secret, { authorization: basic(clients.secret) })).statusCode).toBe(good);
    const again = await door.fields(clients.secret);
    expect((await knock(door, again, { fields: both(clients.secret) })).statusCode).toBe(good);
    expect((await knock(door, fields.keys, await signed({ aud: `${ISSUER}/token` }))).statusCode).toBe(good);
    const open = await knock(door, fields.open, { fields: named(clients.open) });
    // RFC 7662 §2.1: who can prove nothing is told nothing.
    expect(open.statusCode).toBe(name === 'introspection_endpoint' ? 401 : good);
  });
});
