/** What an operator takes from a client, or closes for people or machines, is in nothing that is made or judged afterwards. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { putResource, putScope } from '../../src/clients/scopes.ts';
import { inspect } from '../../src/tokens/inspect.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  type AClient,
  aClient,
  aDevice,
  anApprovedDeviceCode,
  anAuthorizationCode,
  aService,
  aUser,
  BY,
  changeClient,
  credentials,
  introspect,
  PASSWORD,
  postForm,
  redeem,
  refresh,
  signIn,
  someTokens,
  userinfo,
} from '../support/fixtures.ts';
import { anOperator } from '../support/operator.ts';
import { decode } from '../support/oauth.ts';
import { DEVICE_GRANT } from '../../src/protocol/client.ts';
import { transact } from '../../src/store/postgres/db.ts';
import type { ClientMetadataInput } from '../../src/protocol/client-metadata.ts';

const SCOPE = 'openid profile email offline_access';
const API = 'https://api.example.test';

let at: TestApp;
let other: TestApp;
beforeAll(async () => {
  at = await testApp({ config: { REFRESH_TOKEN_RETRY_WINDOW: 0 } });
  // The change is made by another process; this one heard of it.
  other = await testApp({ database: at.database, clock: at.clock });
});
afterAll(async () => {
  await other.close();
  await at.close();
});

async function takeFrom({ client_id }: AClient, scope: string): Promise<void> {
  await changeClient(other, { client_id }, { scope });
  at.deps.directory.clear();
}
async function change(name: string, changes: Parameters<typeof putScope>[2]): Promise<void> {
  await transact(other.deps.db, (trx) => putScope(trx, name, changes, BY, at.clock.now()));
  at.deps.directory.clear();
}

/** The ways in which `email` can be closed to one client, or to everybody, and how it is opened again. */
const WAYS = {
  'taken from the client': [
    (client: AClient) => takeFrom(client, 'openid profile offline_access'),
    (client: AClient) => takeFrom(client, SCOPE),
  ],
  'closed for people': [() => change('email', { for_people: false }), () => change('email', { for_people: true })],
} as const;

