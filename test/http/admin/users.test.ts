import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as consents from '../../../src/store/consents.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import {
  aClient,
  aPublicClient,
  aUser,
  introspect,
  PASSWORD,
  refresh,
  signIn,
  someTokens,
  userinfo,
  type AClient,
  type TestBrowser,
  type Tokens,
} from '../../support/fixtures.ts';
import { anOperator, type Operator } from '../../support/operator.ts';

type Json = Record<string, unknown>;

let at: TestApp;
let operator: Operator;
let client: AClient;
beforeAll(async () => {
  at = await testApp();
  operator = await anOperator(at);
  client = await aClient(at, { backchannel_logout_uri: 'https://app.example.test/backchannel' });
});
afterAll(() => at.close());

const create = async (fields: Json): Promise<Json> => {
  const answer = await operator.send('POST', '/users', fields);
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json();
};
const login = async (username: string, password: string): Promise<{ status: number; access_token: string }> => {
  const answer = await at.app.inject({ method: 'POST', url: '/login', payload: { username, password } });
  return { status: answer.statusCode, access_token: answer.json<{ access_token: string }>().access_token };
};
const events = async (
  sub: string,
): Promise<Array<{ event: string; actor: string | null; ip: string | null; detail: Json }>> =>
  at.deps.db
    .selectFrom('audit_events')
    .select(['event', 'actor', 'ip', 'detail'])
    .where('sub', '=', sub)
    .orderBy('event_id')
    .execute();

/** Somebody signed in everywhere: in a browser with tokens, with an offline grant, and with a script's token. */
interface Everywhere {
  sub: string;
  username: string;
  browser: TestBrowser;
  online: Tokens;
  offline: Tokens;
  opaque: Tokens;
  script: string;
}
async function everywhere(): Promise<Everywhere> {
  const user = await aUser(at);
  const browser = await signIn(at, user);
  const opaqueClient = await aPublicClient(at, { access_token_format: 'opaque' });
  const tokensWith = async (of: AClient, scope: string): Promise<Tokens> =>
    (await someTokens(at, { client: of, user, browser, parameters: { scope } })).tokens;
  return {
    sub: user.sub,
    username: user.username,
    browser,
    online: await tokensWith(client, 'openid email'),
    offline: await tokensWith(client, 'openid offline_access'),
    opaque: await tokensWith(opaqueClient, 'openid'),
    script: (await login(user.username, PASSWORD)).access_token,
  };
}
/** What of it works, found out as anybody would. */
async function working({ browser, online, offline, opaque, script }: Everywhere): Promise<Record<string, boolean>> {
  const accepted = async (token: string): Promise<boolean> => (await userinfo(at, token)).statusCode === 200;
  return {
    online: await accepted(online.access_token),
    introspected: (await introspect(at, client, online.access_token)).active,
    opaque: await accepted(opaque.access_token),
    script: await accepted(script),
    offline: await accepted(offline.access_token),
    session: (await browser.get(`${browser.issuer}/account`)).statusCode === 200,
    refresh: (await refresh(at, client, offline.refresh_token)).statusCode === 200,
  };
}
const ALL = {
  online: true,
  introspected: true,
  opaque: true,
  script: true,
  offline: true,
  session: true,
  refresh: true,
};
const NOTHING = Object.fromEntries(Object.keys(ALL).map((name) => [name, false]));

