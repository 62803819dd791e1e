import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeClient } from '../../src/clients/register.ts';
import { addSecretTo } from '../../src/clients/secrets.ts';
import { transact } from '../../src/store/postgres/db.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient, aService, BY, introspect, userinfo, type AClient } from '../support/fixtures.ts';
import { basic, basicOf, decode, expectRefusal, formOf, postRaw, send } from '../support/oauth.ts';

let at: TestApp;
let service: AClient;
beforeAll(async () => {
  at = await testApp();
  service = await aService(at);
});
afterAll(() => at.close());

const grant_type = 'client_credentials';

/** A second secret, as `clients rotate-secret` gives one; the first lives on for `overlap` seconds. */
async function another({ client_id, ...client }: AClient, client_secret: string, overlap = 3600): Promise<AClient> {
  await transact(at.deps.db, (trx) =>
    addSecretTo(trx, at.deps, client_id, { overlap, client_secret }, BY, at.clock.now()),
  );
  at.deps.directory.clear();
  return { ...client, client_id, client_secret };
}

const ask = (client: AClient, fields: Record<string, string> = {}) =>
  send(at, { client, fields: { grant_type, ...fields } });

test('specification §Endpoints 2b: with the header Authorization: Basic, grant_type and optionally scope', async () => {
  const headers = { authorization: basic(service) };
  const answer = await postRaw(at, '/token', formOf({ grant_type, scope: 'jobs:write' }), headers);
  expect(answer.json()).toMatchObject({ token_type: 'Bearer', expires_in: 600, scope: 'jobs:write' });
});

test('specification §Endpoints 2b: the response is without refresh_token, and without id_token', async () => {
  expect(Object.keys((await ask(service)).json())).toEqual(['access_token', 'token_type', 'expires_in', 'scope']);
});

test('specification §Endpoints 2b: the access token represents the client, not a user', async () => {
  const { access_token } = (await ask(service)).json<{ access_token: string }>();
  const { header, payload } = decode(access_token);
  expect(header).toMatchObject({ typ: 'at+jwt', alg: 'RS256' });
  expect(payload).toMatchObject({
    iss: 'https://id.example.test',
    sub: service.client_id,
    client_id: service.client_id,
    aud: 'https://id.example.test',
  });
  for (const claim of ['gid', 'auth_time', 'acr', 'amr', 'sid', 'name', 'email'])
    expect(payload).not.toHaveProperty(claim);
  expect((await userinfo(at, access_token)).statusCode).toBe(403);
});

test('specification §Endpoints 2b: scope is optional: none sent is every scope the client has for machines', async () => {
  const mixed = await aService(at, { scope: 'jobs:read openid email jobs:write' });
  expect((await ask(mixed)).json()).toMatchObject({ scope: 'jobs:read jobs:write' });
});

test.each(['openid', 'offline_access', 'email', 'jobs:delete', 'jobs:read openid', 'jobs:read"', 'Jobs:read'])(
  'RFC 6749 §4.4.2: scope=%s is invalid_scope: unregistered, or for people',
  async (scope) => {
    const mixed = await aService(at, { scope: 'jobs:read openid email offline_access' });
    expectRefusal(await ask(mixed, { scope }), 400, 'invalid_scope');
  },
);

test('RFC 6749 §2.3.1: HTTP Basic carries form-encoded values, and decodes both', async () => {
  const odd = await another(service, 'p%ss+w:rd / &=?');
  const headers = { authorization: basic(odd) };
  expect((await postRaw(at, '/token', formOf({ grant_type }), headers)).statusCode).toBe(200);
  const inBody = await ask(odd);
  expect(inBody.statusCode).toBe(200);
});

test('a client that does not encode its secret is understood where there is no doubt', async () => {
  const plain = await another(service, '100% plain secret');
  const headers = { authorization: basicOf(`${plain.client_id}:${plain.client_secret}`) };
  expect((await postRaw(at, '/token', formOf({ grant_type }), headers)).statusCode).toBe(200);
  const lower = { authorization: headers.authorization.replace('Basic', 'basic') };
  expect((await postRaw(at, '/token', formOf({ grant_type }), lower)).statusCode).toBe(200);
});

test('ASVS 10.4.16: a secret that has been replaced works until its overlap ends', async () => {
  const client = await aService(at);
  const renewed = await another(client, 'the second secret of it', 60);
  expect((await ask(client)).statusCode).toBe(200);
  expect((await ask(renewed)).statusCode).toBe(200);
  at.clock.advance(61);
  expectRefusal(await ask(client), 401, 'invalid_client');
  expect((await ask(renewed)).statusCode).toBe(200);
});

test('specification §Limits: expires_in is the lifetime in seconds: at its end the token is dead', async () => {
  const client = await aService(at, { access_token_ttl: 120 });
  const answer = (await ask(client)).json<{ access_token: string; expires_in: number }>();
  expect(answer.expires_in).toBe(120);
  at.clock.advance(119);
  expect(await introspect(at, client, answer.access_token)).toMatchObject({ active: true });
  at.clock.advance(1);
  expect(await introspect(at, client, answer.access_token)).toEqual({ active: false });
});

test('an opaque token of a client is as good, and names no grant', async () => {
  const client = await aService(at, { access_token_format: 'opaque' });
  const { access_token } = (await ask(client)).json<{ access_token: string }>();
  expect(access_token).toMatch(/^[0-9a-z]{1,6}_[A-Za-z0-9_-]{43}$/);
  const seen = await introspect(at, client, access_token);
  expect(seen).toMatchObject({
    active: true,
    sub: client.client_id,
    client_id: client.client_id,
    aud: 'https://id.example.test',
  });
  expect(seen).not.toHaveProperty('gid');
});

test('a client that is deleted has no live token any more', async () => {
  const watcher = await aService(at, { may_introspect: true });
  const client = await aService(at);
  const { access_token } = (await ask(client)).json<{ access_token: string }>();
  expect(await introspect(at, watcher, access_token)).toMatchObject({ active: true });
  await transact(at.deps.db, (trx) => removeClient(trx, client.client_id, BY, at.clock.now()));
  at.deps.directory.clear();
  expect(await introspect(at, watcher, access_token)).toEqual({ active: false });
  expectRefusal(await ask(client), 401, 'invalid_client');
});

test('RFC 6749 §4.4: a web client with the grant registered may act for itself beside acting for people', async () => {
  const both = await aClient(at, {
    grant_types: ['authorization_code', 'client_credentials'],
    scope: 'openid jobs:read',
  });
  expect((await ask(both)).json()).toMatchObject({ scope: 'jobs:read' });
});