describe.each(Object.entries(WAYS))('scope that was %s', (_what, [close, open]) => {
  let client: AClient;
  beforeEach(async () => {
    client = await aClient(at, { scope: SCOPE });
    return () => open(client);
  });

  test.each(['jwt', 'opaque'] as const)(
    'is gone from a %s access token in use, and from its refresh',
    async (format) => {
      await changeClient(at, client, { access_token_format: format });
      at.deps.directory.clear();
      const { tokens } = await someTokens(at, { client, parameters: { scope: SCOPE } });
      expect((await userinfo(at, tokens.access_token)).json()).toHaveProperty('email');
      await close(client);
      const told = await userinfo(at, tokens.access_token);
      expect([told.statusCode, 'email' in told.json(), 'name' in told.json()]).toEqual([200, false, true]);
      const left = 'openid profile offline_access';
      expect(await introspect(at, client, tokens.access_token)).toMatchObject({ active: true, scope: left });
      expect(await introspect(at, client, tokens.refresh_token)).toMatchObject({ active: true, scope: left });
      const refreshed = (await refresh(at, client, tokens.refresh_token)).json();
      expect(refreshed.scope).toBe(left);
      expect(decode(refreshed.id_token).payload).not.toHaveProperty('email');
      // A client that asks for what it always asked for is not thrown out: the answer says what it has.
      const again = await refresh(at, client, refreshed.refresh_token, { scope: 'openid email' });
      expect(again.json()).toMatchObject({ scope: 'openid' });
      const alone = await refresh(at, client, again.json().refresh_token, { scope: 'email' });
      expect(alone.json()).toMatchObject({ error: 'invalid_scope' });
      // Nothing was spent by the refusal, and what is opened again is there again.
      await open(client);
      const back = await refresh(at, client, again.json().refresh_token);
      expect(back.json()).toMatchObject({ scope: SCOPE });
    },
  );

  test('is not given for a code that was there before, nor by name in the claims parameter', async () => {
    const claims = JSON.stringify({ id_token: { email: null }, userinfo: { email: { essential: true } } });
    const code = await anAuthorizationCode(at, { client, parameters: { scope: 'openid email', claims } });
    const before = await someTokens(at, { client, parameters: { scope: 'openid', claims } });
    expect((await userinfo(at, before.tokens.access_token)).json()).toHaveProperty('email');
    await close(client);
    expect((await userinfo(at, before.tokens.access_token)).json()).not.toHaveProperty('email');
    const tokens = (await redeem(at, code)).json();
    expect(tokens.scope).toBe('openid');
    expect(decode(tokens.id_token).payload).not.toHaveProperty('email');
    expect((await userinfo(at, tokens.access_token)).json()).not.toHaveProperty('email');
    const after = await someTokens(at, { client, parameters: { scope: 'openid profile', claims } });
    expect((await userinfo(at, after.tokens.access_token)).json()).not.toHaveProperty('email');
  });

  test('RFC 6749 §5.2: a grant of which nothing is left is refused as such, and nothing of it is spent', async () => {
    const code = await anAuthorizationCode(at, { client, parameters: { scope: 'email' } });
    const { tokens } = await someTokens(at, { client, parameters: { scope: 'email' } });
    const device = await aDevice(at, { scope: SCOPE });
    const { device_code } = await anApprovedDeviceCode(at, { client: device, fields: { scope: 'email' } });
    const poll = () => postForm(at, '/token', { grant_type: DEVICE_GRANT, device_code, ...credentials(device) });
    await close(client);
    if (_what === 'taken from the client') await close(device);
    for (const answer of [await redeem(at, code), await refresh(at, client, tokens.refresh_token), await poll()]) {
      expect([answer.statusCode, answer.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
    }
    expect(await introspect(at, client, tokens.access_token)).toEqual({ active: false });
    expect(await introspect(at, client, tokens.refresh_token)).toEqual({ active: false });
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      const seen = await inspect(at.deps, token, at.clock.now());
      expect(seen).toMatchObject({ active: false, faults: ['scope_closed'] });
    }
    await open(client);
    await open(device);
    for (const answer of [await redeem(at, code), await refresh(at, client, tokens.refresh_token), await poll()]) {
      expect(answer.statusCode, answer.body).toBe(200);
    }
  });
});

test('the token of POST /login has no more than is open to people', async () => {
  const { username } = await aUser(at);
  const ask = async () =>
    (await at.app.inject({ method: 'POST', url: '/login', payload: { username, password: PASSWORD } })).json<{
      access_token: string;
      scope: string;
    }>();
  const before = await ask();
  await change('email', { for_people: false });
  expect((await userinfo(at, before.access_token)).json()).not.toHaveProperty('email');
  expect((await ask()).scope).toBe('openid profile');
  await change('email', { for_people: true });
});

describe('scope of a machine', () => {
  test.each(['jwt', 'opaque'] as const)('is gone from its %s token where it was taken or closed', async (format) => {
    const service = await aService(at, { access_token_format: format });
    const ask = async () =>
      (await postForm(at, '/token', { grant_type: 'client_credentials', ...credentials(service) })).json<{
        access_token: string;
      }>().access_token;
    const token = await ask();
    await change('jobs:write', { for_machines: false });
    expect(await introspect(at, service, token)).toMatchObject({ active: true, scope: 'jobs:read' });
    await takeFrom(service, 'jobs:write');
    expect(await introspect(at, service, token)).toEqual({ active: false });
    await change('jobs:write', { for_machines: true });
    expect(await introspect(at, service, token)).toMatchObject({ active: true, scope: 'jobs:write' });
  });

  test('is gone from its token at the admin API', async () => {
    const operator = await anOperator(at, ['users:read', 'clients:read']);
    expect((await operator.send('GET', '/users')).statusCode).toBe(200);
    await takeFrom(operator.client, 'clients:read');
    expect((await operator.send('GET', '/users')).statusCode).toBe(403);
    expect((await operator.send('GET', '/clients')).statusCode).toBe(200);
  });
});

test.each(['jwt', 'opaque'] as const)(
  'RFC 9068 §2.2.3: what a resource no longer knows is gone from the %s tokens for it',
  async (format) => {
    const service = await aService(at);
    const known = async (...scope: string[]) => {
      await transact(other.deps.db, (trx) =>
        putResource(trx, other.deps, API, { scope, access_token_format: format }, BY, at.clock.now()),
      );
      at.deps.directory.clear();
    };
    await known('jobs:read', 'jobs:write');
    const fields = { grant_type: 'client_credentials', resource: API, ...credentials(service) };
    const { access_token } = (await postForm(at, '/token', fields)).json<{ access_token: string }>();
    await known('jobs:read');
    expect(await introspect(at, service, access_token)).toMatchObject({ active: true, scope: 'jobs:read' });
    await known('another');
    expect(await introspect(at, service, access_token)).toEqual({ active: false });
    const seen = await inspect(at.deps, access_token, at.clock.now());
    expect(seen).toMatchObject({ active: false, faults: ['scope_closed'] });
    await known('jobs:read', 'jobs:write');
    expect(await introspect(at, service, access_token)).toMatchObject({ active: true, scope: 'jobs:read jobs:write' });
  },
);

describe('RFC 6749 §4.4: what a client got by a grant type that it has lost', () => {
  const lose = async ({ client_id }: AClient, changes: Partial<ClientMetadataInput>) => {
    await changeClient(other, { client_id }, changes);
    at.deps.directory.clear();
  };
  const PEOPLE: Partial<ClientMetadataInput> = {
    grant_types: ['authorization_code'],
    response_types: ['code'],
    redirect_uris: ['https://app.example.test/cb'],
  };

  test('for itself counts no more, at the admin API neither', async () => {
    const operator = await anOperator(at, ['users:read']);
    expect((await operator.send('GET', '/users')).statusCode).toBe(200);
    await lose(operator.client, PEOPLE);
    expect((await operator.send('GET', '/users')).statusCode).toBe(401);
    const seen = await inspect(at.deps, operator.access_token, at.clock.now());
    expect(seen).toMatchObject({ active: false, faults: ['scope_closed'] });
  });

  test.each([
    ['the grant type', { grant_types: ['authorization_code'] }],
    ['its secret', { token_endpoint_auth_method: 'none' }],
  ] satisfies Array<[string, Partial<ClientMetadataInput>]>)(
    'RFC 7662 §2.2: a refresh token that would be refused is not active: without %s',
    async (_what, changes) => {
      const client = await aClient(at, { scope: SCOPE });
      const { tokens } = await someTokens(at, { client, parameters: { scope: SCOPE } });
      expect(await introspect(at, client, tokens.refresh_token)).toMatchObject({ active: true });
      await lose(client, changes);
      const now = 'grant_types' in changes ? client : { ...client, client_secret: '' };
      expect((await refresh(at, now, tokens.refresh_token)).statusCode).toBe(400);
      const seen = await inspect(at.deps, tokens.refresh_token, at.clock.now());
      expect(seen).toMatchObject({ active: false, faults: ['scope_closed'] });
      const said = await introspect(at, now, tokens.refresh_token);
      expect(said.active ?? false).toBe(false);
    },
  );
});

test.each(['client', 'people'])('offline_access that the %s lost lets no grant outlive a sign-out', async (of) => {
  const client = await aClient(at, { scope: SCOPE });
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const { tokens } = await someTokens(at, { client, user, browser, parameters: { scope: SCOPE } });
  const kept = await someTokens(at, { user, browser, parameters: { scope: SCOPE } });
  if (of === 'client') await takeFrom(client, 'openid profile email');
  else await change('offline_access', { for_people: false });
  const { sid } = await at.deps.db
    .selectFrom('sessions')
    .select('sid')
    .where('sub', '=', user.sub)
    .executeTakeFirstOrThrow();
  const operator = await anOperator(at, ['sessions:write']);
  expect((await operator.send('DELETE', `/sessions/${sid}`)).statusCode).toBe(204);
  expect((await refresh(at, client, tokens.refresh_token)).statusCode).toBe(400);
  const other_client = await refresh(at, kept.client, kept.tokens.refresh_token);
  expect(other_client.statusCode).toBe(of === 'client' ? 200 : 400);
  await change('offline_access', { for_people: true });
});

test('RFC 6749 §3.1.2.3: a code that went to an address its client has lost is redeemed by nobody', async () => {
  const client = await aClient(at);
  const code = await anAuthorizationCode(at, { client });
  const { client_id } = client;
  await changeClient(other, { client_id }, { redirect_uris: ['https://new.example.test/'] });
  at.deps.directory.clear();
  const refused = await redeem(at, code);
  expect([refused.statusCode, refused.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
  await changeClient(other, { client_id }, { redirect_uris: [client.redirect_uri] });
  at.deps.directory.clear();
  expect((await redeem(at, code)).statusCode).toBe(200);
});

describe('ASVS 7.4.1: what a client got with a secret does not outlive its deletion', () => {
  const setUp = async () => {
    const operator = await anOperator(at, ['users:read', 'clients:write']);
    const { client_id } = operator.client;
    const chief = await anOperator(at);
    const secrets = async () =>
      (await chief.send('GET', `/clients/${client_id}/secrets`)).json<{ items: Array<{ secret_id: string }> }>().items;
    const url = `/clients/${client_id}/secrets`;
    return { operator, chief, secrets, url };
  };
  const status = async (operator: Awaited<ReturnType<typeof anOperator>>) =>
    (await operator.send('GET', '/users')).statusCode;

  test('at the admin API, from the next second on, while the tokens of people stay', async () => {
    const { operator, chief, secrets, url } = await setUp();
    at.clock.advance(1);
    const [secret] = await secrets();
    expect((await chief.send('DELETE', `${url}/${secret!.secret_id}`)).statusCode).toBe(204);
    expect(await status(operator)).toBe(401);
    const seen = await inspect(at.deps, operator.access_token, at.clock.now());
    expect(seen).toMatchObject({ active: false, faults: ['called_back'] });

    const people = await someTokens(at);
    const { client_id } = people.client;
    const [own] = (await chief.send('GET', `/clients/${client_id}/secrets`)).json().items;
    at.clock.advance(1);
    await chief.send('DELETE', `/clients/${client_id}/secrets/${own.secret_id}`);
    expect((await userinfo(at, people.tokens.access_token)).statusCode).toBe(200);
  });

  test.each([
    [0, 401],
    [3600, 200],
  ])(
    'where another takes its place with an overlap of %i seconds: %i, and its own token works at once',
    async (overlap, expected) => {
      const { operator, chief, url } = await setUp();
      at.clock.advance(1);
      const { client_secret } = (await chief.send('POST', url, { overlap })).json<{ client_secret: string }>();
      expect(await status(operator)).toBe(expected);
      const fields = { ...credentials(operator.client), client_secret, resource: `${at.deps.config.ISSUER}/admin/v1` };
      const answer = await postForm(at, '/token', { grant_type: 'client_credentials', ...fields });
      operator.access_token = answer.json<{ access_token: string }>().access_token;
      const again = await at.app.inject({
        url: '/admin/v1/users',
        headers: { authorization: `Bearer ${operator.access_token}` },
      });
      expect(again.statusCode).toBe(200);
    },
  );

  test('a secret that had expired takes nothing along, a key that is no longer registered does', async () => {
    const { operator, chief, secrets, url } = await setUp();
    const [old] = await secrets();
    await chief.send('POST', url, { overlap: 1 });
    at.clock.advance(2);
    expect((await chief.send('DELETE', `${url}/${old!.secret_id}`)).statusCode).toBe(204);
    expect(await status(operator)).toBe(200);
    const keyed = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://keys.example.test/' } as const;
    await changeClient(other, operator.client, keyed);
    at.deps.directory.clear();
    expect(await status(operator)).toBe(401);
  });
});
