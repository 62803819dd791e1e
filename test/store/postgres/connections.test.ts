/** Connections to one of several hosts, and those that are lost without a word. */
import { createServer, type Server, type Socket } from 'node:net';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { listenForChanges } from '../../../src/store/postgres/changes.ts';
import { databaseTime, isUnavailable, type Connection, type Db } from '../../../src/store/postgres/db.ts';
import { openDb, type PoolOptions } from '../../../src/store/postgres/open.ts';
import { prepared } from '../../../src/store/postgres/prepared.ts';
import { read } from '../../../src/store/postgres/pipeline.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { until } from '../../support/postgres-process.ts';
import { Road } from '../../support/road.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
const ends: Array<() => unknown> = [];
afterEach(async () => {
  for (let end = ends.pop(); end; end = ends.pop()) await end();
});
afterAll(() => database.close());

async function road(): Promise<Road> {
  const made = new Road(database.connection);
  await made.open();
  ends.push(() => made.close());
  return made;
}
const opened = (connection: Connection, options: Partial<PoolOptions> = {}): Db => {
  const db = openDb(connection, { max: 5, heartbeat: 0, ...options });
  ends.push(() => db.destroy());
  return db;
};
const rejection = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

/** A URL of the test's database at this address. */
function urlAt(host: string): string {
  const { connection } = database;
  if ('connectionString' in connection) {
    const url = new URL(connection.connectionString);
    url.host = host;
    return url.href;
  }
  return `postgres://${connection.user}@${host}/${connection.database}`;
}
const across = (...hosts: string[]): Connection => ({
  connectionString: urlAt(hosts[0]!),
  others: hosts.slice(1).map(urlAt),
  requires: 'read-write',
});

describe('without a word', () => {
  test('the first that waits in vain makes the other connections distrusted: each is asked at most once', async () => {
    const way = await road();
    const db = opened(way.connection, { statementTimeout: 300 });
    await Promise.all(Array.from({ length: 5 }, () => sql`select pg_sleep(0.05)`.execute(db)));
    expect(way.taken).toBe(5);
    way.lose();
    expect(isUnavailable(await rejection(databaseTime(db)))).toBe(true);
    way.find();
    // Four more would have been lent that lead nowhere.
    for (let n = 0; n < 5; n += 1) await databaseTime(db);
    // One more is the request to stop what nobody waited for.
    expect(way.taken).toBe(7);
  });

  test('so does a batch of prepared statements', async () => {
    const way = await road();
    const db = opened(way.connection, { statementTimeout: 300 });
    await Promise.all(Array.from({ length: 5 }, () => sql`select pg_sleep(0.05)`.execute(db)));
    way.lose();
    expect(isUnavailable(await rejection(read(db, prepared<{ n: number }>`select ${1}::int as n`)))).toBe(true);
    way.find();
    for (let n = 0; n < 5; n += 1) await databaseTime(db);
    // One more is the request to stop what nobody waited for.
    expect(way.taken).toBe(7);
  });

  test('what is idle is looked at, so that the next request need not find out', async () => {
    const way = await road();
    const broken: Error[] = [];
    const db = opened(way.connection, { heartbeat: 40, onError: (error) => void broken.push(error) });
    await databaseTime(db);
    way.lose();
    await until('it is noticed', () => broken.length > 0, 5000);
    way.find();
    await until('it answers again', async () => (await rejection(databaseTime(db))) === undefined);
    expect(await databaseTime(db)).toBeInstanceOf(Date);
  });

  test('who listens for changes notices, listens anew, and reads everything again', async () => {
    const way = await road();
    const heard: string[] = [];
    ends.push(listenForChanges(way.connection, (what) => heard.push(what), { heartbeat: 40, patience: 100 }));
    await until('it listens', () => heard.length === 1);
    way.lose();
    await until('it is noticed', () => way.taken > 1, 5000);
    way.find();
    await until('it listens again', () => heard.length > 1, 10_000);
    expect(heard[1]).toBe('everything');
  });

  test('a pool can be closed whose connections nobody answers', async () => {
    const way = await road();
    const db = openDb(way.connection, { max: 2 });
    await databaseTime(db);
    way.lose();
    await expect(db.destroy()).resolves.toBeUndefined();
  });
});

