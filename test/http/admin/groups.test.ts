import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { User } from '../../../src/store/users.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { aUser } from '../../support/fixtures.ts';
import { aResource } from '../../support/oauth.ts';
import { anOperator, type Operator } from '../../support/operator.ts';

let at: TestApp;
let operator: Operator;
let ada: User;
let bob: User;
const NOTES = 'https://notes.example.test/api?v=1';
beforeAll(async () => {
  at = await testApp();
  operator = await anOperator(at);
  [ada, bob] = [await aUser(at, { sub: 'ada/1' }), await aUser(at, { sub: 'bob' })];
  await aResource(at, NOTES);
});
afterAll(() => at.close());

type Json = Record<string, unknown>;
const send = async (...request: Parameters<Operator['send']>): Promise<[number, Json]> => {
  const answer = await operator.send(...request);
  return [answer.statusCode, answer.body === '' ? {} : answer.json<Json>()];
};
const make = async (path: string, fields: Json): Promise<Json> => {
  const [status, item] = await send('POST', path, fields);
  expect([status, item]).toMatchObject([201, fields]);
  return item;
};
const eventsOf = async (member: 'group_id' | 'role_id', id: unknown): Promise<string[]> => {
  const rows = await at.deps.db.selectFrom('audit_events').select(['event', 'detail']).orderBy('event_id').execute();
  return rows.filter(({ detail }) => detail[member] === id).map(({ event }) => event);
};
const of = (sub: string): string => encodeURIComponent(sub);

describe('groups', () => {
  test('are made, read, changed and deleted, and every change is an event', async () => {
    const group = await make('/groups', { name: 'Entwicklung äöü', description: 'Those who build' });
    const path = `/groups/${String(group['group_id'])}`;
    expect(await send('GET', path)).toEqual([200, group]);
    expect(await send('PATCH', path, { description: null })).toMatchObject([200, { name: 'Entwicklung äöü' }]);
    expect(await send('PUT', path, group)).toMatchObject([200, { description: 'Those who build' }]);
    expect(await send('PUT', path, group)).toMatchObject([200, group]);
    expect(await send('DELETE', path)).toEqual([204, {}]);
    expect(await send('DELETE', path)).toEqual([204, {}]);
    expect((await send('GET', path))[0]).toBe(404);
    // What changes nothing is none.
    const events = ['group_created', 'group_updated', 'group_updated', 'group_deleted'];
    expect(await eventsOf('group_id', group['group_id'])).toEqual(events);
    const rows = await at.deps.db.selectFrom('audit_events').select('detail').where('event', '=', events[1]!).execute();
    expect(rows[0]!.detail).toMatchObject({ before: { description: 'Those who build' }, after: { description: null } });
  });

  test('have one name each, written in one way', async () => {
    await make('/groups', { name: 'taken' });
    expect(await send('POST', '/groups', { name: 'taken' })).toMatchObject([
      409,
      { type: 'urn:postern:problem:conflict' },
    ]);
    const { group_id } = await make('/groups', { name: 'free' });
    expect((await send('PATCH', `/groups/${String(group_id)}`, { name: 'taken' }))[0]).toBe(409);
    for (const name of ['', ' a', 'a\tb', 'a\u200Bb', 'e\u0301', 'x'.repeat(201), 7, null]) {
      const [status, problem] = await send('POST', '/groups', { name });
      expect([name, status, problem['errors']]).toMatchObject([name, 400, [{ pointer: '/name' }]]);
    }
  });

  test('are listed by name or age, and found by name and by member', async () => {
    const names = ['list-c', 'list-a', 'list-b'];
    for (const name of names) await make('/groups', { name });
    const first = (await send('GET', '/groups?sort=name&limit=1'))[1];
    expect(first['next_cursor']).toEqual(expect.any(String));
    const second = (await send('GET', `/groups?sort=name&limit=200&cursor=${String(first['next_cursor'])}`))[1];
    const all = [...(first['items'] as Json[]), ...(second['items'] as Json[])].map(({ name }) => String(name));
    expect(all).toEqual(expect.arrayContaining(names));
    expect(new Set(all).size).toBe(all.length);
    const [, found] = await send('GET', '/groups?name=list-b');
    const [group] = found['items'] as Json[];
    await send('PUT', `/groups/${String(group!['group_id'])}/members/bob`, {});
    expect(await send('GET', '/groups?sub=bob')).toEqual([200, { items: [group], next_cursor: null }]);
  });
});