describe('users', () => {
  test('specification §Endpoints 5: POST makes an account that can sign in, and never shows its password', async () => {
    const answer = await operator.send('POST', '/users', {
      username: 'Grace',
      email: 'grace@example.test',
      claims: { name: 'Grace Hopper' },
      password: PASSWORD,
    });
    expect(answer.statusCode, answer.body).toBe(201);
    expect(answer.json()).toEqual({
      erase_after: null,
      invited_until: null,
      sub: expect.stringMatching(/^[\w-]{22}$/),
      username: 'Grace',
      email: 'grace@example.test',
      email_verified: false,
      claims: { name: 'Grace Hopper' },
      disabled: false,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const sub = String(answer.json<Json>()['sub']);
    expect(answer.headers['location']).toBe(`https://id.example.test/admin/v1/users/${sub}`);
    expect((await login('grace', PASSWORD)).status).toBe(200);
    expect((await events(sub))[0]).toMatchObject({
      event: 'user_created',
      actor: operator.client.client_id,
      ip: '127.0.0.1',
    });
  });

  test('a name that is taken, a weak password, an unknown member and claims of no known form are refused, and make nothing', async () => {
    await create({ username: 'taken', email: 'taken@example.test' });
    const before = await at.deps.db.selectFrom('users').select('sub').execute();
    const refusals: Array<[Json, number]> = [
      [{ username: 'TAKEN' }, 409],
      [{ username: 'other', email: 'Taken@example.test' }, 409],
      [{ username: 'other', password: 'short' }, 400],
      [{ username: 'with space' }, 400],
      [{ username: 'other', password_hash: 'x' }, 400],
      [{ username: 'other', claims: { sub: 'root' } }, 400],
      [{ username: 'other', sub: operator.client.client_id }, 409],
      [{ email: 'x@example.test' }, 400],
    ];
    for (const [body, status] of refusals) {
      const answer = await operator.send('POST', '/users', body);
      expect([answer.statusCode, body], answer.body).toEqual([status, body]);
      expect(answer.body).not.toContain('"short"');
    }
    expect(await at.deps.db.selectFrom('users').select('sub').execute()).toHaveLength(before.length);
  });

  test('an address that changes is not verified, unless the same change says so', async () => {
    const { sub } = await create({ username: 'eve', email: 'eve@example.test', email_verified: true });
    const patch = async (body: Json): Promise<Json> =>
      (await operator.send('PATCH', `/users/${String(sub)}`, body)).json();
    expect(await patch({ claims: { name: 'Eve', nickname: 'E' } })).toMatchObject({ email_verified: true });
    expect(await patch({ email: 'eve@example.org' })).toMatchObject({ email_verified: false });
    expect(await patch({ email: 'eve@example.net', email_verified: true })).toMatchObject({ email_verified: true });
    expect(await patch({ email: null, claims: { nickname: null } })).toMatchObject({
      email: null,
      email_verified: false,
      claims: { name: 'Eve' },
    });
    const read = (await operator.send('GET', `/users/${String(sub)}`)).json<Json>();
    const same = await operator.send('PUT', `/users/${String(sub)}`, read);
    expect({ ...same.json<Json>(), updated_at: read['updated_at'] }).toEqual(read);
    const other = await operator.send('PUT', `/users/${String(sub)}`, { ...read, sub: 'another' });
    expect(other.statusCode).toBe(400);
  });

  test('the audit log has names before and after, and of claims only which of them changed', async () => {
    const { sub } = await create({ username: 'dora', email: 'dora@example.test', claims: { name: 'Dora' } });
    await operator.send('PATCH', `/users/${String(sub)}`, {
      email: 'dora@example.org',
      claims: { birthdate: '1980-01-02', name: null },
    });
    const [, updated] = await events(String(sub));
    expect(updated).toMatchObject({
      event: 'user_updated',
      actor: operator.client.client_id,
      detail: {
        before: { email: 'dora@example.test' },
        after: { email: 'dora@example.org' },
        claims: ['birthdate', 'name'],
      },
    });
    expect(JSON.stringify(await events(String(sub)))).not.toMatch(/1980|Dora/);
  });

  test('lists by whole names in any case, by state and by time, in either order', async () => {
    at.clock.advance(60);
    const since = at.clock.now().toISOString();
    for (const username of ['list-b', 'List-A', 'list-c']) {
      at.clock.advance(1);
      await create({ username, email: `${username}@example.test`, disabled: username === 'list-c' });
    }
    const names = async (query: string): Promise<unknown[]> => {
      const answer = await operator.send('GET', `/users?${query}`);
      expect(answer.statusCode, answer.body).toBe(200);
      return answer.json<{ items: Json[] }>().items.map(({ username }) => username);
    };
    const after = `created_after=${since}`;
    expect(await names(after)).toEqual(['list-c', 'List-A', 'list-b']);
    expect(await names(`${after}&sort=created_at`)).toEqual(['list-b', 'List-A', 'list-c']);
    expect(await names(`${after}&disabled=true`)).toEqual(['list-c']);
    expect(await names('disabled=true&sort=username')).toEqual(['list-c']);
    expect(await names('username=LIST-a')).toEqual(['List-A']);
    expect(await names('email=LIST-B@example.TEST&sort=-username')).toEqual(['list-b']);
    expect(await names(`${after}&created_before=${since}`)).toEqual([]);
    expect((await names('sort=username&disabled=false')).filter((name) => /list/i.test(String(name)))).toEqual([
      'List-A',
      'list-b',
    ]);
    const refused = await operator.send('GET', `/users?sort=username&${after}`);
    expect([refused.statusCode, refused.json<Json>()['errors']]).toEqual([
      400,
      [expect.objectContaining({ pointer: '?sort' })],
    ]);
  });
});

describe('everything that hangs off a person ends in the same transaction', () => {
  let bystander: Everywhere;
  beforeAll(async () => {
    bystander = await everywhere();
  });
  test.each<[string, (sub: string) => [method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: Json], Json]>([
    ['DELETE', (sub) => ['DELETE', `/users/${sub}`], {}],
    ['disable', (sub) => ['POST', `/users/${sub}/disable`], {}],
    ['PATCH disabled', (sub) => ['PATCH', `/users/${sub}`, { disabled: true }], {}],
    ['set-password', (sub) => ['POST', `/users/${sub}/set-password`], {}],
    ['deletion of the password', (sub) => ['DELETE', `/users/${sub}/credentials/password`], {}],
    ['revoke-everything', (sub) => ['POST', `/users/${sub}/revoke-everything`], {}],
    ['sign-out', (sub) => ['POST', `/users/${sub}/sign-out`], { offline: true, refresh: true }],
  ])('%s', async (_name, requestOf, left) => {
    const person = await everywhere();
    const answer = await operator.send(...requestOf(person.sub));
    expect(answer.statusCode, answer.body).toBeLessThan(300);
    expect(await working(person)).toEqual({ ...NOTHING, ...left });
    const notices = await at.deps.db.selectFrom('logout_notices').selectAll().where('sub', '=', person.sub).execute();
    expect(notices.map(({ client_id }) => client_id)).toEqual([client.client_id]);
  });

  test('and nothing of anybody else', async () => {
    expect(await working(bystander)).toEqual(ALL);
  });

  test('decided (ASVS 6.4.6): set-password draws the password, shows it once, and takes none', async () => {
    const user = await aUser(at);
    const key = { 'idempotency-key': 'a-reset' };
    const path = `/users/${user.sub}/set-password`;
    const chosen = await operator.send('POST', path, { password: 'chosen by an operator' });
    expect(chosen.statusCode).toBe(400);
    const answer = await operator.send('POST', path, undefined, key);
    const { password, expires_at } = answer.json<{ password: string; expires_at: string }>();
    expect((await operator.send('POST', path, undefined, key)).json()).toEqual({ expires_at });
    expect((await login(user.username, PASSWORD)).status).toBe(401);
    // Its person chooses another in a browser first.
    expect(await login(user.username, password)).toMatchObject({ status: 401 });
    expect((await signIn(at, user, password)).issuer).toBe(at.deps.config.ISSUER);
    expect(JSON.stringify(await events(user.sub))).not.toContain(password);
    expect(at.logged.join('')).not.toContain(password);
  });

  test('who was disabled signs in again once enabled, and nothing of before comes back', async () => {
    const person = await everywhere();
    await operator.send('POST', `/users/${person.sub}/disable`);
    expect((await login(person.username, PASSWORD)).status).toBe(401);
    expect((await operator.send('POST', `/users/${person.sub}/enable`)).statusCode).toBe(204);
    expect((await login(person.username, PASSWORD)).status).toBe(200);
    expect(await working(person)).toEqual(NOTHING);
    expect((await events(person.sub)).map(({ event }) => event)).toEqual(
      expect.arrayContaining(['user_disabled', 'user_enabled']),
    );
  });

  test('an unknown user is not found, whatever is to be done', async () => {
    for (const path of ['', '/credentials', '/sessions', '/grants', '/consents', '/credentials/password']) {
      expect([path, (await operator.send('GET', `/users/nobody${path}`)).statusCode]).toEqual([path, 404]);
    }
    for (const action of ['set-password', 'disable', 'enable', 'sign-out', 'revoke-everything']) {
      expect([action, (await operator.send('POST', `/users/nobody/${action}`)).statusCode]).toEqual([action, 404]);
    }
  });
});

describe('credentials and consents', () => {
  test('credentials say that there is a password and since when, and nothing else', async () => {
    const user = await aUser(at);
    const path = `/users/${user.sub}/credentials`;
    const item = { credential_id: 'password', type: 'password', changed_at: at.clock.now().toISOString() };
    expect((await operator.send('GET', path)).json()).toEqual({ items: [item], next_cursor: null });
    expect((await operator.send('GET', `${path}/password`)).json()).toEqual(item);
    expect((await operator.send('DELETE', `${path}/password`)).statusCode).toBe(204);
    expect((await operator.send('DELETE', `${path}/password`)).statusCode).toBe(204);
    expect((await operator.send('GET', path)).json()).toEqual({ items: [], next_cursor: null });
    expect((await login(user.username, PASSWORD)).status).toBe(401);
  });

  test('withdrawing a consent ends the grants of that pair and no other, and the person is asked again', async () => {
    const person = await everywhere();
    const { sub } = person;
    const listed = (await operator.send('GET', `/users/${sub}/consents`)).json<{ items: Json[] }>().items;
    expect(listed).toHaveLength(2);
    expect(listed).toContainEqual({
      client_id: client.client_id,
      client_name: 'Test App',
      agreed: [{ resource: [], scope: expect.stringContaining('openid'), claims: [], updated_at: expect.any(String) }],
    });
    const path = `/users/${sub}/consents/${client.client_id}`;
    expect((await operator.send('DELETE', path)).statusCode).toBe(204);
    expect(await working(person)).toEqual({ ...NOTHING, opaque: true, script: true, session: true });
    const key = { sub, client_id: client.client_id, resource: '' };
    expect(await consents.find(at.deps.db, key)).toBeUndefined();
    expect((await operator.send('GET', path)).statusCode).toBe(404);
    expect((await operator.send('DELETE', path)).statusCode).toBe(204);
    expect((await events(sub)).filter(({ event }) => event === 'consent_withdrawn')).toEqual([
      expect.objectContaining({ detail: { grants_revoked: 2 }, actor: operator.client.client_id }),
    ]);
  });
});
