/** /livez and /readyz: at the root of the listener and under the issuer's path. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { configWith } from '../../src/config.ts';
import { createProbe } from '../../src/store/postgres/probe.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';

let at: TestApp;
beforeAll(async () => {
  at = await testApp();
});
afterAll(() => at.close());

test('/livez and /readyz answer ok, not stored', async () => {
  for (const url of ['/livez', '/readyz']) {
    const { statusCode, headers, body } = await at.app.inject({ url });
    expect([statusCode, JSON.parse(body), headers['cache-control']]).toEqual([200, { status: 'ok' }, 'no-store']);
  }
});

test('they are at the root and under the issuer’s path', async () => {
  const app = await buildApp({ ...at.deps, config: configWith(at.deps.config, { ISSUER: 'https://x.test/realm' }) });
  for (const url of ['/livez', '/readyz', '/realm/livez', '/realm/readyz']) {
    expect((await app.inject({ url })).statusCode, url).toBe(200);
  }
  expect((await app.inject({ url: '/other/livez' })).statusCode).toBe(404);
  await app.close();
});

test('while the process closes it is alive, but not ready', async () => {
  const readiness = { closing: false };
  const app = await buildApp(at.deps, readiness);
  expect((await app.inject({ url: '/readyz' })).statusCode).toBe(200);
  readiness.closing = true;
  expect((await app.inject({ url: '/readyz' })).json()).toEqual({ status: 'not ready', reason: 'closing' });
  expect((await app.inject({ url: '/livez' })).statusCode).toBe(200);
  await app.close();
});

test('without a signing key it is not ready', async () => {
  const app = await buildApp({ ...at.deps, keys: { ...at.deps.keys, ready: false } });
  const { statusCode, body } = await app.inject({ url: '/readyz' });
  expect([statusCode, JSON.parse(body)]).toEqual([503, { status: 'not ready', reason: 'no signing key is loaded' }]);
  await app.close();
});

test('ASVS 13.4.5: neither says anything of the inside, and metrics are not here', async () => {
  const answer = await at.app.inject({ url: '/readyz' });
  expect(Object.keys(answer.json<object>())).toEqual(['status']);
  expect((await at.app.inject({ url: '/metrics' })).statusCode).toBe(404);
});

describe('what the database is like', () => {
  const readiness = async (of: TestApp): Promise<[number, string | undefined]> => {
    const answer = await of.app.inject('/readyz');
    return [answer.statusCode, answer.json<{ reason?: string }>().reason];
  };

  test('on a database that only reads it is not ready, and is again when that is over', async () => {
    const one = await testApp();
    onTestFinished(() => one.close());
    const { db } = one.database;
    expect(await readiness(one)).toEqual([200, undefined]);
    const name = sql.id((await sql<{ name: string }>`select current_database() as name`.execute(db)).rows[0]!.name);
    const cut = sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
    await sql`alter database ${name} set default_transaction_read_only = on`.execute(db);
    await cut.execute(db);
    await expect.poll(() => readiness(one)).toEqual([503, 'the database is read-only']);
    expect((await one.app.inject('/livez')).statusCode).toBe(200);
    await sql`set default_transaction_read_only = off`.execute(db);
    await sql`alter database ${name} reset default_transaction_read_only`.execute(db);
    await cut.execute(db);
    await expect.poll(() => readiness(one)).toEqual([200, undefined]);
  });

  test('a locked table and a pool without a free connection keep neither the answer nor the server from being ready', async () => {
    const one = await testApp();
    onTestFinished(() => one.close());
    const { db } = one.database;
    expect(await readiness(one)).toEqual([200, undefined]);
    const held = await Promise.all(Array.from({ length: 10 }, () => db.startTransaction().execute()));
    const { rows } = await sql<{ name: string }>`
      select relname as name from pg_class c join pg_namespace n on n.oid = relnamespace
      where nspname = 'public' and relkind in ('r', 'p') and not relispartition`.execute(held[0]!);
    expect(rows.length).toBeGreaterThan(20);
    for (const { name } of rows) {
      await sql`lock table ${sql.id(name)} in access exclusive mode`.execute(held[0]!);
    }
    expect(await readiness(one)).toEqual([200, undefined]);
    await Promise.all(held.map((trx) => trx.rollback().execute()));
  });

  test('a database that takes connections and says nothing is away, within a second, however many ask', async () => {
    const silent = createServer();
    const sockets: Socket[] = [];
    silent.on('connection', (socket) => sockets.push(socket.on('error', () => {})));
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const { port } = silent.address() as AddressInfo;
    const probe = createProbe({ connectionString: `postgres://nobody@127.0.0.1:${port}/nothing` });
    const app = await buildApp({ ...at.deps, probe });
    onTestFinished(async () => {
      for (const socket of sockets) socket.destroy();
      silent.close();
      await app.close();
      await probe.close();
    });
    const begun = performance.now();
    const answers = await Promise.all(Array.from({ length: 20 }, () => app.inject('/readyz')));
    expect(performance.now() - begun).toBeLessThan(1000);
    for (const answer of answers) {
      expect([answer.statusCode, answer.json()]).toEqual([
        503,
        { status: 'not ready', reason: 'the database is not available' },
      ]);
    }
    expect(sockets.length).toBeLessThanOrEqual(1);
  });

  test('one that stops in the middle is away within a second', async () => {
    const postgres = await startOwnPostgres({ durable: false });
    const probe = createProbe(postgres.connection);
    onTestFinished(async () => {
      await probe.close();
      await postgres.close();
    });
    expect(await probe.ask()).toBeUndefined();
    postgres.pause();
    const begun = performance.now();
    const said = await probe.ask();
    const took = performance.now() - begun;
    postgres.resume();
    expect(said?.why).toBe('away');
    expect(took).toBeLessThan(1000);
    await expect.poll(() => probe.ask(), { timeout: 5000 }).toBeUndefined();
  });

  test('while its clock is not to be believed it is not ready, and says so', async () => {
    const app = await buildApp({ ...at.deps, clockDoubt: () => 45 * 86_400 });
    const { statusCode, body } = await app.inject('/readyz');
    const reason = 'the clocks of the database and of this server are far apart';
    expect([statusCode, JSON.parse(body)]).toEqual([503, { status: 'not ready', reason }]);
    await app.close();
  });
});
