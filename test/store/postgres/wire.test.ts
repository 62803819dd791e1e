/**
 * What the store relies on of pg beyond what pg promises (docs/decisions/0003-pipeline-and-group-commit.md): the messages its
 * connection writes, what its client tells a query of our own kind, and what cancelling a statement needs. pg is pinned exactly;
 * this test lets the next version in, or tells what has changed.
 */
import { readFileSync } from 'node:fs';
import { Duplex } from 'node:stream';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

let client: pg.Client;
beforeEach(async () => {
  const { connection } = database;
  client = new pg.Client({ ...connection });
  client.on('error', () => {});
  await client.connect();
});
afterEach(() => client.end());

test('pg is the one version whose wire this test has seen', () => {
  const here = new URL('../../../', import.meta.url);
  const read = (file: string) => JSON.parse(readFileSync(new URL(file, here), 'utf8')) as Record<string, unknown>;
  const { dependencies } = read('package.json') as { dependencies: Record<string, string> };
  expect(dependencies['pg']).toMatch(/^\d+\.\d+\.\d+$/);
  expect(read('node_modules/pg/package.json')['version']).toBe(dependencies['pg']);
});

/** A connection's methods as src/store/postgres/pipeline.ts and src/store/postgres/cancel.ts call them. */
interface Wire {
  stream: Duplex;
  parse(message: { name: string; text: string }): void;
  describe(message: { type: 'S'; name: string }): void;
  close(message: { type: 'S'; name: string }): void;
  bind(message: { statement: string; values: readonly unknown[]; valueMapper: (value: unknown) => unknown }): void;
  execute(message: { portal?: string }): void;
  sync(): void;
  cancel(processID: number, secretKey: number): void;
}

/** A connection to nobody, and what it has written. */
function aWire(): { wire: Wire; written: () => Buffer } {
  const chunks: Buffer[] = [];
  const stream = new Duplex({
    read: () => {},
    writev: (given, done) => {
      chunks.push(Buffer.concat(given.map(({ chunk }) => chunk as Buffer)));
      done();
    },
  });
  const wire = new pg.Connection({ stream: () => stream }) as unknown as Wire;
  return { wire, written: () => Buffer.concat(chunks) };
}

/** A message of the protocol (PostgreSQL, §54.7): its letter, the length of what follows with itself, and that. */
function message(letter: string, ...parts: Array<string | Buffer>): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(`${part}\0`) : part)));
  return Buffer.concat([Buffer.from(letter), int32(body.length + 4), body]);
}
function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
const int16 = (value: number): Buffer => int32(value).subarray(2);

test('a statement is closed, parsed, described, bound, executed and synchronised as it was asked for', () => {
  const { wire, written } = aWire();
  wire.stream.cork();
  wire.close({ type: 'S', name: 'p_1' });
  wire.parse({ name: 'p_1', text: 'select $1, $2, $3' });
  wire.describe({ type: 'S', name: 'p_1' });
  wire.bind({
    statement: 'p_1',
    values: ['1', null, 'bytes'],
    valueMapper: (value) =>
      value === null ? null : value === 'bytes' ? Buffer.from([0, 255]) : `<${value as string}>`,
  });
  wire.execute({});
  wire.sync();
  expect(written().length).toBe(0);
  wire.stream.uncork();
  const values = [int32(3), Buffer.from('<1>'), int32(-1), int32(2), Buffer.from([0, 255])];
  const bound = [int16(3), int16(0), int16(0), int16(1), int16(3), ...values, int16(1), int16(0)];
  expect(written().toString('hex')).toBe(
    Buffer.concat([
      message('C', 'Sp_1'),
      message('P', 'p_1', 'select $1, $2, $3', int16(0)),
      message('D', 'Sp_1'),
      message('B', '', 'p_1', ...bound),
      message('E', '', int32(0)),
      message('S'),
    ]).toString('hex'),
  );
});

test('a request to cancel names the process and its secret', async () => {
  const { wire, written } = aWire();
  wire.cancel(7, -2);
  expect(written()).toEqual(Buffer.concat([int32(16), int32(80_877_102), int32(7), int32(-2)]));
  // What a request to cancel is made of, and where it goes.
  expect(client).toMatchObject({
    host: expect.any(String),
    port: expect.any(Number),
    processID: expect.any(Number),
    secretKey: expect.any(Number),
  });
  expect(client).toHaveProperty('ssl');
  const { rows } = await client.query('select pg_backend_pid() as pid');
  expect(rows).toEqual([{ pid: (client as unknown as { processID: number }).processID }]);
});

