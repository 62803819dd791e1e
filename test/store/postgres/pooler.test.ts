/** A connection pooler between us and Postgres: which of them is one to work with, and that it works. */
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { databaseChecks } from '../../../src/cli/doctor/database-checks.ts';
import type { Opened } from '../../../src/cli/index.ts';
import { checkPooler } from '../../../src/main/database.ts';
import type { Connection, Db } from '../../../src/store/postgres/db.ts';
import { openDb } from '../../../src/store/postgres/open.ts';
import { poolerOf } from '../../../src/store/postgres/pooler.ts';
import { testApp } from '../../support/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { aClient, introspect, refresh, someTokens, userinfo } from '../../support/fixtures.ts';
import { startPooler, type Mode } from '../../support/pooler.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
const ends: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (let end = ends.pop(); end; end = ends.pop()) await end();
});
afterAll(() => database.close());

/** Our own Postgres lets its user in by name; another one may not. */
const { connection } = inject('database');
const isOurs = 'host' in connection;

async function through(mode: Mode): Promise<Db> {
  const pooler = await startPooler(database.connection as Extract<Connection, { host: string }>, mode);
  // A session keeps its connection, and the pooler has four: a fifth would wait for one that never comes back.
  const db = openDb({ connectionString: pooler.url }, { max: mode === 'session' ? 4 : 5 });
  ends.push(pooler.close, () => db.destroy());
  return db;
}

test('where there is none, that is seen without asking', async () => {
  expect(await poolerOf(database.db)).toBe('none');
});

describe.skipIf(!isOurs).each([
  ['session', 'session', 'ok'],
  ['transaction, with prepared statements', 'transaction', 'warning'],
] as const)('%s', (mode, seen, level) => {
  test('is seen, said by the doctor, and works: the whole life of a grant, statements prepared and not', async () => {
    const db = await through(mode);
    expect(await poolerOf(db)).toBe(seen);
    const findings = await databaseChecks.pooler({ deps: { db } } as unknown as Opened);
    expect(findings.map((finding) => finding.level)).toEqual([level]);
    const warned: string[] = [];
    const log = { warn: (said: string) => warned.push(said) } as never;
    await checkPooler({ db, log });
    expect(warned).toHaveLength(seen === 'session' ? 0 : 1);

    const at = await testApp({ database: { ...database, db } });
    const client = await aClient(at);
    const all = await Promise.all(Array.from({ length: 4 }, () => someTokens(at, { client })));
    for (const { tokens } of all) {
      expect((await userinfo(at, tokens.access_token)).statusCode).toBe(200);
      const refreshed = await refresh(at, client, tokens.refresh_token);
      expect(refreshed.statusCode).toBe(200);
      expect(await introspect(at, client, refreshed.json<{ access_token: string }>().access_token)).toMatchObject({
        active: true,
      });
    }
    await at.close();
  });
});

test.skipIf(!isOurs)(
  'transaction mode that loses prepared statements: the server does not start, and one sentence says why',
  async () => {
    const db = await through('transaction');
    expect(await poolerOf(db)).toBe('forgetful');
    await expect(checkPooler({ db, log: {} as never })).rejects.toThrow(
      /^the connection pooler before Postgres loses prepared statements: run it in session mode, or take PgBouncer 1\.21 or newer/,
    );
    const [finding] = await databaseChecks.pooler({ deps: { db } } as unknown as Opened);
    expect(finding).toMatchObject({ level: 'error', message: expect.stringContaining('loses prepared statements') });
  },
);
