/** Scopes of the admin API: names that are power at one place alone, and only in the hands of who was given it on purpose. */
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ADMIN_PATH } from '../../src/admin/index.ts';
import { putResource, putScope } from '../../src/clients/scopes.ts';
import { checks } from '../../src/cli/doctor/diagnosis.ts';
import type { Opened } from '../../src/cli/command.ts';
import { ADMIN_SCOPES } from '../../src/protocol/admin-api.ts';
import { transact } from '../../src/store/postgres/db.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { type AClient, aClient, aService, BY, changeClient, credentials, postForm } from '../support/fixtures.ts';
import { anOperator } from '../support/operator.ts';
import { aResource, decode } from '../support/oauth.ts';
import { up } from '../../migrations/0030-clients-that-administer.ts';

const PROTECTED = { name: 'WriteError', reason: 'not-allowed' };

const ISSUER = 'https://id.example.test';
const ADMIN = `${ISSUER}${ADMIN_PATH}`;
const HR = 'https://hr.example.test';

let at: TestApp;
beforeAll(async () => {
  at = await testApp();
});
afterAll(() => at.close());

const ask = (client: AClient, fields: Record<string, string | undefined> = {}) =>
  postForm(at, '/token', { grant_type: 'client_credentials', ...credentials(client), ...fields });
const users = (access_token: string) =>
  at.app.inject({ url: `${ADMIN_PATH}/users`, headers: { authorization: `Bearer ${access_token}` } });
const tokenOf = async (answer: ReturnType<typeof ask>): Promise<string> =>
  (await answer).json<{ access_token: string }>().access_token;

/** As an older server let it be written. */
const write = async (table: 'clients' | 'resources' | 'scopes', where: string, change: object): Promise<void> => {
  const key = { clients: 'client_id', resources: 'resource', scopes: 'name' }[table];
  await at.deps.db.updateTable(table).set(change).where(sql.ref(key), '=', where).execute();
  at.deps.directory.clear();
};

describe('ASVS 8.2.1: the names of the admin API’s scopes belong to it', () => {
  test('no other resource can say that it knows one', async () => {
    const operator = await anOperator(at);
    for (const name of ADMIN_SCOPES) {
      await expect(
        transact(at.deps.db, (trx) => putResource(trx, at.deps, HR, { scope: [name] }, BY, at.clock.now())),
      ).rejects.toThrow('admin API');
    }
    const url = `/resources/${encodeURIComponent(HR)}`;
    const answer = await operator.send('PUT', url, { scope: ['hr:read', 'users:read'] });
    expect(answer.statusCode).toBe(400);
    expect(answer.body).toContain('/scope/1');
  });

  test.each(['users:read', 'openid'])('%s cannot be made again as a scope of another kind', async (name) => {
    const { db } = at.deps;
    const before = await db.selectFrom('scopes').selectAll().where('name', '=', name).executeTakeFirstOrThrow();
    await db.deleteFrom('scopes').where('name', '=', name).execute();
    const put = (changes: object) => transact(at.deps.db, (trx) => putScope(trx, name, changes, BY, at.clock.now()));
    const other = { for_people: !before.for_people };
    await expect(put(other)).rejects.toMatchObject(PROTECTED);
    await expect(put({ claims: ['email'] })).rejects.toMatchObject(PROTECTED);
    expect(await put({ description: before.description })).toEqual(before);
    // One that is older than its meaning here can only become what it is here.
    await write('scopes', name, other);
    await expect(put({ description: 'Another' })).rejects.toMatchObject(PROTECTED);
    expect(await put({ for_people: before.for_people })).toEqual(before);
    at.deps.directory.clear();
  });
});

