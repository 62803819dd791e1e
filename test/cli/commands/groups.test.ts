import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOn, type Postern } from '../../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { stopServers } from '../../support/server.ts';

let database: TestDatabase;
let postern: Postern;
const codesOf = async (...commands: string[][]): Promise<Array<number | null>> =>
  (await Promise.all(commands.map((command) => postern(command)))).map(({ code }) => code);
beforeAll(async () => {
  database = await createTestDatabase();
  postern = await commandsOn(database);
  await postern(['users', 'create', '--username', 'ada', '--no-password']);
});
afterAll(async () => {
  await database.close();
  await stopServers();
});

test('groups are made once, joined, shown by who is in them, and left', { timeout: 60_000 }, async () => {
  const { group_id } = (await postern(['groups', 'create', '--name', 'staff', '--json'])).json();
  const again = await postern(['groups', 'create', '--name', 'staff', '--if-not-exists', '-q']);
  expect(again.stdout).toBe(`${String(group_id)}\n`);
  const { added } = (await postern(['groups', 'add', 'staff', '--user', 'ada', '--json'])).json();
  expect(added).toHaveLength(1);
  expect((await postern(['groups', 'get', 'staff', '--json'])).json()['members']).toEqual(added);
  expect((await postern(['groups', 'list', '--user', 'ada', '-q'])).stdout).toBe(again.stdout);
  const left = await postern(['groups', 'remove', String(group_id), '--user', 'ada', '--json']);
  expect(left.json()).toEqual({ group_id, removed: added });
  const taken = ['groups', 'create', '--name', 'staff'];
  expect(await codesOf(taken, ['groups', 'create', '--name', ' x'], ['groups', 'get', 'nothing'])).toEqual([1, 2, 3]);
});

test(
  'roles are made at a resource that there is, given, taken and shown by who holds them',
  { timeout: 60_000 },
  async () => {
    const resource = 'https://notes.example.test';
    const role = ['roles', 'create', '--name', 'editor', '--resource', resource, '--json'];
    expect((await postern(role)).code).toBe(2);
    const put = await postern(['resources', 'put', resource, '--claims', 'roles', '--json']);
    expect(put.json()['claims']).toEqual(['roles']);
    const role_id = String((await postern(role)).json()['role_id']);
    const given = await postern(['roles', 'give', role_id, '--user', 'ada', '--group', 'staff', '--json']);
    expect(given.json()['given']).toHaveLength(2);
    await postern(['roles', 'take', role_id, '--user', 'ada']);
    expect((await postern(['roles', 'get', role_id, '--json'])).json()).toMatchObject({
      users: [],
      groups: [expect.any(String)],
    });
    expect((await postern(['roles', 'list', '--resource', resource, '-q'])).stdout).toBe(`${role_id}\n`);
    expect(await codesOf(['roles', 'delete', role_id], ['roles', 'get', 'nothing'])).toEqual([0, 3]);
  },
);
