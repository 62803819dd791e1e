import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOn, type Postern } from '../../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let postern: Postern;
beforeAll(async () => {
  database = await createTestDatabase();
  postern = await commandsOn(database);
});
afterAll(() => database.close());

test('clients disable and enable, and the audit log that says who did', async () => {
  await postern(['clients', 'create', '--client-id', 'shop', '--redirect-uri', 'https://shop.example.test/cb', '-q']);
  expect((await postern(['clients', 'disable', 'shop', '--json'])).json()).toEqual({
    client_id: 'shop',
    disabled: true,
  });
  expect((await postern(['clients', 'get', 'shop'])).stdout).toMatch(/^disabled +\d{4}-/m);
  expect((await postern(['clients', 'enable', 'shop'])).stdout).toBe('Client shop is enabled.\n');
  expect((await postern(['clients', 'disable', 'nobody'])).code).toBe(3);

  const listed = await postern(['audit', 'list', '--client', 'shop', '--since', '1h', '--json']);
  const events = ['client_enabled', 'client_disabled', 'client_created'];
  expect(listed.items().map(({ event }) => event)).toEqual(events);
  expect(listed.items()[2]).toMatchObject({ actor: expect.stringMatching(/^cli:/), client_id: 'shop' });
  expect((await postern(['audit', 'list', '--limit', '1'])).stdout).toMatch(/client_enabled +shop +cli:/);
  expect((await postern(['audit', 'list', '--until', '1h'])).stdout).toBe('Nothing of this kind happened.\n');
  expect((await postern(['audit', 'list', '--since', 'yesterday'])).code).toBe(2);
});

test('audit export writes a line of JSON for each event, and ends well when its reader has enough', async () => {
  const row = { event: 'test', detail: '{}', sub: null, actor: null, ip: null, request_id: null };
  const at = new Date('2026-01-31T12:00:00Z');
  const many = Array.from({ length: 1203 }, (_, i) => ({ ...row, at, client_id: `client-${i}` }));
  await database.db.insertInto('audit_events').values(many).execute();
  const all = await postern(['audit', 'export', '--event', 'test', '--since', '2026-01-31', '--until', '2026-02-01']);
  const clients = all.lines.map((line) => (JSON.parse(line) as { client_id: string }).client_id);
  expect([all.code, clients]).toEqual([0, many.map(({ client_id }) => client_id).toReversed()]);
  const none = await postern(['audit', 'export', '--event', 'test', '--until', '2026-01-31T12:00:00Z']);
  expect([none.code, none.stdout]).toEqual([0, '']);
});
