import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reapClients } from '../../src/workers/reap-clients.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  anAuthorizationCode,
  aUser,
  changeClient,
  introspect,
  redeem,
  signIn,
  someTokens,
} from '../support/fixtures.ts';

let at: TestApp;
beforeAll(async () => {
  at = await testApp({ config: { REGISTRATION: 'open' } });
});
afterAll(() => at.close());

const DOCUMENT = { client_name: 'My App', redirect_uris: ['https://my.example/callback'] };

interface Registered extends Record<string, unknown> {
  client_id: string;
  client_secret: string;
  registration_access_token: string;
  registration_client_uri: string;
}

const send = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  { body, token, to = at }: { body?: unknown; token?: string; to?: TestApp } = {},
) =>
  to.app.inject({
    method,
    url,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { payload: JSON.stringify(body) }),
  });

const registered = async (document: Record<string, unknown> = DOCUMENT): Promise<Registered> =>
  (await send('POST', '/register', { body: document })).json();

describe('RFC 7591 §3: client registration', () => {
  test('OpenID Connect Registration §2: what a client says of its requests is kept, and shown', async () => {
    const said = { default_max_age: 0, require_auth_time: true, default_acr_values: ['2'], response_modes: ['jwt'] };
    const document = await registered({ ...DOCUMENT, ...said, authorization_signed_response_alg: 'ES256' });
    expect(document).toMatchObject({ ...said, authorization_signed_response_alg: 'ES256' });
    const { registration_client_uri: uri, registration_access_token: token } = document;
    expect((await send('GET', new URL(uri).pathname, { token })).json()).toMatchObject(said);
    const unsaid = await registered();
    for (const name of ['default_max_age', 'default_acr_values', 'response_modes', 'authorization_signed_response_alg'])
      expect(unsaid).not.toHaveProperty(name);
  });

  test('RFC 7591 §3.2.1: answers 201 with id, secret, and what manages them; the client works', async () => {
    const answer = await send('POST', '/register', { body: DOCUMENT });
    expect(answer.statusCode).toBe(201);
    expect(answer.headers['cache-control']).toBe('no-store');
    const document = answer.json<Registered>();
    expect(document).toMatchObject({
      ...DOCUMENT,
      client_secret_expires_at: 0,
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['authorization_code'],
      response_types: ['code'],
      registration_client_uri: `https://id.example.test/register/${document.client_id}`,
    });
    const client = { ...document, redirect_uri: DOCUMENT.redirect_uris[0]! };
    const tokens = await someTokens(at, { client });
    expect(tokens.tokens.scope).toBe('openid profile email');
    expect(tokens.tokens.refresh_token).toBeUndefined();
  });

  test('RFC 7591 §2: members that are not understood, or are the operator’s to set, are ignored', async () => {
    const document = await registered({
      ...DOCUMENT,
      skip_consent: true,
      may_introspect: true,
      access_token_ttl: 86_400,
      made_up: 1,
      'redirect_uris#de': 'https://my.example/callback',
    });
    expect(document).toMatchObject({ skip_consent: false, may_introspect: false });
    expect(document).not.toHaveProperty('access_token_ttl');
    for (const name of ['made_up', 'redirect_uris#de']) expect(document).not.toHaveProperty(name);
  });

  test('RFC 7591 §3.2.1: the answer has every member that was registered, and the client reads the same', async () => {
    const document = {
      redirect_uris: ['https://my.example/callback', 'https://my.example/other'],
      post_logout_redirect_uris: ['https://my.example/bye'],
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token'],
      application_type: 'web',
      contacts: ['ada@my.example'],
      client_name: 'My App',
      'client_name#de': 'Meine App',
      'client_name#ja-Kana-JP': 'マイアプリ',
      'tos_uri#de': 'https://my.example/nutzung',
      client_uri: 'https://my.example/',
      logo_uri: 'https://my.example/logo.png',
      policy_uri: 'https://my.example/policy',
      tos_uri: 'https://my.example/tos',
      software_id: 'my-app',
      software_version: '1.2.3',
      jwks_uri: 'https://my.example/jwks',
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: 'ES256',
      id_token_signed_response_alg: 'ES256',
      initiate_login_uri: 'https://my.example/start',
      backchannel_logout_uri: 'https://my.example/logout',
      backchannel_logout_session_required: true,
      require_pushed_authorization_requests: true,
      scope: 'openid email',
    };
    const { client_id, registration_access_token: token, ...rest } = await registered(document);
    expect(rest).toMatchObject(document);
    expect(rest).not.toHaveProperty('client_secret');
    const read = (await send('GET', `/register/${client_id}`, { token })).json<Registered>();
    expect(read).toEqual({ client_id, registration_access_token: token, ...rest });
  });

  test('gets no more scope than is open to strangers', async () => {
    const document = await registered({ ...DOCUMENT, scope: 'openid email groups notes:write account' });
    expect(document['scope']).toBe('openid email');
    // Nor by asking for none: what is open is given, and looking after accounts is not.
    expect((await registered(DOCUMENT))['scope']).not.toContain('account');
  });

  test.each([
    ['a fragment', { redirect_uris: ['https://my.example/#here'] }, 'invalid_redirect_uri'],
    ['http to another machine', { redirect_uris: ['http://my.example/'] }, 'invalid_redirect_uri'],
    ['javascript:', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['data:', { redirect_uris: ['data:text/html,x'] }, 'invalid_redirect_uri'],
    ['a wildcard', { redirect_uris: ['https://*.my.example/'] }, 'invalid_redirect_uri'],
    ['no redirect_uris', { redirect_uris: [] }, 'invalid_redirect_uri'],
    ['redirect_uris that are no list', { redirect_uris: 'https://my.example/' }, 'invalid_redirect_uri'],
    [
      'an unknown authentication method',
      { token_endpoint_auth_method: 'client_secret_jwt' },
      'invalid_client_metadata',
    ],
    ['an unknown grant', { grant_types: ['password'] }, 'invalid_client_metadata'],
    ['the implicit response type', { response_types: ['token'] }, 'invalid_client_metadata'],
    ['client_credentials', { grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    ['private_key_jwt without keys', { token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
    ['a request_uri over http', { request_uris: ['http://my.example/r.jwt'] }, 'invalid_client_metadata'],
    ['request objects without a signature', { request_object_signing_alg: 'none' }, 'invalid_client_metadata'],
    ['a login page over http', { initiate_login_uri: 'http://my.example/start' }, 'invalid_client_metadata'],
    ['a software_id that is no text', { software_id: 7 }, 'invalid_client_metadata'],
    ['a hybrid response type', { response_types: ['code id_token'] }, 'invalid_client_metadata'],
    ['sign-out that ends anywhere', { post_logout_redirect_uris: ['http://my.example/'] }, 'invalid_redirect_uri'],
    ['a logo over ftp', { logo_uri: 'ftp://my.example/logo.png' }, 'invalid_client_metadata'],
    ['a null byte in its name', { client_name: 'a\u0000b' }, 'invalid_client_metadata'],
    ['a name that turns around', { client_name: 'Goog\u202Ele' }, 'invalid_client_metadata'],
    ['a null byte in a key', { jwks: { keys: [{ kty: 'EC', x: '\u0000' }] } }, 'invalid_client_metadata'],
    ['a key with a coordinate that is no text', { jwks: { keys: [{ kty: 'EC', x: 5 }] } }, 'invalid_client_metadata'],
    ['a key with a list inside a list', { jwks: { keys: [{ kty: 'EC', x5c: [['x']] }] } }, 'invalid_client_metadata'],
    ['only keys of kinds we do not know', { jwks: { keys: [{ kty: 'AKP', pub: 'AA' }] } }, 'invalid_client_metadata'],
    ['a private key of such a kind', { jwks: { keys: [{ kty: 'AKP', d: 'x' }] } }, 'invalid_client_metadata'],
    ['a private key in jwks', { jwks: { keys: [{ kty: 'EC', d: 'x' }] } }, 'invalid_client_metadata'],
  ])('RFC 7591 §3.2.2: refuses %s', async (_what, document, error) => {
    const answer = await send('POST', '/register', { body: { ...DOCUMENT, ...document } });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ error });
  });

  test('RFC 7517 §4: members of a key that mean nothing are not kept, however deep they are', async () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    const register = (member: string) =>
      at.app.inject({
        method: 'POST',
        url: '/register',
        headers: { 'content-type': 'application/json' },
        payload: `{"redirect_uris":["https://my.example/"],"jwks":{"keys":[{"kty":"EC","crv":"P-256","${member}":${deep}}]}}`,
      });
    const kept = await register('mine');
    expect(kept.statusCode).toBe(201);
    expect(kept.json()).toMatchObject({ jwks: { keys: [{ kty: 'EC', crv: 'P-256' }] } });
    expect(kept.body).not.toContain('mine');
    expect((await register('x')).json()).toMatchObject({ error: 'invalid_client_metadata' });
  });

  test.each([[[]], ['text'], [null], [17]])('refuses %j as a document', async (body) => {
    const answer = await send('POST', '/register', { body });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ error: 'invalid_client_metadata' });
  });

  test('refuses what is no JSON, or not said to be', async () => {
    for (const [payload, type, status] of [
      ['{', 'application/json', 400],
      ['{"__proto__":{"a":1}}', 'application/json', 400],
      [JSON.stringify(DOCUMENT), 'text/plain', 415],
      ['client_name=x', 'application/x-www-form-urlencoded', 400],
    ] as const) {
      const answer = await at.app.inject({
        method: 'POST',
        url: '/register',
        headers: { 'content-type': type },
        payload,
      });
      expect(answer.statusCode).toBe(status);
    }
  });

  test('says on the consent page that nobody checked the name', async () => {
    const document = await registered();
    const client = { ...document, redirect_uri: DOCUMENT.redirect_uris[0]! };
    const browser = await signIn(at, await aUser(at));
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: client.redirect_uri,
    });
    const page = await browser.get((await browser.get(`/authorize?${query.toString()}`)).headers.location!);
    expect(page.body).toContain('registered itself');
  });
});

