import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type CryptoKey, type JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testApp, type TestApp } from '../support/app.ts';

const ISSUER = 'https://authority.example.test';
const DOCUMENT = { redirect_uris: ['https://my.example/callback'], client_name: 'What I call myself' };
const REGISTER = 'https://id.example.test/register';

let at: TestApp;
let server: Server;
let published: JWK[] = [];
let fetches = 0;
let key: CryptoKey;

async function aKey(kid: string): Promise<{ jwk: JWK; privateKey: CryptoKey }> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' } };
}

beforeAll(async () => {
  const { jwk, privateKey } = await aKey('one');
  published = [jwk];
  key = privateKey;
  server = createServer((_request, response) => {
    fetches += 1;
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: published }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  at = await testApp({
    config: {
      REGISTRATION: 'open',
      OUTBOUND_ALLOW: [host],
      SOFTWARE_STATEMENT_ISSUERS: [{ issuer: ISSUER, jwks_uri: `http://${host}/jwks` }],
    },
  });
});
afterAll(async () => {
  server.close();
  await at.close();
});

const seconds = (): number => Math.floor(at.clock.now().getTime() / 1000);
const CLAIMS = { iss: ISSUER, client_name: 'The Real App', software_id: 'real-app', software_version: '2.1' };

const signed = (
  claims: Record<string, unknown> = CLAIMS,
  header: Record<string, unknown> = {},
  by: CryptoKey | Uint8Array = key,
): Promise<string> => new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one', ...header }).sign(by);

const send = (body: object, to = at, { url = '/register', token }: { url?: string; token?: string } = {}) =>
  to.app.inject({
    method: token === undefined ? 'POST' : 'PUT',
    url,
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    payload: JSON.stringify(body),
  });

describe('RFC 7591 §2.3: software statements', () => {
  test('RFC 7591 §3.1.1: what it says comes before what the request says; §3.2.1: it comes back as it was', async () => {
    const software_statement = await signed();
    // A name that somebody vouches for is the only one, whoever reads it.
    const own = { 'client_name#de': 'Ihre Bank', software_version: '9' };
    const answer = await send({ ...DOCUMENT, ...own, software_statement });
    expect(answer.statusCode).toBe(201);
    const document = answer.json<Record<string, string>>();
    expect(document).not.toHaveProperty('client_name#de');
    const { iss: _iss, ...vouched } = CLAIMS;
    expect(document).toMatchObject({ ...DOCUMENT, ...vouched, software_statement });
    expect(document).not.toHaveProperty('iss');

    const url = `/register/${document['client_id']}`;
    const token = document['registration_access_token']!;
    const read = await at.app.inject({ url, headers: { authorization: `Bearer ${token}` } });
    expect(read.json()).toMatchObject({ ...vouched, software_statement });

    // RFC 7592 §2.2: what a replacement leaves out is gone, the statement too.
    const { client_id } = document;
    const replaced = await send({ ...DOCUMENT, client_id }, at, { url, token });
    expect(replaced.json()).toMatchObject(DOCUMENT);
    for (const member of ['software_statement', 'software_id']) expect(replaced.json()).not.toHaveProperty(member);
    const again = await send({ ...DOCUMENT, client_id, software_statement: `${software_statement}x` }, at, {
      url,
      token: replaced.json<{ registration_access_token: string }>().registration_access_token,
    });
    expect(again.json()).toMatchObject({ error: 'invalid_software_statement' });
  });

  test.each([
    ['for us', { aud: 'https://id.example.test' }, {}],
    ['for our registration endpoint among others', { aud: ['https://other.example', REGISTER] }, {}],
    ['within its time', { iat: -10, nbf: -10, exp: 60 }, {}],
    ['by a clock 50 s ahead', { iat: 50, nbf: 50 }, {}],
    ['that says it is a JWT', {}, { typ: 'JWT' }],
  ])('accepts one %s', async (_what, claims: Record<string, unknown>, header) => {
    const times = Object.entries(claims).map(([n, value]) => [
      n,
      typeof value === 'number' ? seconds() + value : value,
    ]);
    const software_statement = await signed({ ...CLAIMS, ...Object.fromEntries(times) }, header);
    expect((await send({ ...DOCUMENT, software_statement })).statusCode).toBe(201);
  });

  test('sets nothing that only an operator may, and no more scope than is open to strangers', async () => {
    const claims = { ...CLAIMS, skip_consent: true, may_introspect: true, access_token_ttl: 9, scope: 'openid groups' };
    const answer = await send({
      ...DOCUMENT,
      software_statement: await signed({ ...claims, registered_by: 'operator' }),
    });
    expect(answer.json()).toMatchObject({ skip_consent: false, may_introspect: false, scope: 'openid' });
    expect(answer.json()).not.toHaveProperty('access_token_ttl');
    const row = await at.deps.db
      .selectFrom('clients')
      .select('registered_by')
      .where('client_id', '=', answer.json<{ client_id: string }>().client_id)
      .executeTakeFirst();
    expect(row).toEqual({ registered_by: 'self' });
  });

  test('what it says is checked like what anybody says', async () => {
    const claims = { ...CLAIMS, redirect_uris: ['http://my.example/#x'] };
    const answer = await send({ ...DOCUMENT, software_statement: await signed(claims) });
    expect(answer.json()).toMatchObject({ error: 'invalid_redirect_uri' });
  });

  const hs256 = new TextEncoder().encode('a shared secret of thirty-two bytes, or more');
  test.each<[string, () => unknown]>([
    ['of a stranger’s key', async () => signed(CLAIMS, {}, (await aKey('one')).privateKey)],
    ['without a signature', () => new UnsecuredJWT(CLAIMS).encode()],
    ['with a shared secret', () => signed(CLAIMS, { alg: 'HS256' }, hs256)],
    ['that has expired', () => signed({ ...CLAIMS, exp: seconds() - 61 })],
    ['not valid yet', () => signed({ ...CLAIMS, nbf: seconds() + 61 })],
    ['issued in the future', () => signed({ ...CLAIMS, iat: seconds() + 61 })],
    ['issued at a word', () => signed({ ...CLAIMS, iat: 'now' })],
    ['for another server', () => signed({ ...CLAIMS, aud: 'https://other.example' })],
    ['for nobody', () => signed({ ...CLAIMS, aud: [] })],
    ['that is an access token', () => signed(CLAIMS, { typ: 'at+jwt' })],
    ['without an issuer', () => signed({ client_name: 'x' })],
    ['that is no JWT', () => 'statement'],
    ['with a line break', async () => `${await signed()}\n`],
    ['that is no text', () => ({ alg: 'none' })],
    ['without end', () => `a.${'b'.repeat(20_000)}.c`],
  ])('RFC 7591 §3.2.2: refuses one %s as invalid_software_statement', async (_what, make) => {
    const answer = await send({ ...DOCUMENT, software_statement: await make() });
    expect([answer.statusCode, answer.json()]).toMatchObject([400, { error: 'invalid_software_statement' }]);
  });

  test.each(['https://stranger.example', 'constructor', '__proto__', `${ISSUER}/`])(
    'RFC 7591 §3.2.2: refuses one of %s as unapproved_software_statement',
    async (iss) => {
      const answer = await send({ ...DOCUMENT, software_statement: await signed({ ...CLAIMS, iss }) });
      expect([answer.statusCode, answer.json()]).toMatchObject([400, { error: 'unapproved_software_statement' }]);
    },
  );

  test('where no issuer is trusted it is refused, not ignored; an initial access token is needed as ever', async () => {
    const closed = await testApp({ config: { REGISTRATION: 'token' }, database: at.database, clock: at.clock });
    const software_statement = await signed();
    expect((await send({ ...DOCUMENT, software_statement }, closed)).json()).toMatchObject({
      error: 'unapproved_software_statement',
    });
    await closed.close();
    const { SOFTWARE_STATEMENT_ISSUERS, OUTBOUND_ALLOW } = at.deps.config;
    const config = { REGISTRATION: 'token', SOFTWARE_STATEMENT_ISSUERS, OUTBOUND_ALLOW } as const;
    const trusting = await testApp({ config, database: at.database, clock: at.clock });
    expect((await send({ ...DOCUMENT, software_statement }, trusting)).json()).toMatchObject({
      error: 'invalid_token',
    });
    await trusting.close();
  });

  test('a key that the issuer began to use since is fetched; made-up ones cause one fetch in half a minute', async () => {
    at.clock.advance(31);
    const two = await aKey('two');
    published = [...published, two.jwk];
    const before = fetches;
    const statement = await signed(CLAIMS, { kid: 'two' }, two.privateKey);
    expect((await send({ ...DOCUMENT, software_statement: statement })).statusCode).toBe(201);
    for (const kid of ['three', 'four', 'five']) {
      const forged = await signed(CLAIMS, { kid }, two.privateKey);
      expect((await send({ ...DOCUMENT, software_statement: forged })).json()).toMatchObject({
        error: 'invalid_software_statement',
      });
    }
    expect(fetches).toBe(before + 1);
  });

  test('a stranger who names the issuer’s address, and may not have it fetched, is not in its way', async () => {
    at.clock.advance(301);
    const { jwks_uri } = at.deps.config.SOFTWARE_STATEMENT_ISSUERS[0]!;
    const strangers = at.deps.clientKeys.keysOf({ jwks: null, jwks_uri, registered_by: 'self' });
    const before = fetches;
    await expect(strangers({ alg: 'ES256', kid: 'one' }, { payload: '', signature: '' })).rejects.toThrow('no keys');
    expect(fetches).toBe(before);
    expect((await send({ ...DOCUMENT, software_statement: await signed() })).statusCode).toBe(201);
    expect(fetches).toBe(before + 1);
  });
});
