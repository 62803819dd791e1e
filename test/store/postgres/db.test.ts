import { createServer, type AddressInfo } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { invalidGrant, OAuthError } from '../../../src/protocol/error.ts';
import { append } from '../../../src/store/audit-log.ts';
import { databaseTime, isUnavailable, transact, uniqueViolation } from '../../../src/store/postgres/db.ts';
import { openDb } from '../../../src/store/postgres/open.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const rejection = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
};
const eventsNamed = async (event: string): Promise<number> =>
  (await database.db.selectFrom('audit_events').selectAll().where('event', '=', event).execute()).length;

describe('transact', () => {
  const write = (event: string, then: () => void): Promise<void> =>
    transact(database.db, async (trx) => {
      await append(trx, { at: new Date(0), event });
      then();
    });

  test('commits what a refusal leaves behind, and throws the refusal on', async () => {
    const refusal = invalidGrant('reuse');
    const thrown = await rejection(
      write('refused', () => {
        throw refusal;
      }),
    );
    expect(thrown).toBe(refusal);
    expect(await eventsNamed('refused')).toBe(1);
  });

  test('rolls back for anything else', async () => {
    const defect = new TypeError('a defect');
    const thrown = await rejection(
      write('failed', () => {
        throw defect;
      }),
    );
    expect(thrown).toBe(defect);
    expect(await eventsNamed('failed')).toBe(0);
    await write('done', () => {});
    expect(await eventsNamed('done')).toBe(1);
  });

  test('begins no transaction in another', async () => {
    await transact(database.db, async (trx) => {
      // @ts-expect-error What is part of a transaction takes that one.
      const inner = transact(trx, async () => {});
      await expect(inner).rejects.toThrow('not supported');
    });
  });

  test('a refusal out of a transaction that the database has given up is not taken for a commit', async () => {
    const thrown = await rejection(
      transact(database.db, async (trx) => {
        await append(trx, { at: new Date(0), event: 'lost' });
        await sql`select 1 / 0`.execute(trx).catch(() => {});
        throw invalidGrant('reuse');
      }),
    );
    expect(await eventsNamed('lost')).toBe(0);
    expect(thrown).not.toBeInstanceOf(OAuthError);
  });
});