describe('several hosts', () => {
  const readOnly = (how: 'on' | 'off'): Promise<unknown> =>
    database.db
      .transaction()
      .setAccessMode('read write')
      .execute((trx) => {
        const name = sql.id(nameOf(database.connection));
        return sql`alter database ${name} set default_transaction_read_only = ${sql.lit(how)}`.execute(trx);
      });

  test('the first that takes connections is used, then the next when it refuses them, and the first request has its answer', async () => {
    const [first, second] = [await road(), await road()];
    const db = opened(across(first.host, second.host));
    await databaseTime(db);
    expect([first.taken, second.taken]).toEqual([1, 0]);
    await first.close();
    ends.splice(0, 1);
    await until('it is noticed', async () => (await rejection(databaseTime(db))) === undefined);
    expect(second.taken).toBeGreaterThan(0);
  });

  test('one that is silent costs its own time once; whoever comes next goes elsewhere', async () => {
    const [silent, second] = [await silence(), await road()];
    const db = opened(across(silent, second.host), { connectTimeout: 200 });
    expect(isUnavailable(await rejection(databaseTime(db)))).toBe(true);
    await databaseTime(db);
    expect(second.taken).toBe(1);
  });

  test('one that cannot be written to is left for the next, also when it becomes so under us', async () => {
    const [first, second] = [await road(), await road()];
    const db = opened(across(first.host, second.host), { max: 1 });
    await databaseTime(db);
    const pid = async (): Promise<number> =>
      (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]!.pid;
    const before = await pid();
    await sql`set default_transaction_read_only = on`.execute(db);
    const written = sql`delete from scopes where name = 'nothing'`.execute(db);
    expect(isUnavailable(await rejection(written))).toBe(true);
    await sql`delete from scopes where name = 'nothing'`.execute(db);
    expect(await pid()).not.toBe(before);
    expect(second.taken).toBe(1);

    // Nowhere else is better: it says why.
    await readOnly('on');
    const elsewhere = opened(across(first.host, second.host), { max: 1 });
    const refused = await rejection(databaseTime(elsewhere));
    await readOnly('off');
    expect(isUnavailable(refused)).toBe(true);
    expect(String(refused)).toContain('read-only');
  });
});

test('limits are set once connected, not by startup parameters, which poolers refuse', async () => {
  const seen: Buffer[] = [];
  const server = createServer((socket) => socket.once('data', (data) => (seen.push(data), socket.destroy())));
  const db = opened({ connectionString: urlAt(await listening(server)) });
  expect(isUnavailable(await rejection(databaseTime(db)))).toBe(true);
  expect(seen[0]!.toString()).toContain('application_name');
  expect(seen[0]!.toString()).not.toMatch(/timeout|options/);
  const { rows } = await sql<{ name: string; setting: string }>`
    select name, setting from pg_settings where name in ('statement_timeout', 'lock_timeout',
      'idle_in_transaction_session_timeout') order by name`.execute(opened(database.connection));
  expect(rows.map(({ setting }) => setting)).toEqual(['5000', '500', '1750']);
});

/** The address of one that lets everybody in, and never says anything. */
async function silence(): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on('error', () => {})));
  const host = await listening(server);
  ends.push(() => sockets.forEach((socket) => socket.destroy()));
  return host;
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  ends.push(() => void server.close());
  return `127.0.0.1:${(server.address() as { port: number }).port}`;
}

const nameOf = (connection: Connection): string =>
  'connectionString' in connection ? new URL(connection.connectionString).pathname.slice(1) : connection.database;
