/** The directory under writes: nobody fails because somebody else changed something. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient } from '../support/fixtures.ts';

let at: TestApp;
beforeAll(async () => {
  at = await testApp();
});
afterAll(() => at.close());

test('who is looking something up while it is cleared is answered, and what was read then is not kept', async () => {
  const { deps } = at;
  const { client_id } = await aClient(at, { client_name: 'Before' });
  deps.directory.clear();
  const underWay = [deps.directory.client(client_id), deps.directory.scopes(), deps.directory.resources()] as const;
  deps.directory.clear();
  const [client, scopes, resources] = await Promise.all(underWay);
  expect([client?.client_name, scopes.has('openid'), resources.size > 0]).toEqual(['Before', true, true]);
  await deps.db.updateTable('clients').set({ client_name: 'After' }).where('client_id', '=', client_id).execute();
  expect((await deps.directory.client(client_id))?.client_name).toBe('After');
});