describe('a database that is away is told from one that says no', () => {
  test('nobody listens, or there is no such socket', async () => {
    for (const connection of [
      { connectionString: 'postgres://nobody@127.0.0.1:1/none' },
      { host: '/nowhere', port: 5432, user: 'nobody', database: 'none' },
    ]) {
      const db = openDb(connection, { max: 1 });
      expect(isUnavailable(await rejection(databaseTime(db)))).toBe(true);
      await db.destroy();
    }
  });

  test('the connection is ended by an operator, mid-statement and while idle; the pool heals', async () => {
    const broken: Error[] = [];
    const db = openDb(database.connection, { max: 1, onError: (error) => void broken.push(error) });
    const pid = async (): Promise<number> =>
      (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]!.pid;
    const end = (backend: number): Promise<unknown> =>
      sql`select pg_terminate_backend(${backend}, 5000)`.execute(database.db);

    const backend = await pid();
    const sleeping = rejection(sql`select pg_sleep(10)`.execute(db));
    for (;;) {
      const { rows } = await sql`
        select 1 from pg_stat_activity where pid = ${backend} and query like '%pg_sleep(10)%' and state = 'active'`.execute(
        database.db,
      );
      if (rows.length > 0) break;
    }
    await end(backend);
    expect(isUnavailable(await sleeping)).toBe(true);

    // Either the pool noticed in time, or this statement does: the next one has a new connection.
    const healed = async (): Promise<number> => {
      const answer = await pid().catch((error: unknown) => error);
      expect(typeof answer === 'number' || isUnavailable(answer)).toBe(true);
      return pid();
    };
    const second = await healed();
    expect(second).not.toBe(backend);
    await end(second);
    expect(await healed()).not.toBe(second);
    expect(broken.every(isUnavailable)).toBe(true);
    await db.destroy();
  });

  test('no connection is free in time, or a statement takes too long', async () => {
    const db = openDb(database.connection, { max: 1, statementTimeout: 100 });
    expect(isUnavailable(await rejection(sql`select pg_sleep(10)`.execute(db)))).toBe(true);
    await db.destroy();
    const busy = openDb(database.connection, { max: 1 });
    const holding = transact(busy, () => rejection(databaseTime(busy)));
    expect(isUnavailable(await holding)).toBe(true);
    await busy.destroy();
    expect(isUnavailable(await rejection(databaseTime(busy)))).toBe(true);
  });

  test.each(
    [
      'XX000 XX001',
      '08000 08006 08P01 26000 28000 28P01 3D000 40001 40003 40P01',
      '25006 25P03 25P04 42P05 53100 53300 55P03 57014 57P01 57P03 57P05 58030',
    ].flatMap((codes) => codes.split(' ')),
  )('SQLSTATE %s is away', (code) => {
    expect(isUnavailable(Object.assign(new Error('as pg says it'), { code }))).toBe(true);
  });

  test.each(['0A000', '22021', '22P02', '23503', '23505', '25001', '25P02', '42501', '42601', '42P01', '54000'])(
    'SQLSTATE %s is a defect of ours',
    (code) => {
      expect(isUnavailable(Object.assign(new Error('as pg says it'), { code }))).toBe(false);
    },
  );

  test('whatever the socket says is away: by the system call, not by a list of what can go wrong', () => {
    const said = (code: string, syscall?: string): Error =>
      Object.assign(new Error(`${syscall} ${code}`), { code, ...(syscall && { syscall }) });
    const reasons = ['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'ECONNABORTED', 'EADDRNOTAVAIL'];
    for (const code of [...reasons, 'ECONNREFUSED', 'ENOENT', 'EACCES', 'EMFILE', 'EPERM', 'EAGAIN'])
      expect([code, isUnavailable(said(code, 'connect'))]).toEqual([code, true]);
    for (const code of [...reasons, 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTCONN', 'EPROTO']) {
      for (const syscall of ['read', 'write', undefined])
        expect([code, isUnavailable(said(code, syscall))]).toEqual([code, true]);
    }
    for (const code of ['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL'])
      expect([code, isUnavailable(said(code, 'getaddrinfo'))]).toEqual([code, true]);
  });

  test('what a file or an address of our own says is not', () => {
    for (const [code, syscall] of [
      ['EADDRINUSE', 'listen'],
      ['EACCES', 'listen'],
      ['EISDIR', 'read'],
      ['ENOENT', 'open'],
    ])
      expect(isUnavailable(Object.assign(new Error(`${syscall} ${code}`), { code, syscall }))).toBe(false);
    const file = Object.assign(new Error('open'), { code: 'EPERM', syscall: 'connect', path: '/etc/hosts' });
    expect(isUnavailable(file)).toBe(false);
  });

  test('whatever keeps a connection from being made is, in whichever words', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.end('what is this?')));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    for (const [query, said] of [
      ['', /./],
      ['?sslmode=no-verify', /SSL/],
    ] as const) {
      const db = openDb({ connectionString: `postgres://nobody@127.0.0.1:${port}/none${query}` }, { max: 1 });
      const error = await rejection(databaseTime(db));
      expect(String(error)).toMatch(said);
      expect(isUnavailable(error)).toBe(true);
      await db.destroy();
    }
    server.close();
  });

  test('what only looks like it is a defect', () => {
    const away = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    expect(isUnavailable(new AggregateError([away], 'both addresses'))).toBe(true);
    expect(isUnavailable(new TypeError('x is not a function'))).toBe(false);
    expect(isUnavailable(invalidGrant('no'))).toBe(false);
    for (const thing of [undefined, null, 'ECONNREFUSED', { code: 'ECONNREFUSED' }])
      expect(isUnavailable(thing)).toBe(false);
  });

  test('a unique violation names its constraint, anything else is none', async () => {
    const scope = { name: 'openid', description: null, claims: [], for_people: true, for_machines: false };
    const thrown = await rejection(database.db.insertInto('scopes').values(scope).execute());
    expect(uniqueViolation(thrown)).toBe('scopes_pkey');
    expect([uniqueViolation(new Error('no')), uniqueViolation(undefined)]).toEqual([undefined, undefined]);
  });
});

test('the database’s own time moves on within a transaction', async () => {
  await transact(database.db, async (trx) => {
    const first = await databaseTime(trx);
    await sql`select pg_sleep(0.005)`.execute(trx);
    expect((await databaseTime(trx)).getTime()).toBeGreaterThan(first.getTime());
  });
});