describe('RFC 9068 §4: power over the admin API is in tokens for it alone', () => {
  let client: AClient;
  beforeEach(async () => {
    await aResource(at, HR, { scope: ['jobs:read'] });
    await write('resources', HR, { scope: ['jobs:read', 'users:read'] });
    await aResource(at, 'https://any.example.test');
    client = await aService(at, { scope: 'jobs:read users:read', may_administer: true });
  });

  test.each([undefined, ISSUER, HR, 'https://any.example.test'])('not in one for %s', async (resource) => {
    const token = await tokenOf(ask(client, { resource }));
    expect(decode(token).payload['scope']).toBe('jobs:read');
    expect((await users(token)).statusCode).toBe(401);
    const asked = await ask(client, { resource, scope: 'users:read' });
    expect(asked.json()).toMatchObject({ error: 'invalid_scope', error_description: expect.stringContaining(ADMIN) });
  });

  test('RFC 9068 §4: nor in one that somebody else is sent as well', async () => {
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: client.client_id });
    form.set('client_secret', client.client_secret);
    for (const resource of [ADMIN, HR]) form.append('resource', resource);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await at.app.inject({ method: 'POST', url: '/token', headers, payload: form.toString() });
    const { access_token } = answer.json<{ access_token: string }>();
    expect(decode(access_token).payload).toMatchObject({ aud: [ADMIN, HR], scope: 'jobs:read' });
    expect((await users(access_token)).statusCode).toBe(401);
  });

  test('RFC 9068 §4: a token for two audiences is refused, whatever its scope', async () => {
    const good = await tokenOf(ask(client, { resource: ADMIN }));
    expect((await users(good)).statusCode).toBe(200);
    const forBoth = (scope: string): Promise<string> => {
      const claims = { ...decode(good).payload, aud: [ADMIN, HR], scope };
      return at.deps.keys.sign(claims, { typ: 'at+jwt', alg: 'RS256' }, at.clock.now());
    };
    // What means nothing to such an audience leaves nothing of the token.
    expect((await users(await forBoth('users:read'))).statusCode).toBe(401);
    const answer = await users(await forBoth('jobs:read users:read'));
    expect([answer.statusCode, answer.json<{ detail: string }>().detail]).toEqual([
      401,
      `the access token is for another audience: ask for one with resource=${ADMIN} alone`,
    ]);
  });
});

describe('ASVS 8.2.2: a client has power over the admin API only if it was given on purpose', () => {
  test('metadata that name its scopes without may_administer are not valid, anywhere', async () => {
    await expect(aService(at, { scope: 'jobs:read users:read' })).rejects.toThrow('may_administer');
    const present = await aService(at);
    const changed = changeClient(at, present, { scope: 'users:read' });
    await expect(changed).rejects.toThrow('may_administer');
    const operator = await anOperator(at);
    const answer = await operator.send('PATCH', `/clients/${present.client_id}`, { scope: 'users:read' });
    expect([answer.statusCode, answer.body.includes('may_administer')]).toEqual([400, true]);
    await expect(aClient(at, { token_endpoint_auth_method: 'none', may_administer: true })).rejects.toThrow(
      'only for confidential',
    );
  });

  test('the scopes of a client without it, which an older server let it have, are worth nothing', async () => {
    const client = await aService(at, { scope: 'jobs:read users:read', may_administer: true });
    const token = await tokenOf(ask(client, { resource: ADMIN }));
    await write('clients', client.client_id, { may_administer: false });
    expect((await ask(client, { resource: ADMIN })).json()).toMatchObject({ error: 'invalid_scope' });
    expect((await ask(client, { resource: ADMIN, scope: 'users:read' })).json()).toMatchObject({
      error: 'invalid_scope',
    });
    // Nor is what it was given before.
    expect((await users(token)).statusCode).toBe(401);
  });
});

test('the migration lets those keep their power who have it on purpose', async () => {
  const machine = { scope: 'users:read users:write', may_administer: true } as const;
  const chief = await aService(at, machine);
  const partly = await aService(at, { ...machine, scope: 'users:read keys:read' });
  const hr = await aService(at, { ...machine, scope: 'users:read' });
  const people = await aClient(at, { scope: 'openid users:write', may_administer: true });
  const self = await aService(at, machine);
  await write('clients', self.client_id, { registered_by: 'self' });
  await write('clients', people.client_id, { token_endpoint_auth_method: 'none' });
  await write('resources', HR, { scope: ['users:read'] });
  await at.deps.db.schema.alterTable('clients').dropColumn('may_administer').execute();
  await up(at.deps.db as never);
  const kept = await at.deps.db.selectFrom('clients').select('client_id').where('may_administer', '=', true).execute();
  const ids = new Set(kept.map(({ client_id }) => client_id));
  expect([chief, partly, hr, people, self].map(({ client_id }) => ids.has(client_id))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('doctor names what an older server let be written, and what to do about it', async () => {
  const look = async (): Promise<string> => {
    const opened = { deps: at.deps } as Opened;
    const found = await checks.clients(opened);
    return JSON.stringify(found);
  };
  expect(await look()).not.toContain('https://old.example.test');
  const client = await aService(at, { scope: 'jobs:read users:read', may_administer: true });
  await aResource(at, 'https://old.example.test');
  await write('resources', 'https://old.example.test', { scope: ['users:read'] });
  await write('clients', client.client_id, { may_administer: false });
  await write('scopes', 'keys:read', { for_people: true });
  const found = await look();
  expect(found).toContain(`${client.client_id}: names scopes of the admin API, and is given none: users:read`);
  expect(found).toContain(`postern clients update ${client.client_id} --scope \\"jobs:read\\"`);
  expect(found).toContain('https://old.example.test: lists scopes of the admin API');
  expect(found).toContain('postern scopes put keys:read --no-people --machines');
});
