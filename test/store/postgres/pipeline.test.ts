/** Statements that are asked for at one moment: one transaction, and yet each on its own. */
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { isUnavailable, poolOf, transact, type Db, type Trx } from '../../../src/store/postgres/db.ts';
import { NO_ROW } from '../../../src/store/postgres/lock-order.ts';
import { read, write as writeTo } from '../../../src/store/postgres/pipeline.ts';
import { prepared, type Prepared, type Value } from '../../../src/store/postgres/prepared.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let of: TestDatabase;
let db: Db;
beforeAll(async () => {
  of = await createTestDatabase();
  ({ db } = of);
  await sql`create table notes (id int primary key, word text not null)`.execute(db);
});
beforeEach(() => sql`truncate notes`.execute(db));
afterAll(() => of.close());

const write = <R>(to: Db | Trx, statement: Prepared<R>): Promise<R[]> => writeTo(to, statement, NO_ROW);
const note = (id: number, word = 'word'): Promise<unknown> =>
  write(db, prepared`insert into notes (id, word) values (${id}, ${word})`);
const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
/** Of each note the transaction that wrote it. */
async function written(): Promise<Array<{ id: number; by: string }>> {
  const { rows } = await sql<{ id: number; by: string }>`select id, xmin::text as by from notes order by id`.execute(
    db,
  );
  return rows;
}

test('writes of one moment are one transaction, and each has its own answer', async () => {
  const words = await Promise.all(
    numbers(40).map((id) =>
      write(
        db,
        prepared<{ id: number; twice: string }>`
        insert into notes (id, word) values (${id}, 'w') returning id, word || word || ${id}::int as twice`,
      ),
    ),
  );
  expect(words).toEqual(numbers(40).map((id) => [{ id, twice: `ww${id}` }]));
  expect(new Set((await written()).map(({ by }) => by)).size).toBe(1);
});

test('more than fit are several transactions', async () => {
  await Promise.all(numbers(150).map((id) => note(id)));
  const transactions = new Set((await written()).map(({ by }) => by)).size;
  expect(transactions).toBeGreaterThan(1);
  expect(transactions).toBeLessThan(10);
});

test("one caller's error is nobody else's", async () => {
  await note(7);
  const done = await Promise.allSettled([note(1), note(7), write(db, prepared`select 1 / ${0}::int as n`), note(2)]);
  expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
  expect(done[1]).toMatchObject({ reason: { code: '23505' } });
  expect(done[2]).toMatchObject({ reason: { code: '22012' } });
  expect((await written()).map(({ id }) => id)).toEqual([1, 2, 7]);
});

test('who fails is not asked again: only the others are', async () => {
  await sql`create sequence attempts`.execute(db);
  const failing = write(db, prepared`select 1 / (nextval('attempts') - nextval('attempts') + 1) as n`);
  const done = await Promise.allSettled([note(1), failing, note(2)]);
  expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  const { rows } = await sql`select last_value::int as last from attempts`.execute(db);
  expect(rows).toEqual([{ last: 2 }]);
});

test('however many fail, the others are answered, in few batches and with few connections', async () => {
  await note(0);
  let [asked, most] = [0, 0];
  const { pool } = poolOf(db)!;
  const query = pg.Client.prototype.query;
  pg.Client.prototype.query = function counted(this: pg.Client, ...given: unknown[]) {
    asked += 1;
    most = Math.max(most, pool.totalCount - pool.idleCount);
    return (query as (...all: unknown[]) => unknown).apply(this, given);
  } as typeof query;
  const done = await Promise.allSettled(numbers(64).map((id) => note(id % 8 === 0 ? 0 : id)));
  pg.Client.prototype.query = query;
  expect(done.map(({ status }) => status === 'fulfilled')).toEqual(numbers(64).map((id) => id % 8 !== 0));
  expect(asked).toBeLessThan(40);
  expect(most).toBeLessThanOrEqual(Math.max(2, pool.options.max / 2));
});

test('who is kept waiting by several locks is told so before anybody has gone', async () => {
  await Promise.all(numbers(12).map((id) => note(id)));
  // A statement of its own: it waits in vain, and a table that is truncated meanwhile looks like what it waited for.
  const touch = (id: number): Promise<unknown> =>
    write(db, prepared`update notes set word = 'kept waiting' where id = ${id}`);
  await transact(db, async (trx) => {
    await sql`select from notes for update`.execute(trx);
    const began = performance.now();
    const all = await Promise.allSettled([...numbers(12).map(touch), note(12)]);
    expect(all.slice(0, 12).map((one) => one.status === 'rejected' && isUnavailable(one.reason))).toEqual(
      numbers(12).map(() => true),
    );
    expect(all[12]!.status).toBe('fulfilled');
    expect(performance.now() - began).toBeLessThan(3000);
  });
});

test('nobody is answered before the commit: what a deferred constraint refuses, failed', async () => {
  await sql`create table parents (id int primary key)`.execute(db);
  await sql`create table children (id int references parents deferrable initially deferred)`.execute(db);
  const child = (id: number): Promise<unknown> => write(db, prepared`insert into children (id) values (${id})`);
  await sql`insert into parents values (1)`.execute(db);
  const done = await Promise.allSettled([child(1), child(2), child(1)]);
  expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  const { rows } = await sql`select id from children`.execute(db);
  expect(rows).toEqual([{ id: 1 }, { id: 1 }]);
});