/** A query of our own kind that notes what it is told, in order. */
class Witness implements pg.Submittable {
  readonly heard: Array<[what: string, detail?: unknown]> = [];
  readonly #texts: readonly string[];
  readonly #ended = Promise.withResolvers<void>();
  readonly ended = this.#ended.promise;
  callback = (error: Error | null): void => {
    this.heard.push(['callback', error?.message]);
    this.#ended.resolve();
  };
  constructor(...texts: string[]) {
    this.#texts = texts;
  }
  submit(connection: unknown): void {
    this.heard.push(['submit', connection === client.connection]);
    const wire = connection as Wire;
    for (const [n, text] of this.#texts.entries()) {
      wire.parse({ name: `w_${n}`, text });
      wire.describe({ type: 'S', name: `w_${n}` });
      wire.bind({ statement: `w_${n}`, values: [], valueMapper: (value) => value });
      wire.execute({});
    }
    wire.sync();
  }
  handleRowDescription({ fields }: { fields: Array<{ name: string; dataTypeID: number }> }): void {
    this.heard.push(['columns', fields.map(({ name, dataTypeID }) => [name, dataTypeID])]);
  }
  handleDataRow({ fields }: { fields: unknown[] }): void {
    this.heard.push(['row', fields]);
  }
  handleCommandComplete(): void {
    this.heard.push(['complete']);
  }
  handleError(error: Error): void {
    this.heard.push(['error', error]);
    this.callback(error);
  }
  handleReadyForQuery(): void {
    this.heard.push(['ready']);
    this.callback(null);
  }
}

test('a query of our own kind is told its columns, its rows as text, each end, and once that all is done', async () => {
  const witness = new Witness('select 1 as n, null::text as nothing', 'set local work_mem = 65536', `select 'a' as a`);
  expect(client.query(witness)).toBe(witness);
  await witness.ended;
  expect(witness.heard).toEqual([
    ['submit', true],
    [
      'columns',
      [
        ['n', pg.types.builtins.INT4],
        ['nothing', pg.types.builtins.TEXT],
      ],
    ],
    ['row', ['1', null]],
    ['complete'],
    ['complete'],
    ['columns', [['a', pg.types.builtins.TEXT]]],
    ['row', ['a']],
    ['complete'],
    ['ready'],
    ['callback', undefined],
  ]);
  expect(pg.types.getTypeParser(pg.types.builtins.INT4, 'text')('1')).toBe(1);
});

test('it is told of an error once, what Postgres said, and nothing after it; the connection is of use again', async () => {
  const said: unknown[] = [];
  client.connection.on('errorMessage', ({ code }: { code: string }) => said.push(code));
  const witness = new Witness('select 1 as n', 'select 1 / 0', 'select 2 as n');
  client.query(witness);
  await witness.ended;
  expect((await client.query('select 3 as n')).rows).toEqual([{ n: 3 }]);
  expect(witness.heard.map(([what]) => what)).toEqual([
    'submit',
    'columns',
    'row',
    'complete',
    'columns',
    'error',
    'callback',
  ]);
  const [, error] = witness.heard.at(-2)!;
  expect(error).toBeInstanceOf(pg.DatabaseError);
  expect(error).toMatchObject({ severity: 'ERROR', code: '22012' });
  expect(said).toEqual(['22012']);
});

test('its callback hears first that its time is over, and by the one sentence that pg has for that', async () => {
  const patient = new pg.Client({ ...database.connection, query_timeout: 50 });
  patient.on('error', () => {});
  await patient.connect();
  const witness = new Witness('select pg_sleep(2)');
  patient.query(witness);
  await witness.ended;
  const gone = new Promise((resolve) => void patient.connection.once('end', resolve));
  expect(witness.heard.slice(0, 2)).toEqual([
    ['submit', false],
    ['callback', 'Query read timeout'],
  ]);
  patient.connection.stream.destroy();
  await gone;
});

test('a pool tells why a connection came back, and lends no more than the most it has at the moment', async () => {
  const pool = new pg.Pool({ ...database.connection, max: 2 });
  // The database is dropped with whoever is still saying goodbye.
  pool.on('error', () => {});
  pool.on('connect', (made) => void made.on('error', () => {}));
  const told: unknown[] = [];
  pool.on('release', (error: unknown) => told.push(error));
  const one = await pool.connect();
  pool.options.max = 1;
  let isLent = false;
  const next = pool.connect().then((lent) => {
    isLent = true;
    return lent;
  });
  await client.query('select');
  expect(isLent).toBe(false);
  const broken = new Error('broken');
  one.release(broken);
  (await next).release();
  expect(told[0]).toBe(broken);
  await pool.end();
});
