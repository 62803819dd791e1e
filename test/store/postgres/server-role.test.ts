/** Two roles: one owns the tables and migrates, the server's reads and writes rows, and only adds to the audit log. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Connection, Db } from '../../../src/store/postgres/db.ts';
import { openDb } from '../../../src/store/postgres/open.ts';
import { defaultOf, dropPast, makeAhead, partitionsOf } from '../../../src/store/postgres/partitions.ts';
import { grantServerRights, rightsOf } from '../../../src/store/postgres/server-role.ts';
import { sweep } from '../../../src/store/postgres/sweep.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { posternOn, type Postern } from '../../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import {
  aClient,
  aDevice,
  anApprovedDeviceCode,
  credentials,
  introspect,
  postForm,
  refresh,
  someTokens,
  userinfo,
} from '../../support/fixtures.ts';

const DAY = 86_400_000;
const role = `server_${process.pid}`;
const PASSWORD = 'its p@ssword';
let database: TestDatabase;
let server: Db;
let at: TestApp;
let postern: Postern;

/** The same database as another role. */
function connectionAs(user: string, { connection }: TestDatabase): Connection {
  if (!('connectionString' in connection)) return { ...connection, user };
  const url = new URL(connection.connectionString);
  [url.username, url.password] = [user, encodeURIComponent(PASSWORD)];
  return { connectionString: url.href };
}
function urlAs(user: string): string {
  const url = new URL(database.url);
  [url.username, url.password] = [user, encodeURIComponent(PASSWORD)];
  return url.href;
}

beforeAll(async () => {
  database = await createTestDatabase();
  postern = posternOn({ url: urlAs(role) });
  const { code, stderr } = await postern(['migrate'], { env: { MIGRATION_DATABASE_URL: database.url } });
  expect([code, stderr]).toEqual([0, '']);
  server = openDb(connectionAs(role, database), { max: 5 });
  at = await testApp({ database: { ...database, db: server } });
});
afterAll(async () => {
  await at.close();
  await server.destroy();
  await sql`drop owned by ${sql.id(role)}`.execute(database.db);
  await sql`drop role ${sql.id(role)}`.execute(database.db);
  await database.close();
});

const refused = (statement: ReturnType<typeof sql>): Promise<unknown> =>
  statement.execute(server).then(
    () => 'done',
    (error: unknown) => (error as { code?: string }).code,
  );
const FORBIDDEN = '42501';

test('one command made the role, and a server that has it does all that a server does', async () => {
  expect(await rightsOf(server)).toEqual({ role, superuser: false, schema: false, audit: false });
  const client = await aClient(at);
  const { tokens } = await someTokens(at, { client });
  expect((await userinfo(at, tokens.access_token)).statusCode).toBe(200);
  const refreshed = await refresh(at, client, tokens.refresh_token);
  expect(refreshed.statusCode).toBe(200);
  expect(await introspect(at, client, refreshed.json<{ access_token: string }>().access_token)).toMatchObject({
    active: true,
  });
  await anApprovedDeviceCode(at, { client: await aDevice(at) });
  const revoked = await postForm(at, '/revoke', { token: tokens.access_token, ...credentials(client) });
  expect(revoked.statusCode).toBe(200);
});

test('the audit log is added to, and neither changed nor deleted', async () => {
  const { rows } = await sql<{ events: number }>`select count(*)::int as events from audit_events`.execute(server);
  expect(rows[0]!.events).toBeGreaterThan(0);
  expect(await refused(sql`update audit_events set actor = 'somebody else'`)).toBe(FORBIDDEN);
  expect(await refused(sql`delete from audit_events`)).toBe(FORBIDDEN);
  expect(await refused(sql`truncate audit_events`)).toBe(FORBIDDEN);
  // Not by way of the function that forgets what is old: how old that is, the owner has said.
  await sql`insert into audit_events (at, event, detail) values (now() - interval '500 days', 'old', '{}')`.execute(
    server,
  );
  await sweep(server, new Date(Date.now() + DAY), new Date(0), new Date(Date.now() + DAY));
  const left = await sql<{ event: string }>`select event from audit_events where event = 'old'`.execute(server);
  expect(left.rows).toEqual([]);
  const after = await sql<{ events: number }>`select count(*)::int as events from audit_events`.execute(server);
  expect(after.rows[0]!.events).toBe(rows[0]!.events);
});

test('it changes no table and makes none', async () => {
  expect(await refused(sql`create table mine (n int)`)).toBe(FORBIDDEN);
  expect(await refused(sql`alter table users add column mine int`)).toBe(FORBIDDEN);
  expect(await refused(sql`drop table access_tokens_default`)).toBe(FORBIDDEN);
  expect(await refused(sql`delete from kysely_migration`)).toBe(FORBIDDEN);
  expect(
    await refused(sql`create or replace function audit_kept() returns interval language sql as 'select null'`),
  ).toBe(FORBIDDEN);
});

test('partitions come and go all the same, and nothing else goes by that way', async () => {
  const now = new Date(Date.now() + 1000 * DAY);
  expect(await makeAhead(server, 30, now)).toEqual([]);
  const made = (await partitionsOf(server)).filter(({ from }) => from > now.getTime() / DAY);
  expect(made.length).toBeGreaterThan(10);
  expect(await dropPast(server, new Date(now.getTime() + 100 * DAY))).toEqual([]);
  expect(await partitionsOf(server)).toEqual([]);
  for (const table of ['users', 'audit_events', 'access_tokens', defaultOf('access_tokens')]) {
    await sql`select drop_partition(${table})`.execute(server);
    await sql`select 1 from ${sql.id(table)} limit 1`.execute(server);
  }
  for (const [parent, child] of [
    ['users', 'users_1'],
    ['access_tokens', 'mine'],
  ])
    expect(await refused(sql`select make_partition(${parent}, ${child}, 1, 2)`)).toBe('22023');
  // A table of its own that only looks like one of ours.
  await server.connection().execute(async (one) => {
    await sql`create temporary table access_tokens_default (like refresh_tokens_default)`.execute(one);
    await sql`select make_partition('access_tokens', 'access_tokens_1970_01_02', 1, 2)`.execute(one);
    await sql`drop table pg_temp.access_tokens_default`.execute(one);
  });
  expect((await partitionsOf(server)).map(({ name }) => name)).toEqual(['access_tokens_1970_01_02']);
});

test('a password is not sent to Postgres as it is, and who has one keeps it', async () => {
  const stored = async (): Promise<string> =>
    (await sql<{ rolpassword: string }>`select rolpassword from pg_authid where rolname = ${role}`.execute(database.db))
      .rows[0]!.rolpassword;
  const before = await stored();
  expect(before).toMatch(/^SCRAM-SHA-256\$4096:[A-Za-z0-9+/=]{24}\$[A-Za-z0-9+/=]{44}:[A-Za-z0-9+/=]{44}$/);
  const again = { name: role, password: 'another', salt: Buffer.alloc(16), audit_kept: 86_400 };
  await grantServerRights(database.db, again);
  expect(await stored()).toBe(before);
});

test('a role that owns the tables is no role for a server beside it', async () => {
  const owner = new URL(database.url).username;
  const said = await postern(['migrate'], {
    env: { DATABASE_URL: database.url, MIGRATION_DATABASE_URL: database.url },
  });
  expect([said.code, said.problems]).toEqual([78, [expect.stringContaining(`the role ${owner} may do everything`)]]);
});
