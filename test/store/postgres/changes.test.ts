/** What one process changes, another one on the same database notices at once, as long as it hears it. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDirectory } from '../../../src/clients/directory.ts';
import { putScope } from '../../../src/clients/scopes.ts';
import { createKeyRing } from '../../../src/keys/index.ts';
import { followChanges } from '../../../src/main/changes.ts';
import { listenForChanges } from '../../../src/store/postgres/changes.ts';
import { transact } from '../../../src/store/postgres/db.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { aClient } from '../../support/fixtures.ts';
import { until } from '../../support/postgres-process.ts';

let at: TestApp;
/** Another process: its clock stands still, so nothing that it keeps ever gets old. */
let other: Pick<TestApp['deps'], 'directory' | 'keys' | 'log'>;
let stop: () => Promise<void>;
beforeAll(async () => {
  at = await testApp();
  const { db, secrets, log } = at.deps;
  other = { directory: createDirectory(db, () => 0), keys: createKeyRing(db, secrets), log };
  stop = followChanges(other, at.database.connection);
  await until('it listens', async () => (await listeners()).length === 1);
});
afterAll(async () => {
  await stop();
  await at.close();
});

const listeners = async (): Promise<number[]> => {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity
    where datname = current_database() and application_name = 'postern changes' and query like 'listen%'`.execute(
    at.deps.db,
  );
  return rows.map(({ pid }) => pid);
};

const disable = (client_id: string) =>
  at.deps.db.updateTable('clients').set({ disabled_at: at.clock.now() }).where('client_id', '=', client_id).execute();

test('a client, scope or key that was changed elsewhere is read again at once', async () => {
  const { client_id } = await aClient(at);
  await until('it is there', async () => (await other.directory.client(client_id)) !== undefined);
  await disable(client_id);
  await until('it is not', async () => (await other.directory.client(client_id)) === undefined);

  const name = 'changes:read';
  expect((await other.directory.scopes()).has(name)).toBe(false);
  const scope = { description: 'Changes', claims: [], for_people: true, for_machines: true };
  await transact(at.deps.db, (trx) => putScope(trx, name, scope, { actor: 'a test' }, at.clock.now()));
  await until('the scope is there', async () => (await other.directory.scopes()).has(name));

  await other.keys.reload();
  const { kid } = other.keys.active('RS256', at.clock.now());
  await at.deps.db.updateTable('signing_keys').set({ retired_at: at.clock.now() }).where('kid', '=', kid).execute();
  const find = () => other.keys.find(kid, at.clock.now());
  await until('the key is refused', async () => (await find()) === undefined);
  await at.deps.db.updateTable('signing_keys').set({ retired_at: null }).where('kid', '=', kid).execute();
  await until('the key is taken', async () => (await find()) !== undefined);
});

test('who could not listen for a while finds its connection again, and reads everything again', async () => {
  const { client_id } = await aClient(at);
  await until('it is there', async () => (await other.directory.client(client_id)) !== undefined);
  const [pid] = await listeners();
  await sql`select pg_terminate_backend(${pid})`.execute(at.deps.db);
  await disable(client_id);
  await until('it is not', async () => (await other.directory.client(client_id)) === undefined);
  expect(await listeners()).not.toContain(pid);
});

test('that a client is used says nothing to anybody', async () => {
  const { client_id } = await aClient(at);
  const heard: string[] = [];
  const end = listenForChanges(at.database.connection, (what) => heard.push(what));
  await until('it listens', () => heard.length === 1);
  const used = { last_used_at: at.clock.now() };
  await at.deps.db.updateTable('clients').set(used).where('client_id', '=', client_id).execute();
  await at.deps.db.updateTable('scopes').set({ description: 'Another' }).where('name', '=', 'openid').execute();
  await until('the last is heard', () => heard.length > 1);
  expect(heard).toEqual(['everything', 'scopes']);
  await end();
});