describe('RFC 7592 §2: management of a registration', () => {
  test('reads it with the registration access token, without the secret', async () => {
    const { client_id, registration_access_token: token } = await registered();
    const answer = await send('GET', `/register/${client_id}`, { token });
    expect(answer.json()).toMatchObject({ client_id, registration_access_token: token });
    expect(answer.json()).not.toHaveProperty('client_secret');
  });

  test('replaces it whole and hands out a new token', async () => {
    const {
      client_id,
      client_secret,
      registration_access_token: token,
    } = await registered({ ...DOCUMENT, tos_uri: 'https://my.example/tos' });
    const body = { ...DOCUMENT, client_id, client_secret, client_name: 'Renamed' };
    const answer = await send('PUT', `/register/${client_id}`, { token, body });
    expect(answer.statusCode).toBe(200);
    const document = answer.json<Registered>();
    expect(document).toMatchObject({ client_name: 'Renamed' });
    expect(document).not.toHaveProperty('tos_uri');
    expect((await send('GET', `/register/${client_id}`, { token })).statusCode).toBe(401);
    const again = await send('GET', `/register/${client_id}`, { token: document.registration_access_token });
    expect(again.statusCode).toBe(200);
  });

  test.each([
    ['another client_id', { client_id: 'other' }],
    ['no client_id', { client_id: undefined }],
    ['a wrong client_secret', { client_secret: 'not the secret' }],
  ])('refuses a replacement with %s', async (_what, fields) => {
    const { client_id, registration_access_token: token } = await registered();
    const answer = await send('PUT', `/register/${client_id}`, { token, body: { ...DOCUMENT, client_id, ...fields } });
    expect(answer.json()).toMatchObject({ error: 'invalid_client_metadata' });
  });

  test('deletes it, and everything it was granted ends', async () => {
    const document = await registered();
    const watcher = await aClient(at, { may_introspect: true });
    const client = { ...document, redirect_uri: DOCUMENT.redirect_uris[0]! };
    const { tokens } = await someTokens(at, { client });
    const token = document.registration_access_token;
    expect((await send('DELETE', `/register/${document.client_id}`, { token })).statusCode).toBe(204);
    expect(await introspect(at, watcher, tokens.access_token)).toEqual({ active: false });
    expect((await send('GET', `/register/${document.client_id}`, { token })).statusCode).toBe(401);
  });

  test('takes no other token: not another registration’s, not none, and never an operator’s client', async () => {
    const mine = await registered();
    const other = await registered();
    const operators = await aClient(at);
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      for (const [id, token] of [
        [mine.client_id, other.registration_access_token],
        [mine.client_id, 'x'],
        [mine.client_id, undefined],
        [operators.client_id, other.registration_access_token],
        ['nobody', other.registration_access_token],
      ] as const) {
        const answer = await send(method, `/register/${id}`, { ...(token !== undefined && { token }) });
        expect(answer.statusCode).toBe(401);
        expect(answer.headers['www-authenticate']).toContain('invalid_token');
      }
    }
  });
});

