/** How Postgres goes about the hot statements, also where it knows nothing of the tables yet. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import * as accessTokens from '../../src/store/access-tokens.ts';
import * as codes from '../../src/store/authorization-codes.ts';
import type { Db } from '../../src/store/postgres/db.ts';
import * as grants from '../../src/store/grants.ts';
import { PARTITIONED } from '../../src/store/postgres/partitions.ts';
import * as refreshTokens from '../../src/store/refresh-tokens.ts';
import { sha256 } from '../../src/protocol/handle.ts';
import * as sessions from '../../src/store/sessions.ts';
import { createTestDatabase } from '../support/database.ts';

/** As it is where tokens are made afterwards. */
const QUICK = { room: 10_000, opaque: [], made: null };

test('a rotation reads one grant, however many its client has, before there are statistics', async () => {
  const { db, close } = await createTestDatabase({ max: 1 });
  const now = new Date();
  const later = new Date(now.getTime() + 86_400_000);
  for (const table of ['grants', 'refresh_tokens_default']) {
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

  await sql`
    insert into users (sub, username, username_folded, email_verified, claims, created_at, updated_at)
    values ('sub', 'name', 'name', false, '{}', ${now}, ${now})`.execute(db);

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
      open_scopes: ['openid'],
      proven: true,
      cnf: null,
      successor: { hash: sha256('successor'), expires_at: later },
      retry: null,
      retried_after: now,
      memberships: { scope: [], resource: [] },
    },
    QUICK,
    now,
  );
  expect((await fetched()) - before).toBeLessThan(10);
  const { rows } = await sql`select from refresh_tokens where used_at is not null`.execute(db);
  expect(rows).toHaveLength(1);
  await close();
});

const BUCKET = 20_000;
const NOW = new Date();
const LATER = new Date(NOW.getTime() + 86_400_000);
const GRANT = `${BUCKET.toString(36)}_${'7'.padStart(22, 'g')}`;
const NOBODY = { scope: [], resource: [] };
const keyOf = (n: number | string) => ({ expires_bucket: BUCKET, hash: sha256(`token${n}`) });

const verbs: Record<string, (db: Db) => Promise<unknown>> = {
  'refreshTokens.rotate': (db) =>
    refreshTokens.rotate(
      db,
      {
        token: keyOf(7),
        client_id: 'client',
        scope: [],
        resource: [],
        open_scopes: ['openid'],
        proven: true,
        cnf: null,
        successor: { hash: sha256('successor'), expires_at: LATER },
        retry: null,
        retried_after: NOW,
        memberships: NOBODY,
      },
      QUICK,
      NOW,
    ),
  'refreshTokens.findLive': (db) => refreshTokens.findLive(db, keyOf(8), NOW),
  'refreshTokens.grantOf': (db) => refreshTokens.grantOf(db, keyOf(8), NOW),
  'authorizationCodes.redeem': (db) =>
    codes.redeem(
      db,
      {
        code: keyOf(7),
        client_id: 'client',
        redirect_uri: 'https://app.example.test',
        code_challenge: null,
        resource: [],
        open_scopes: ['openid'],
        proven: true,
        cnf: null,
        refresh_token: { hash: sha256('first'), expires_at: LATER },
        memberships: NOBODY,
        retried_after: NOW,
      },
      QUICK,
      NOW,
    ),
  'grants.findLive': (db) => grants.findLive(db, GRANT, NOW),
  'grants.findLiveWithPerson': (db) => grants.findLiveWithPerson(db, GRANT, { memberships: true }, NOW),
  'accessTokens.findLive': (db) => accessTokens.findLive(db, keyOf(7), NOW),
  'sessions.findLive': (db) => sessions.findLive(db, [keyOf(7)], NOW, new Date(0)),
  'grants.revoke': (db) => grants.revoke(db, GRANT, { client_id: 'client' }, 'revocation', NOW),
};