describe('members', () => {
  test('are put in, listed and taken out, one by one', async () => {
    const { group_id } = await make('/groups', { name: 'one by one' });
    const path = `/groups/${String(group_id)}/members`;
    expect(await send('PUT', `${path}/${of(ada.sub)}`, {})).toMatchObject([201, { sub: ada.sub }]);
    expect(await send('PUT', `${path}/${of(ada.sub)}`, {})).toMatchObject([200, { sub: ada.sub }]);
    expect(await send('PUT', `${path}/${of(bob.sub)}`, { sub: bob.sub })).toMatchObject([201, { sub: bob.sub }]);
    const [, first] = await send('GET', `${path}?limit=1`);
    const [, second] = await send('GET', `${path}?limit=1&cursor=${String(first['next_cursor'])}`);
    expect([first, second]).toMatchObject([
      { items: [{ sub: ada.sub }] },
      { items: [{ sub: bob.sub }], next_cursor: null },
    ]);
    expect(await send('DELETE', `${path}/${of(ada.sub)}`)).toEqual([204, {}]);
    expect(await send('DELETE', `${path}/${of(ada.sub)}`)).toEqual([204, {}]);
    expect((await send('GET', `${path}/${of(ada.sub)}`))[0]).toBe(404);
    expect((await eventsOf('group_id', group_id)).slice(1)).toEqual([
      'group_member_added',
      'group_member_added',
      'group_member_removed',
    ]);
    expect((await send('PUT', `${path}/bob`, { sub: 'other' }))[0]).toBe(400);
    expect((await send('PUT', `${path}/nobody`, {}))[0]).toBe(404);
    expect((await send('PUT', '/groups/none/members/bob', {}))[0]).toBe(404);
    expect((await send('GET', '/groups/none/members'))[0]).toBe(404);
  });

  test('are added many at once, all or nobody', async () => {
    const { group_id } = await make('/groups', { name: 'many' });
    const path = `/groups/${String(group_id)}/members`;
    const [status, problem] = await send('POST', `${path}/add`, { subs: ['bob', 'nobody', ada.sub] });
    expect([status, problem['errors']]).toMatchObject([400, [{ pointer: '/subs/1' }]]);
    expect(await send('GET', path)).toEqual([200, { items: [], next_cursor: null }]);
    const [, added] = await send('POST', `${path}/add`, { subs: ['bob', ada.sub, 'bob'] });
    expect(added).toEqual({ added: expect.arrayContaining(['bob', ada.sub]) as unknown });
    expect(await send('POST', `${path}/add`, { subs: ['bob'] })).toEqual([200, { added: [] }]);
    expect((await send('POST', `${path}/add`, { subs: [] }))[0]).toBe(400);
    expect((await send('POST', '/groups/none/members/add', { subs: ['bob'] }))[0]).toBe(404);
    expect(await eventsOf('group_id', group_id)).toHaveLength(3);
  });
});