describe('who may register', () => {
  test('REGISTRATION=off: there is no such endpoint, which says so, and discovery names none', async () => {
    const off = await testApp({ database: at.database, clock: at.clock });
    for (const [method, url] of [
      ['POST', '/register'],
      ['GET', '/register'],
      ['PUT', '/register/some-client'],
    ] as const) {
      const answer = await send(method, url, { to: off, ...(method === 'GET' ? {} : { body: DOCUMENT }) });
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([404, 'application/json; charset=utf-8']);
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      const error_description = expect.stringMatching(/registration is off: .* \(REGISTRATION\)$/) as string;
      expect(answer.json()).toEqual({ error: 'not_found', error_description });
    }
    const metadata = (await off.app.inject('/.well-known/openid-configuration')).json<object>();
    expect(metadata).not.toHaveProperty('registration_endpoint');
    await off.close();
  });

  test('REGISTRATION=token: an initial access token registers as often as it says, until it expires', async () => {
    const closed = await testApp({ config: { REGISTRATION: 'token' } });
    const token = randomBytes(32).toString('base64url');
    const now = closed.clock.now();
    await closed.deps.db
      .insertInto('initial_access_tokens')
      .values({
        token_id: 'one',
        hash: createHash('sha256').update(token).digest(),
        label: null,
        uses_left: 2,
        created_at: now,
        expires_at: new Date(now.getTime() + 60_000),
      })
      .execute();
    const status = async (sent?: string, document: object = DOCUMENT) =>
      (await send('POST', '/register', { body: document, to: closed, ...(sent !== undefined && { token: sent }) }))
        .statusCode;
    expect(await status()).toBe(401);
    expect(await status('wrong')).toBe(401);
    // A document that is refused uses nothing up.
    expect(await status(token, { redirect_uris: ['http://evil.example/'] })).toBe(400);
    const both = await Promise.all([status(token), status(token), status(token)]);
    expect(both.toSorted()).toEqual([201, 201, 401]);
    await closed.close();
  });

  test('REGISTRATION=open: one network has a quota', async () => {
    const open = await testApp({ config: { REGISTRATION: 'open' } });
    const statuses = new Set<number>();
    for (let batch = 0; batch < 6; batch += 1) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => send('POST', '/register', { body: DOCUMENT, to: open })),
      );
      for (const { statusCode } of answers) statuses.add(statusCode);
    }
    expect(statuses).toEqual(new Set([201, 429]));
    await open.close();
  });

  test('REGISTRATION=open: replacements count too, those without the right token do not', async () => {
    const open = await testApp({ config: { REGISTRATION: 'open' } });
    const first = (await send('POST', '/register', { body: DOCUMENT, to: open })).json<Registered>();
    const url = `/register/${first.client_id}`;
    const body = { ...DOCUMENT, client_id: first.client_id };
    for (let tries = 0; tries < 3; tries += 1) await send('PUT', url, { body, token: 'x', to: open });
    const counted = () => open.deps.db.selectFrom('failures').select('count').execute();
    expect(await counted()).toEqual([{ count: 1 }]);
    const replaced = await send('PUT', url, { body, token: first.registration_access_token, to: open });
    expect([replaced.statusCode, await counted()]).toEqual([200, [{ count: 2 }]]);
    await open.deps.db.updateTable('failures').set({ count: 100 }).execute();
    const token = replaced.json<Registered>().registration_access_token;
    const refused = await send('PUT', url, { body, token, to: open });
    expect([refused.statusCode, refused.json()]).toMatchObject([429, { error: 'too_many_requests' }]);
    expect((await send('GET', url, { token, to: open })).statusCode).toBe(200);
    await open.close();
  });
});