test.each(['force_generic_plan', 'force_custom_plan'])(
  'with %s each hot statement reads the rows it needs, and no table whole, before there are statistics',
  async (mode) => {
    const { db, close } = await createTestDatabase({ max: 1 });
    await sql`select set_config('plan_cache_mode', ${mode}, false)`.execute(db);
    const tables = ['grants', 'refresh_tokens', 'authorization_codes', 'access_tokens', 'sessions', 'users'];
    for (const table of tables) {
      const name = table in PARTITIONED ? `${table}_default` : table;
      await sql`alter table ${sql.id(name)} set (autovacuum_enabled = false)`.execute(db);
    }
    const every = sql`from generate_series(1, 5000) n`;
    const prefix = `${BUCKET.toString(36)}_`;
    await sql`
      insert into users (sub, username, username_folded, email_verified, claims, created_at, updated_at)
      select 'sub' || n, 'name' || n, 'name' || n, false, '{}', ${NOW}, ${NOW} ${every}`.execute(db);
    await sql`
      insert into sessions (expires_bucket, hash, sid, kind, sub, auth_time, amr, acr, created_at, seen_at, expires_at)
      select ${BUCKET}, sha256(('token' || n)::bytea), 'sid' || n, 'browser', 'sub' || n, ${NOW}, '{pwd}', '1', ${NOW},
        ${NOW}, ${LATER} ${every}`.execute(db);
    await sql`
      insert into grants (expires_bucket, grant_id, client_id, sub, sid, scope, resource, auth_time, acr, amr, offline,
        created_at, expires_at)
      select ${BUCKET}, ${prefix}::text || lpad(n::text, 22, 'g'), 'client', 'sub' || n, 'sid', '{openid}', '{}', ${NOW}, '1', '{pwd}',
        true, ${NOW}, ${LATER} ${every}`.execute(db);
    await sql`
      insert into refresh_tokens (expires_bucket, hash, grant_id, created_at, expires_at)
      select ${BUCKET}, sha256(('token' || n)::bytea), ${prefix}::text || lpad(n::text, 22, 'g'), ${NOW}, ${LATER}
      ${every}`.execute(db);
    await sql`
      insert into authorization_codes (expires_bucket, hash, grant_id, client_id, redirect_uri, created_at, expires_at)
      select ${BUCKET}, sha256(('token' || n)::bytea), ${prefix}::text || lpad(n::text, 22, 'g'), 'client',
        'https://app.example.test', ${NOW}, ${LATER} ${every}`.execute(db);
    await sql`
      insert into access_tokens (expires_bucket, hash, jti, client_id, sub, scope, aud, grant_bucket, grant_id, created_at,
        expires_at)
      select ${BUCKET}, sha256(('token' || n)::bytea), 'jti' || n, 'client', 'sub' || n, '{openid}', '{}', ${BUCKET},
        ${prefix}::text || lpad(n::text, 22, 'g'), ${NOW}, ${LATER} ${every}`.execute(db);

    const fetched = async (): Promise<number> => {
      await sql`select pg_stat_force_next_flush()`.execute(db);
      const { rows } = await sql<{ read: string }>`
        select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) as read from pg_stat_user_tables
        where relname ~ ${`^(${tables.join('|')})`}`.execute(db);
      return Number(rows[0]!.read);
    };
    const atFirst = await fetched();
    await sql`select from users where email = 'nobody@example.test'`.execute(db);
    expect((await fetched()) - atFirst, 'what has no index').toBeGreaterThanOrEqual(5000);
    for (const [name, verb] of Object.entries(verbs)) {
      const before = await fetched();
      const answer = await verb(db);
      expect([answer].flat()[0], name).toBeDefined();
      expect((await fetched()) - before, name).toBeLessThan(10);
    }
    await close();
  },
);

test('a prepared statement goes on while a migration adds a column', async () => {
  const { db, close } = await createTestDatabase({ max: 1 });
  const ask = (): Promise<unknown> => Promise.all(Object.values(verbs).map((verb) => verb(db)));
  await ask();
  const { rows: before } = await sql`select name from pg_prepared_statements where name like 'p\\_%'`.execute(db);
  expect(before).toHaveLength(Object.keys(verbs).length);
  for (const table of ['grants', 'refresh_tokens', 'authorization_codes', 'access_tokens', 'sessions', 'users']) {
    await sql`alter table ${sql.id(table)} add column later text`.execute(db);
  }
  await ask();
  const { rows: after } = await sql`select name from pg_prepared_statements where name like 'p\\_%'`.execute(db);
  expect(after).toEqual(before);
  await close();
});
