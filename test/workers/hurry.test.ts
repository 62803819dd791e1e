/** Jobs that do not wait for their turn: what they are for has just changed. */
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { followChanges } from '../../src/main/changes.ts';
import { startWorkers } from '../../src/workers/index.ts';
import type { Worker } from '../../src/workers/worker.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aClient } from '../support/fixtures.ts';
import { PNG } from '../support/images.ts';
import { until } from '../support/postgres-process.ts';

let at: TestApp;
beforeAll(async () => {
  const fetch: TestApp['deps']['fetch'] = async () => ({
    status: 200,
    media_type: 'image/png',
    headers: new Headers(),
    text: '',
    bytes: PNG,
  });
  at = await testApp({ fetch });
});
afterAll(() => at.close());
beforeEach(() => {
  // No turn ever comes by itself.
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
});

test('the logo of a new client is fetched at once', async () => {
  const workers = startWorkers(at.deps);
  const stop = followChanges(at.deps, at.database.connection, workers.onChange);
  onTestFinished(async () => {
    await stop();
    await workers.stop();
  });
  // Who is made before anybody listens has to wait for its turn.
  const listening = sql`
    select from pg_stat_activity where datname = current_database() and query ilike 'listen%' and state = 'idle'`;
  await until('somebody listens', async () => (await listening.execute(at.deps.db)).rows.length > 0);
  const { client_id } = await aClient(at, { logo_uri: 'https://app.example.test/logo.png' });
  const logoOf = (): Promise<{ logo_hash: string | null } | undefined> =>
    at.deps.db.selectFrom('clients').select('logo_hash').where('client_id', '=', client_id).executeTakeFirst();
  await until('it is there', async () => (await logoOf())?.logo_hash !== null);
  expect(await logoOf()).toEqual({ logo_hash: expect.any(String) });
});

test('what changes while a job runs is not missed: it runs again, once, and never twice at a time', async () => {
  const turns: Array<() => void> = [];
  const run = (): Promise<void> => new Promise((resolve) => void turns.push(resolve));
  const job: Worker = { where: 'once', every: 60, after: 'scopes', run };
  const { onChange, stop } = startWorkers(at.deps, { job });
  onChange('clients');
  expect(turns).toHaveLength(0);
  onChange('scopes');
  onChange('scopes');
  onChange('scopes');
  expect(turns).toHaveLength(1);
  turns[0]!();
  await until('it runs again', () => turns.length === 2);
  turns[1]!();
  await stop();
  onChange('scopes');
  expect(turns).toHaveLength(2);
});
