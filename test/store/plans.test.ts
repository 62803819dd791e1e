/** How Postgres goes about the hot statements, also where it knows nothing of the tables yet. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import * as refreshTokens from '../../src/store/refresh-tokens.ts';
import { sha256 } from '../../src/store/handle.ts';
import { createTestDatabase } from '../support/database.ts';

test('decided: a rotation reads one grant, however many its client has, before there are statistics', async () => {
  const { db, close } = await createTestDatabase({ max: 1 });
  const now = new Date();
  const later = new Date(now.getTime() + 86_400_000);
  for (const table of ['grants', 'refresh_tokens']) {
    await sql`alter table ${sql.id(table)} set (autovacuum_enabled = false)`.execute(db);
  }
  await sql`
    insert into grants (expires_bucket, grant_id, client_id, sub, sid, scope, resource, auth_time, acr, amr, offline,
      created_at, expires_at)
    select 20000, 'grant' || n, 'client', 'sub', 'sid', '{openid}', '{}', ${now}, '1', '{pwd}', true, ${now}, ${later}
    from generate_series(1, 20000) n`.execute(db);
  await sql`
    insert into refresh_tokens (expires_bucket, hash, grant_id, created_at, expires_at)
    values (20000, ${sha256('token')}, 'grant7', ${now}, ${later})`.execute(db);

  const fetched = async (): Promise<number> => {
    await sql`select pg_stat_force_next_flush()`.execute(db);
    const { rows } = await sql<{ read: string }>`
      select sum(idx_tup_read) as read from pg_stat_user_indexes where relname = 'grants'`.execute(db);
    return Number(rows[0]!.read);
  };
  const before = await fetched();
  await refreshTokens.rotate(
    db,
    {
      token: { expires_bucket: 20_000, hash: sha256('token') },
      client_id: 'client',
      scope: [],
      resource: [],
      open_scopes: null,
      successor: { hash: sha256('successor'), expires_at: later },
      retry: null,
    },
    now,
  );
  expect((await fetched()) - before).toBeLessThan(10);
  const { rows } = await sql`select from refresh_tokens where used_at is not null`.execute(db);
  expect(rows).toHaveLength(1);
  await close();
});