describe('roles', () => {
  test('belong to one resource, or to the whole server', async () => {
    const here = await make('/roles', { name: 'editor', resource: NOTES });
    const everywhere = await make('/roles', { name: 'editor', resource: null });
    expect((await send('POST', '/roles', { name: 'editor' }))[0]).toBe(409);
    expect((await send('POST', '/roles', { name: 'editor', resource: NOTES }))[0]).toBe(409);
    expect((await send('POST', '/roles', { name: 'editor', resource: 'https://nobody.example.test' }))[0]).toBe(400);
    const listed = async (query: string): Promise<unknown> => (await send('GET', `/roles?${query}`))[1]['items'];
    expect(await listed(`resource=${encodeURIComponent(NOTES)}`)).toEqual([here]);
    expect(await listed('server_wide=true')).toEqual([everywhere]);
    expect(await listed('name=editor&sort=name')).toHaveLength(2);
    expect((await send('GET', '/roles?resource=a&resource=b'))[0]).toBe(400);
    const path = `/roles/${String(here['role_id'])}`;
    expect((await send('PATCH', path, { resource: null }))[0]).toBe(400);
    expect(await send('PATCH', path, { name: 'author' })).toMatchObject([200, { name: 'author', resource: NOTES }]);
    expect((await send('DELETE', path))[0]).toBe(204);
    expect(await eventsOf('role_id', here['role_id'])).toEqual(['role_created', 'role_updated', 'role_deleted']);
  });

  test('are held by people and by groups', async () => {
    const { role_id } = await make('/roles', { name: 'holder', resource: NOTES });
    const { group_id } = await make('/groups', { name: 'holders' });
    for (const [kind, id, named] of [
      ['users', 'bob', { sub: 'bob' }],
      ['groups', String(group_id), { group_id }],
    ] as const) {
      const path = `/roles/${String(role_id)}/${kind}`;
      expect((await send('PUT', `${path}/nobody`, {}))[0]).toBe(404);
      expect(await send('PUT', `${path}/${id}`, {})).toMatchObject([201, named]);
      expect(await send('PUT', `${path}/${id}`, {})).toMatchObject([200, named]);
      expect((await send('GET', path))[1]).toMatchObject({ items: [named], next_cursor: null });
      expect((await send('GET', `${path}/${id}`))[0]).toBe(200);
      expect((await send('DELETE', `${path}/${id}`))[0]).toBe(204);
      expect((await send('GET', path))[1]).toEqual({ items: [], next_cursor: null });
      expect((await send('GET', `/roles/none/${kind}`))[0]).toBe(404);
    }
    const held = ['role_given', 'role_taken'];
    expect((await eventsOf('role_id', role_id)).slice(1)).toEqual([...held, ...held]);
  });

  test('are another scope than groups', async () => {
    const reader = await anOperator(at, ['groups:write', 'groups:read']);
    expect((await reader.send('GET', '/groups')).statusCode).toBe(200);
    expect((await reader.send('GET', '/roles')).statusCode).toBe(403);
    expect((await reader.send('POST', '/roles', { name: 'mine' })).statusCode).toBe(403);
  });
});

describe('one person', () => {
  test('can be in 1000 groups and hold 1000 roles, as a group can', async () => {
    const { sub } = await aUser(at, { sub: 'sociable' });
    const { group_id } = await make('/groups', { name: 'the last' });
    const { role_id } = await make('/roles', { name: 'the last' });
    const numbers = sql`generate_series(1, 1000) n`;
    for (const table of ['groups', 'roles'] as const) {
      const id = sql.ref(table === 'groups' ? 'group_id' : 'role_id');
      await sql`
        insert into ${sql.table(table)} (${id}, name, created_at, updated_at)
        select 'one' || n, 'one' || n, now(), now() from ${numbers}`.execute(at.deps.db);
    }
    for (const [table, id, other, whose] of [
      ['group_members', 'group_id', 'sub', sub],
      ['role_users', 'role_id', 'sub', sub],
      ['role_groups', 'role_id', 'group_id', group_id],
    ] as const) {
      await sql`
        insert into ${sql.table(table)} (${sql.ref(id)}, ${sql.ref(other)}, created_at)
        select 'one' || n, ${whose}, now() from ${numbers}`.execute(at.deps.db);
    }
    for (const [path, whose] of [
      [`/groups/${String(group_id)}/members`, sub],
      [`/roles/${String(role_id)}/users`, sub],
      [`/roles/${String(role_id)}/groups`, String(group_id)],
    ] as const) {
      const [status, problem] = await send('PUT', `${path}/${whose}`, {});
      expect([status, problem['detail']]).toEqual([400, expect.stringContaining(`${whose}: `)]);
      expect((await send('GET', path))[1]).toMatchObject({ items: [] });
      const present = path.replace(/(groups|roles)\/[^/]+/, '$1/one1000');
      // What they are in, or hold, can be said again.
      expect((await send('PUT', `${present}/${whose}`, {}))[0]).toBe(200);
      expect((await send('DELETE', `${present}/${whose}`))[0]).toBe(204);
      expect((await send('PUT', `${path}/${whose}`, {}))[0]).toBe(201);
    }
    const [status, problem] = await send('POST', '/groups/one1000/members/add', { subs: ['bob', sub] });
    expect([status, problem['detail']]).toEqual([400, `${sub}: in 1000 groups already, and nobody can be in more`]);
    expect((await send('GET', '/groups/one1000/members'))[1]).toMatchObject({ items: [] });
  });
});
