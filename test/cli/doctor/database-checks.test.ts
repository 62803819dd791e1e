/** What the doctor sees in Postgres itself. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseChecks } from '../../../src/cli/doctor/database-checks.ts';
import type { Opened } from '../../../src/cli/index.ts';
import { configWith } from '../../../src/config.ts';
import { openDb } from '../../../src/store/postgres/open.ts';
import { testApp, type TestApp } from '../../support/app.ts';

let at: TestApp;
beforeAll(async () => {
  at = await testApp();
});
afterAll(() => at.close());

/** What a check says where these are set. */
async function said(
  check: keyof typeof databaseChecks,
  settings: Record<string, string> = {},
  ISSUER = 'https://id.example.com',
): Promise<string[]> {
  const url = new URL(at.database.url);
  const options = Object.entries({ fsync: undefined, ...settings })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `-c ${name}=${value}`);
  url.searchParams.set('options', options.join(' '));
  const db = openDb({ connectionString: url.href }, { max: 2 });
  try {
    const opened = { deps: { db, config: configWith(at.deps.config, { ISSUER }) } } as unknown as Opened;
    return (await databaseChecks[check](opened)).map(({ level, message }) => `${level}: ${message}`);
  } finally {
    await db.destroy();
  }
}

test('synchronous_commit that is off is wrong in production, and said on a laptop', async () => {
  const off = { synchronous_commit: 'off' };
  expect(await said('durability', off)).toContainEqual(expect.stringMatching(/^error: synchronous_commit is off: /));
  expect(await said('durability', off, 'http://localhost:3000')).toContainEqual(
    expect.stringMatching(/^warning: synchronous_commit is off: /),
  );
  expect((await said('durability', { synchronous_commit: 'on' })).join()).not.toContain('synchronous_commit');
});

test('a database that cannot be written to is wrong', async () => {
  expect(await said('durability', { default_transaction_read_only: 'on' })).toEqual(['error: it cannot be written to']);
});

test('who the server is, and that nobody stands between', async () => {
  const { rows } = await sql<{ role: string; super: boolean }>`
    select rolname as role, rolsuper as super from pg_roles where rolname = current_user`.execute(at.database.db);
  const [{ role, super: isSuper }] = rows as [{ role: string; super: boolean }];
  expect(await said('role')).toEqual([
    isSuper
      ? `warning: ${role} is a superuser`
      : `ok: ${role} may change the schema, and the audit log: it owns the tables`,
  ]);
  expect(await said('pooler')).toEqual(['ok: there is none']);
});
