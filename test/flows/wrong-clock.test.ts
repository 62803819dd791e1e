/** A database whose clock is 45 days ahead under a server that stays up, and under one that starts. */
import { sql } from 'kysely';
import { fetch } from 'undici';
import { expect, test } from 'vitest';
import { posternOn } from '../support/command.ts';
import { deploy, stopServersAfterwards } from '../support/deployment.ts';
import { aService, credentials } from '../support/fixtures.ts';
import { until } from '../support/postgres-process.ts';
import { startServer, type Server } from '../support/server.ts';
import { postTo } from '../support/visitor.ts';

stopServersAfterwards();

test('servers are not ready while it lasts, keep their own time, doctor says so, and they come back by themselves', async () => {
  const client: { client_id?: string; client_secret?: string } = {};
  let setClock!: (days: number) => Promise<unknown>;
  const deployment = await deploy({
    async prepare(prepared) {
      const { db } = prepared.database;
      Object.assign(client, await aService(prepared));
      setClock = (days) =>
        sql`create or replace function clocks.clock_timestamp() returns timestamptz language sql volatile
          as ${sql.lit(`select pg_catalog.clock_timestamp() + interval '${days} days'`)}`.execute(db);
      await sql`create schema clocks`.execute(db);
      await setClock(0);
      // It is found before what Postgres has of the same name.
      const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db);
      await sql`alter database ${sql.id(rows[0]!.name)} set search_path = public, clocks, pg_catalog`.execute(db);
    },
  });
  const { servers, test: local, env } = deployment;
  const ready = async ({ origin }: Server): Promise<string> => {
    const answer = await fetch(`${origin}/readyz`);
    return ((await answer.json()) as { reason?: string }).reason ?? 'ready';
  };
  const APART = 'the clocks of the database and of this server are far apart';
  const [server] = servers as [Server];
  const postern = posternOn(local.database);
  const clockFinding = async (): Promise<Record<string, string>> => {
    const { findings } = (await postern(['doctor', '--json'])).json() as { findings: Array<Record<string, string>> };
    return findings.find(({ check }) => check === 'clock')!;
  };
  expect(await ready(server)).toBe('ready');
  expect(await clockFinding()).toMatchObject({ level: 'ok' });

  await setClock(45);
  const late = startServer({ env }).catch((error: Error) => error.message);
  await until('the server noticed', async () => (await ready(server)) === APART);
  expect(await clockFinding()).toMatchObject({
    level: 'error',
    message: expect.stringMatching(/^the database is 38880\d\d\.\d s ahead of this machine: no server is ready/),
  });
  const { json } = await postTo(`${server.origin}/token`, {
    grant_type: 'client_credentials',
    ...credentials(client as never),
  });
  const claims = JSON.parse(Buffer.from(String(json['access_token']).split('.')[1]!, 'base64url').toString()) as Record<
    'iat',
    number
  >;
  expect(Math.abs(claims.iat - Date.now() / 1000)).toBeLessThan(60);

  await setClock(0);
  await until('it is ready again', async () => (await ready(server)) === 'ready');
  // The second one was not ready while the first was not.
  const second = await late;
  expect(typeof second).toBe('object');
  expect(await ready(second as Server)).toBe('ready');
  expect((second as Server).output()).toContain('far apart');
});