test('a client that registered itself and was never used is removed after a week; one that was used stays', async () => {
  const used = await registered();
  const unused = await registered();
  const kept = await aClient(at);
  const client = { ...used, redirect_uri: DOCUMENT.redirect_uris[0]! };
  await redeem(at, await anAuthorizationCode(at, { client }));
  const names = async (): Promise<string[]> =>
    (await at.deps.db.selectFrom('clients').select('client_id').execute()).map(({ client_id }) => client_id);
  await reapClients(at.deps).run();
  expect(await names()).toEqual(expect.arrayContaining([used.client_id, unused.client_id]));
  at.clock.advance(8 * 86_400);
  await reapClients(at.deps).run();
  const left = await names();
  expect(left).toEqual(expect.arrayContaining([used.client_id, kept.client_id]));
  expect(left).not.toContain(unused.client_id);
});

test('RFC 7592 §2.2: of two replacements with one token, one counts', async () => {
  const { client_id, registration_access_token: token } = await registered();
  const replace = (client_name: string) =>
    send('PUT', `/register/${client_id}`, { token, body: { ...DOCUMENT, client_id, client_name } });
  const answers = await Promise.all([replace('one'), replace('two'), replace('three')]);
  expect(answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)).toEqual([200, 401, 401]);
});

test('what an operator decided about a client stays when the client replaces itself', async () => {
  const { client_id, registration_access_token: token } = await registered();
  await changeClient(at, { client_id }, { require_pkce: true, access_token_ttl: 60 });
  await send('PUT', `/register/${client_id}`, { token, body: { ...DOCUMENT, client_id, require_pkce: false } });
  const row = await at.deps.db.selectFrom('clients').selectAll().where('client_id', '=', client_id).executeTakeFirst();
  expect(row).toMatchObject({ require_pkce: true, access_token_ttl: 60 });
});

test('OpenID Connect Registration §2: a client may choose the algorithm of its ID tokens', async () => {
  const document = await registered({ ...DOCUMENT, id_token_signed_response_alg: 'ES256' });
  expect(document['id_token_signed_response_alg']).toBe('ES256');
});