test('who waits for a lock keeps nobody waiting who comes later', async () => {
  await note(1);
  const touch = (): Promise<unknown> => write(db, prepared`update notes set word = 'touched' where id = ${1}`);
  let waiting: Promise<unknown> = Promise.resolve();
  await transact(db, async (trx) => {
    await sql`select from notes where id = 1 for update`.execute(trx);
    waiting = touch();
    // In its batch, and in the next ones.
    const others = [touch(), touch(), touch()];
    await pause(1);
    await note(2);
    await note(3);
    expect((await written()).map(({ id }) => id)).toEqual([1, 2, 3]);
    waiting = Promise.all([waiting, ...others]);
  });
  await waiting;
});

test('what became of a batch whose connection broke, nobody knows: it fails as a whole and is not asked again', async () => {
  let asked = 0;
  const query = pg.Client.prototype.query;
  pg.Client.prototype.query = function counted(this: pg.Client, ...given: unknown[]) {
    asked += 1;
    return (query as (...all: unknown[]) => unknown).apply(this, given);
  } as typeof query;
  const broken = await Promise.allSettled([
    note(1),
    write(db, prepared`select pg_terminate_backend(pg_backend_pid()) as gone`),
    note(2),
  ]);
  pg.Client.prototype.query = query;
  expect(asked).toBe(1);
  expect(broken.map((one) => one.status === 'rejected' && isUnavailable(one.reason))).toEqual([true, true, true]);
  expect(await written()).toEqual([]);
  await note(3);
  expect((await written()).map(({ id }) => id)).toEqual([3]);
});

test('values arrive as they were sent, and come back', async () => {
  const ask = async (value: Value, type: string): Promise<unknown> => {
    const statement = TYPES[type]!(value);
    const [[batched], within] = [await read(db, statement), await transact(db, (trx) => read(trx, statement))];
    // In a transaction pg writes them itself.
    expect(within).toEqual([batched]);
    return batched!.value;
  };
  const TYPES: Record<string, (value: Value) => ReturnType<typeof prepared<{ value: unknown }>>> = {
    text: (value) => prepared<{ value: unknown }>`select ${value}::text as value`,
    texts: (value) => prepared<{ value: unknown }>`select ${value}::text[] as value`,
    ints: (value) => prepared<{ value: unknown }>`select ${value}::int[] as value`,
    bytes: (value) => prepared<{ value: unknown }>`select ${value}::bytea as value`,
    hashes: (value) => prepared<{ value: unknown }>`select ${value}::bytea[] as value`,
    moment: (value) => prepared<{ value: unknown }>`select ${value}::timestamptz as value`,
    flag: (value) => prepared<{ value: unknown }>`select ${value}::boolean as value`,
    json: (value) => prepared<{ value: unknown }>`select ${value}::jsonb as value`,
  };
  const texts = [
    '',
    ' ',
    'NULL',
    '{}',
    '{a,b}',
    '"',
    '\\',
    'a,b',
    "o'hara; drop table notes",
    'häßlich 🦉',
    '$1',
    '\n',
  ];
  for (const text of texts) expect(await ask(text, 'text')).toBe(text);
  for (const list of [[], texts, ['one']]) expect(await ask(list, 'texts')).toEqual(list);
  expect(await ask([1, -2, 2_147_483_647], 'ints')).toEqual([1, -2, 2_147_483_647]);
  const bytes = Buffer.from(numbers(256));
  expect(await ask(bytes, 'bytes')).toEqual(bytes);
  expect(await ask([bytes, Buffer.alloc(0)], 'hashes')).toEqual([bytes, Buffer.alloc(0)]);
  for (const moment of [new Date(0), new Date('2026-11-21T23:59:59.999Z'), new Date('1969-02-01T00:00:00.001Z')]) {
    expect(await ask(moment, 'moment')).toEqual(moment);
  }
  expect([await ask(true, 'flag'), await ask(false, 'flag')]).toEqual([true, false]);
  expect(await ask('{"a":[1,null]}', 'json')).toEqual({ a: [1, null] });
  for (const type of Object.keys(TYPES)) expect(await ask(null, type)).toBeNull();
});

test('a prepared statement names its columns', () => {
  expect(() => prepared`select * from users`).toThrow('name the columns');
  expect(() => prepared`update users set email = ${null} returning *`).toThrow('name the columns');
  expect(() => prepared`select u.* from users u`).toThrow('name the columns');
});

test('parts of a statement take their values along', async () => {
  const between = (low: number, high: number) => prepared`id between ${low} and ${high}`;
  const find = (low: number, high: number, word: string) =>
    read(
      db,
      prepared<{ id: number }>`
        select id from notes where word = ${word} and ${between(low, high)} and not ${between(3, 3)} order by id`,
    );
  await Promise.all(numbers(6).map((id) => note(id, id === 5 ? 'other' : 'word')));
  expect(await find(1, 5, 'word')).toEqual([{ id: 1 }, { id: 2 }, { id: 4 }]);
  expect(await find(4, 9, 'other')).toEqual([{ id: 5 }]);
});

test('what is asked for in a transaction is part of it, and undone with it', async () => {
  const undone = transact(db, async (trx) => {
    await write(trx, prepared`insert into notes (id, word) values (${1}, 'w')`);
    expect(await read(trx, prepared<{ id: number }>`select id from notes`)).toEqual([{ id: 1 }]);
    expect(await read(db, prepared<{ id: number }>`select id from notes`)).toEqual([]);
    throw new Error('undo');
  });
  await expect(undone).rejects.toThrow('undo');
  expect(await written()).toEqual([]);
});
