import { afterAll, beforeAll, expect, test } from 'vitest';
import { posternOn, type Postern } from '../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { stopServers } from '../support/server.ts';

let database: TestDatabase;
let postern: Postern;
beforeAll(async () => {
  database = await createTestDatabase();
  postern = posternOn(database);
  for (const name of ['ada', 'bob']) await postern(['users', 'create', '--username', name, '--no-password']);
});
afterAll(async () => {
  await database.close();
  await stopServers();
});

test('groups: create, add, get, list, update, remove, delete', async () => {
  const made = (await postern(['groups', 'create', '--name', 'staff', '--json'])).json() as { group_id: string };
  expect((await postern(['groups', 'create', '--name', 'staff'])).code).toBe(1);
  const again = await postern(['groups', 'create', '--name', 'staff', '--if-not-exists', '-q']);
  expect(again.stdout).toBe(`${made.group_id}\n`);
  expect((await postern(['groups', 'create', '--name', ' x'])).code).toBe(2);
  const added = await postern(['groups', 'add', 'staff', '--user', 'ada', '--user', 'bob', '--json']);
  const { added: subs } = added.json() as { added: string[] };
  expect(subs).toHaveLength(2);
  expect((await postern(['groups', 'get', 'staff', '--json'])).json()).toMatchObject({
    members: expect.arrayContaining(subs) as unknown,
  });
  await postern(['groups', 'remove', made.group_id, '--user', 'bob']);
  expect((await postern(['groups', 'list', '--user', 'bob'])).stdout).toMatch(/no groups/);
  expect((await postern(['groups', 'list', '--user', 'ada', '-q'])).stdout).toBe(`${made.group_id}\n`);
  expect((await postern(['groups', 'update', 'staff', '--name', 'crew', '--json'])).json()).toMatchObject({
    name: 'crew',
  });
  expect((await postern(['groups', 'add', 'crew', '--user', 'nobody'])).code).toBe(3);
  expect((await postern(['groups', 'delete', 'crew', '-q'])).stdout).toBe(`${made.group_id}\n`);
  expect((await postern(['groups', 'get', 'crew'])).code).toBe(3);
});

test('roles: create, give, get, take, list, delete', async () => {
  const resource = 'https://notes.example.test';
  expect((await postern(['roles', 'create', '--name', 'editor', '--resource', resource])).code).toBe(2);
  const put = await postern(['resources', 'put', resource, '--claims', 'roles', '--json']);
  expect(put.json()).toMatchObject({ claims: ['roles'] });
  expect((await postern(['resources', 'put', resource, '--claims', 'email'])).code).toBe(2);
  await postern(['groups', 'create', '--name', 'writers']);
  const made = await postern(['roles', 'create', '--name', 'editor', '--resource', resource, '--json']);
  const { role_id } = made.json() as { role_id: string };
  const given = await postern(['roles', 'give', role_id, '--user', 'ada', '--group', 'writers', '--json']);
  expect(given.json()).toMatchObject({ given: [expect.any(String), expect.any(String)] });
  await postern(['roles', 'take', role_id, '--user', 'ada']);
  expect((await postern(['roles', 'get', role_id, '--json'])).json()).toMatchObject({
    users: [],
    groups: [expect.any(String)],
  });
  expect((await postern(['roles', 'list', '--resource', resource, '-q'])).stdout).toBe(`${role_id}\n`);
  expect((await postern(['roles', 'update', role_id, '--name', 'author'])).code).toBe(0);
  expect((await postern(['roles', 'delete', role_id])).code).toBe(0);
  expect((await postern(['roles', 'give', role_id, '--user', 'ada'])).code).toBe(3);
});
