/** Processes that start together on an empty database. */
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKeyRing, ensureKeys } from '../../../src/keys/index.ts';
import { createSecrets } from '../../../src/keys/secrets.ts';
import { random } from '../../../src/platform/random.ts';
import type { Db } from '../../../src/store/postgres/db.ts';
import { openDb } from '../../../src/store/postgres/open.ts';
import * as keys from '../../../src/store/keys.ts';
import { migrate, migrationStatus, pendingMigrations } from '../../../src/store/postgres/migrate.ts';
import { TEST_SECRET_KEY } from '../../support/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { BY } from '../../support/fixtures.ts';
import { overtaken } from '../../support/races.ts';
import { rotateKey } from '../../support/rotation.ts';

const NOW = new Date('2030-01-01T00:00:00Z');
const secrets = createSecrets([TEST_SECRET_KEY], random);

let database: TestDatabase;
/** Each process has a pool of its own. */
let processes: Db[];
beforeEach(async () => {
  database = await createTestDatabase({ max: 2 });
  processes = [1, 2, 3].map(() => openDb(database.connection, { max: 2, statementTimeout: 0 }));
});
afterEach(async () => {
  for (const db of processes) await db.destroy();
  await database.close();
});
const emptied = async (): Promise<void> => {
  await sql`drop schema public cascade`.execute(database.db);
  await sql`create schema public`.execute(database.db);
};

describe('migrations', () => {
  test('applied by three processes at once, each is applied by one of them, once', async () => {
    await emptied();
    const known = await pendingMigrations(database.db);
    expect(known.length).toBeGreaterThan(3);
    const applied = await Promise.all(processes.map((db) => migrate(db)));
    expect(applied.flat()).toEqual(known);
    expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
    expect(await pendingMigrations(database.db)).toEqual([]);
    expect(await migrationStatus(database.db)).toEqual(known.map((name) => ({ name, applied: true })));
    expect(await migrate(database.db)).toEqual([]);
  });

  test('a database that is ahead of this code lacks nothing', async () => {
    await sql`insert into kysely_migration (name, timestamp) values ('9999-of-a-later-version', 'now')`.execute(
      database.db,
    );
    expect(await pendingMigrations(database.db)).toEqual([]);
  });

  test('one that is behind says what it lacks', async () => {
    const names = (await migrationStatus(database.db)).map(({ name }) => name);
    await sql`delete from kysely_migration where name = ${names.at(-1)}`.execute(database.db);
    expect(await pendingMigrations(database.db)).toEqual(names.slice(-1));
  });

  test('one that fails leaves nothing of itself', async () => {
    await emptied();
    // A table of that name is there already: the second migration cannot go through.
    await sql`create table users (sub text)`.execute(database.db);
    await expect(migrate(database.db)).rejects.toThrow(/users/);
    const { rows } = await sql`
      select 1 from pg_tables where schemaname = 'public' and tablename in ('clients', 'sessions')`.execute(
      database.db,
    );
    expect(rows).toEqual([]);
  });
});

describe('the first keys', () => {
  test('made by three processes at once, there is one active key for each algorithm, and all sign with it', async () => {
    await Promise.all(processes.map((db) => ensureKeys(db, secrets, ['RS256', 'ES256'], NOW)));
    const rows = await keys.all(database.db);
    expect(rows.map(({ alg }) => alg).toSorted()).toEqual(['ES256', 'RS256']);
    const rings = processes.map((db) => createKeyRing(db, secrets));
    await Promise.all(rings.map((ring) => ring.reload()));
    expect(new Set(rings.map((ring) => ring.jwks(NOW).etag)).size).toBe(1);
    for (const alg of ['RS256', 'ES256'] as const) {
      expect(new Set(rings.map((ring) => ring.active(alg, NOW).kid)).size).toBe(1);
    }
  });

  test('whoever waited for the key of another throws its own away', async () => {
    await ensureKeys(database.db, secrets, ['ES256'], NOW);
    const [{ retired_at: _, withdrawn_at: __, ...key }] = (await keys.all(database.db)) as [
      keys.KeyRow & keys.NewKeyRow,
    ];
    await database.db.deleteFrom('signing_keys').execute();
    await overtaken(
      database.db,
      async (trx) => {
        await keys.lock(trx);
        await keys.insert(trx, key);
      },
      () => ensureKeys(processes[0]!, secrets, ['ES256'], NOW),
    );
    expect((await keys.all(database.db)).map(({ kid }) => kid)).toEqual([key.kid]);
  });

  test('an algorithm switched on later gets its key, and the others keep theirs', async () => {
    await ensureKeys(database.db, secrets, ['ES256'], NOW);
    const [first] = await keys.all(database.db);
    await Promise.all(processes.map((db) => ensureKeys(db, secrets, ['ES256', 'EdDSA'], NOW)));
    const rows = await keys.all(database.db);
    expect(rows.map(({ alg }) => alg).toSorted()).toEqual(['ES256', 'EdDSA']);
    expect(rows.find(({ alg }) => alg === 'ES256')!.kid).toBe(first!.kid);
  });

  test('after rotations at once every process signs with the same key, now and later', async () => {
    await ensureKeys(database.db, secrets, ['ES256'], NOW);
    await Promise.all(processes.map((db) => rotateKey(db, secrets, 'ES256', BY, NOW)));
    const rings = processes.map((db) => createKeyRing(db, secrets));
    await Promise.all(rings.map((ring) => ring.reload()));
    const later = new Date(NOW.getTime() + 86_400_000);
    const [now, then] = [NOW, later].map((time) => new Set(rings.map((ring) => ring.active('ES256', time).kid)));
    expect([now!.size, then!.size]).toEqual([1, 1]);
    expect(now).not.toEqual(then);
    // Whatever signs was published before, and still is.
    for (const kid of [...now!, ...then!]) expect(await rings[0]!.find(kid, NOW)).toBeDefined();
    expect(await rings[0]!.find([...then!][0]!, later)).toBeDefined();
  });
});
