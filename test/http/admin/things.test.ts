/** Scopes, resources, keys, settings, registration tokens, logout notices and the audit log, as operators keep them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { aClient, aUser, postForm, signIn } from '../../support/fixtures.ts';
import { anOperator, type Operator } from '../../support/operator.ts';

let at: TestApp;
let operator: Operator;
beforeAll(async () => {
  at = await testApp();
  operator = await anOperator(at);
});
afterAll(() => at.close());

type Json = Record<string, unknown>;
const NOTES = 'https://notes.example.test/v1?a=b c'.replace(' ', '%20');
const pathOf = (resource: string): string => `/resources/${encodeURIComponent(resource)}`;
const get = async (path: string): Promise<Json> => {
  const answer = await operator.send('GET', path);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
};
const items = async (path: string): Promise<Json[]> => (await get(path))['items'] as Json[];
const latest = async (event: string): Promise<Json> => (await items(`/audit-events?event=${event}&limit=1`))[0]!;

describe('scopes and resources', () => {
  test('specification §Endpoints 5: PUT creates at a free name (201), then replaces (200); PATCH changes; DELETE is idempotent', async () => {
    const made = await operator.send('PUT', '/scopes/notes:read', { description: 'Read your notes' });
    expect([made.statusCode, made.headers.location]).toEqual([
      201,
      'https://id.example.test/admin/v1/scopes/notes%3Aread',
    ]);
    const scope = { name: 'notes:read', description: 'Read your notes', claims: [], for_people: true };
    expect(made.json()).toEqual({ ...scope, descriptions: {}, for_machines: true, built_in: false });
    const patched = await operator.send('PATCH', '/scopes/notes:read', { for_machines: false });
    expect(patched.json()).toMatchObject({ ...scope, for_machines: false });
    const described = (tag: string, said: string | null) =>
      operator.send('PATCH', '/scopes/notes:read', { descriptions: { [tag]: said } });
    for (const tag of ['de', 'fr']) expect((await described(tag, `Notes, ${tag}`)).statusCode).toBe(200);
    expect((await described('DE', 'again')).statusCode).toBe(400);
    expect((await described('fr', null)).json()).toMatchObject({ descriptions: { de: 'Notes, de' } });
    const read = await get('/scopes/notes:read');
    expect((await operator.send('PUT', '/scopes/notes:read', read)).json()).toEqual(read);
    expect((await operator.send('PUT', '/scopes/notes:read', {})).json()).toMatchObject({ description: null });

    const resource = {
      name: 'Notes',
      scope: ['notes:read'],
      access_token_ttl: 60,
      client_id: operator.client.client_id,
    };
    expect((await operator.send('PUT', pathOf(NOTES), resource)).statusCode).toBe(201);
    expect(await get(pathOf(NOTES))).toMatchObject({ resource: NOTES, ...resource });
    expect((await operator.send('PATCH', pathOf(NOTES), { access_token_ttl: null })).json()).toMatchObject({
      name: 'Notes',
      access_token_ttl: null,
    });
    expect((await items('/resources?limit=5')).map((row) => row['resource'])).toContain(NOTES);
    const gone = async (path: string): Promise<number> => (await operator.send('DELETE', path)).statusCode;
    expect([await gone(pathOf(NOTES)), await gone(pathOf(NOTES))]).toEqual([204, 204]);
    expect([await gone('/scopes/notes:read'), await gone('/scopes/notes:read')]).toEqual([204, 204]);
  });

  test('a list of scopes goes page by page by name, and can be narrowed', async () => {
    const first = await get('/scopes?limit=3&for_machines=true');
    const second = await get(`/scopes?limit=3&for_machines=true&cursor=${String(first['next_cursor'])}`);
    const names = [first, second].flatMap((page) => (page['items'] as Json[]).map((row) => String(row['name'])));
    expect(names).toEqual(names.toSorted());
    expect(new Set(names).size).toBe(6);
  });

  test.each([
    ['PUT', '/scopes/two%20words', {}, 400],
    ['PUT', '/scopes/a', { name: 'b' }, 400],
    ['PUT', '/scopes/a', { for_people: 'yes' }, 400],
    ['PUT', '/scopes/a', { colour: 'red' }, 400],
    ['PUT', '/resources/not%20a%20uri', {}, 400],
    ['PUT', '/resources/https%3A%2F%2Fa.example.test%2F%23f', {}, 400],
    ['PUT', pathOf('https://id.example.test'), {}, 400],
    ['PUT', pathOf('https://id.example.test/admin/v1'), { access_token_format: 'opaque' }, 400],
    ['PUT', pathOf(NOTES), { client_id: 'nobody' }, 400],
    ['PUT', pathOf(NOTES), { access_token_signing_alg: 'none' }, 400],
    ['PATCH', pathOf('https://unknown.example.test'), {}, 404],
    ['PATCH', '/scopes/unknown', {}, 404],
    ['DELETE', '/scopes/openid', undefined, 409],
    ['DELETE', '/scopes/clients:write', undefined, 409],
    ['PATCH', '/scopes/clients:write', { for_people: true }, 409],
    ['PATCH', '/scopes/clients:write', { description: 'Change clients' }, 200],
    ['PUT', pathOf(`https://${'a'.repeat(1900)}.example.test/`), {}, 201],
    ['GET', `/resources/${'%61'.repeat(2500)}`, undefined, 404],
  ] as const)('%s %s with %j is answered %i', async (method, path, body, status) => {
    const answer = await operator.send(method, path, body);
    expect(answer.statusCode, answer.body).toBe(status);
  });
});

describe('keys', () => {
  test('are listed without private parts, rotated, and retired with a replacement', async () => {
    const before = await items('/keys?alg=RS256');
    expect(before).toMatchObject([{ state: 'active', published: true, use: 'sig' }]);
    expect(Object.keys(before[0]!)).toEqual([
      'kid', 'use', 'alg', 'state', 'published', 'created_at', 'activates_at', 'ends_at',
    ]); // prettier-ignore
    // Two keys of one moment would be in the order of their ids.
    at.clock.advance(1);
    const made = await operator.send('POST', '/keys/rotate', { alg: 'ES256' });
    expect(made.json()).toMatchObject({ alg: 'ES256', state: 'next' });
    expect(await get(`/keys/${made.json<{ kid: string }>().kid}`)).toEqual(made.json());
    const { kid } = (await operator.send('POST', '/keys/rotate', { alg: 'ES256', immediately: true })).json<{
      kid: string;
    }>();
    const retired = await operator.send('POST', `/keys/${kid}/retire`);
    expect(retired.json()).toEqual({ kid, alg: 'ES256', replacement: expect.any(String) });
    expect(await latest('key_retired')).toMatchObject({
      detail: { kid, alg: 'ES256', before: { in_use: true }, after: { in_use: false } },
    });
    expect((await operator.send('POST', `/keys/${kid}/retire`)).statusCode).toBe(409);
    expect((await operator.send('POST', '/keys/nobody/retire')).statusCode).toBe(404);
    expect((await operator.send('POST', '/keys/rotate', { alg: 'HS256' })).statusCode).toBe(400);
    const page = await get('/keys?limit=2&sort=-activates_at');
    const rest = await get(`/keys?limit=200&sort=-activates_at&cursor=${String(page['next_cursor'])}`);
    const all = (await items('/keys?sort=-activates_at')).map((key) => key['kid']);
    expect([page, rest].flatMap((part) => (part['items'] as Json[]).map((key) => key['kid']))).toEqual(all);
  });
});

test('settings are the configuration in force without its secrets, versions, and migrations', async () => {
  const settings = await get('/settings');
  expect(settings['configuration']).toMatchObject({
    ISSUER: 'https://id.example.test',
    SECRET_KEYS: '(hidden)',
    AUDIT_RETENTION: 34_560_000,
  });
  for (const secret of at.deps.config.SECRET_KEYS) expect(JSON.stringify(settings)).not.toContain(secret);
  expect(settings['versions']).toMatchObject({ node: process.versions.node });
  expect((settings['migrations'] as Json[]).every(({ applied }) => applied)).toBe(true);
  expect(loadConfig('command', {}).AUDIT_RETENTION).toBe(34_560_000);
  expect(() => loadConfig('command', { AUDIT_RETENTION: '3600' })).toThrow('AUDIT_RETENTION');
});

test('RFC 7591 §3: a registration token is shown once, registers a client, and is taken back', async () => {
  const made = await operator.send('POST', '/registration-tokens', { label: 'team', uses: 2, expires_in: 3600 });
  expect(made.statusCode, made.body).toBe(201);
  const { token_id, initial_access_token, ...rest } = made.json<Json>();
  expect(rest).toMatchObject({ label: 'team', uses_left: 2 });
  expect(await get(`/registration-tokens/${String(token_id)}`)).toEqual({ token_id, ...rest });
  expect(await items('/registration-tokens')).toEqual([{ token_id, ...rest }]);
  expect(JSON.stringify(await latest('registration_token_created'))).not.toContain(String(initial_access_token));
  expect((await operator.send('DELETE', `/registration-tokens/${String(token_id)}`)).statusCode).toBe(204);
  expect(await items('/registration-tokens')).toEqual([]);
  expect((await operator.send('POST', '/registration-tokens', { uses: 0 })).statusCode).toBe(400);
});

test('a logout notice that was given up is listed, sent again when asked, or forgotten', async () => {
  const { client_id } = await aClient(at, { backchannel_logout_uri: 'https://app.example.test/logout' });
  const now = at.clock.now();
  const dead = { client_id, sub: 'ada', sid: 's', attempts: 10, next_at: now, created_at: now, last_failure: 'no' };
  for (const dead_at of [now, now, null]) {
    await at.deps.db
      .insertInto('logout_notices')
      .values({ ...dead, dead_at })
      .execute();
  }
  const [one, two] = await items(`/logout-notices?client_id=${client_id}`);
  expect(one).toMatchObject({ client_id, attempts: 10, last_failure: 'no', dead_at: now.toISOString() });
  const path = (notice: Json): string => `/logout-notices/${String(notice['notice_id'])}`;
  expect((await operator.send('POST', `${path(one!)}/retry`)).statusCode).toBe(204);
  expect((await operator.send('POST', `${path(one!)}/retry`)).statusCode).toBe(404);
  expect((await operator.send('DELETE', path(two!))).statusCode).toBe(204);
  expect(await items('/logout-notices')).toEqual([]);
  const due = await at.deps.db.selectFrom('logout_notices').select(['attempts', 'dead_at']).execute();
  expect(due).toContainEqual({ attempts: 0, dead_at: null });
  expect((await operator.send('GET', '/logout-notices/abc')).statusCode).toBe(404);
});

describe('the audit log', () => {
  test('says who did what, by which request, and what was before and after, without secrets', async () => {
    const made = await operator.send('POST', '/clients', {
      client_name: 'Shop',
      client_secret: 'a secret that must never be in the log',
      redirect_uris: ['https://shop.example.test/cb'],
    });
    const { client_id } = made.json<{ client_id: string }>();
    const renamed = await operator.send('PATCH', `/clients/${client_id}`, { client_name: 'The shop' });
    await operator.send('DELETE', `/clients/${client_id}`);
    const [deleted, updated, created] = await items(`/audit-events?client_id=${client_id}`);
    expect(created).toMatchObject({ event: 'client_created', detail: { after: { client_name: 'Shop' } } });
    expect(updated).toMatchObject({
      event: 'client_updated',
      actor: operator.client.client_id,
      ip: expect.any(String),
      request_id: renamed.headers['x-request-id'],
      detail: { before: { client_name: 'Shop' }, after: { client_name: 'The shop' } },
    });
    expect(updated!['detail']).toEqual({ before: { client_name: 'Shop' }, after: { client_name: 'The shop' } });
    expect(deleted).toMatchObject({ event: 'client_deleted', detail: { before: { client_name: 'The shop' } } });
    expect(JSON.stringify([created, updated, deleted])).not.toContain('must never');

    await operator.send('PUT', '/scopes/logged', { description: 'One' });
    await operator.send('PATCH', '/scopes/logged', { description: 'Two' });
    expect((await latest('scope_changed'))['detail']).toEqual({
      name: 'logged',
      before: { description: 'One' },
      after: { description: 'Two' },
    });
    await operator.send('DELETE', '/scopes/logged');
    expect(await latest('scope_deleted')).toMatchObject({ detail: { name: 'logged', grants_changed: 0 } });
  });

  test('is narrowed by each filter and by time, and goes page by page, latest first', async () => {
    const user = await aUser(at);
    await signIn(at, user);
    at.clock.advance(100);
    const until = at.clock.now().toISOString();
    await signIn(at, user);
    const all = await items(`/audit-events?sub=${user.sub}`);
    expect(all.map(({ event }) => event)).toEqual(['sign_in', 'sign_in', 'user_created']);
    const before = await items(`/audit-events?sub=${user.sub}&until=${encodeURIComponent(until)}`);
    expect(before).toEqual(all.slice(1));
    expect(await items(`/audit-events?sub=${user.sub}&since=${encodeURIComponent(until)}`)).toEqual(all.slice(0, 1));
    const [{ request_id, event_id, ip }] = all as [Json];
    expect(await items(`/audit-events?request_id=${String(request_id)}`)).toEqual(all.slice(0, 1));
    expect(await get(`/audit-events/${String(event_id)}`)).toEqual(all[0]);
    expect((await items(`/audit-events?ip=${String(ip)}&event=sign_in&sub=${user.sub}`)).length).toBe(2);
    expect((await items('/audit-events?actor=nobody')).length).toBe(0);
    const seen: unknown[] = [];
    for (let cursor = ''; ;) {
      const page = await get(`/audit-events?limit=7${cursor}`);
      seen.push(...(page['items'] as Json[]).map((row) => row['event_id']));
      if (page['next_cursor'] === null) break;
      cursor = `&cursor=${page['next_cursor'] as string}`;
    }
    const rows = await at.deps.db.selectFrom('audit_events').select('event_id').orderBy('event_id', 'desc').execute();
    expect(seen).toEqual(rows.map((row) => row.event_id));
    for (const query of ['since=yesterday', 'until=2026-01-01', 'colour=red', 'sort=event']) {
      expect((await operator.send('GET', `/audit-events?${query}`)).statusCode, query).toBe(400);
    }
    for (const id of ['abc', '99999999999999999999', '-1']) {
      expect((await operator.send('GET', `/audit-events/${id}`)).statusCode, id).toBe(404);
    }
  });

  test('is exported whole as NDJSON where that is asked for, filters and all', async () => {
    const row = {
      event: 'test',
      detail: '{}',
      sub: null,
      client_id: 'exported',
      actor: null,
      ip: null,
      request_id: null,
    };
    const many = Array.from({ length: 450 }, (_, i) => ({ ...row, at: new Date(at.clock.now().getTime() - i) }));
    await at.deps.db.insertInto('audit_events').values(many).execute();
    const headers = { accept: 'application/x-ndjson' };
    const answer = await operator.send('GET', '/audit-events?client_id=exported', undefined, headers);
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
    const lines = answer.body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Json);
    expect(lines.map((line) => line['at'])).toEqual(many.map((event) => event.at.toISOString()));
    expect(lines[0]).toEqual((await items('/audit-events?client_id=exported&limit=1'))[0]);

    const refusal = async (path: string): Promise<number> =>
      (await operator.send('GET', path, undefined, headers)).statusCode;
    expect(await refusal('/audit-events?limit=5')).toBe(400);
    expect(await refusal('/audit-events?colour=red')).toBe(400);
    expect(await refusal('/clients')).toBe(406);
    expect(await refusal('/audit-events/1')).toBe(406);
    const either = { accept: 'application/x-ndjson;q=0.5, application/json' };
    expect((await operator.send('GET', '/audit-events', undefined, either)).headers['content-type']).toContain('/json');
    const other = await anOperator(at, ['clients:read']);
    expect((await other.send('GET', '/audit-events', undefined, headers)).statusCode).toBe(403);
    const document = (await at.app.inject('/admin/v1/openapi.json')).json<{ paths: Record<string, { get: Json }> }>();
    expect(JSON.stringify(document.paths['/audit-events']!.get)).toContain('application/x-ndjson');
  });

  test('a change by hand cannot be made: nothing but reading is routed', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      expect((await operator.send(method, '/audit-events', {})).statusCode).toBe(405);
    }
    expect((await postForm(at, '/admin/v1/audit-events', {})).statusCode).toBe(405);
  });
});
