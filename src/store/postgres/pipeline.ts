/**
 * Prepared statements, several at a time: those that are asked for at the same moment go to Postgres in one write, become one
 * transaction and are durable by one flush of its log. Each caller has its own answer, and nobody has one before the commit.
 */
import { CompiledQuery } from 'kysely';
import pg from 'pg';
import { poolOf, type Db, type Trx } from './db.ts';
import { inOrder, NO_ROW, type Locked } from './lock-order.ts';
import type { Pool } from './pool.ts';
import type { Prepared, Value } from './prepared.ts';
import { noConnection } from './unavailable.ts';

type Row = Record<string, unknown>;

/** So many statements at most are one transaction. */
const MAX_BATCH = 64;
/** So many batches are under way at once: while one commits, the next is made. */
const MAX_RUNNING = 2;
/** A batch that waits for somebody's lock holds up others no longer than this many milliseconds. */
const PATIENCE_MS = 20;
/** Batches that wait take so large a part of the connections at most: whoever needs nothing that is locked finds one. */
const PART = 2;
/** Statements that waited for this many milliseconds fail: their answer would come after the caller's timeout. */
const LATE_MS = 1000;

/** Reads, together with others that are asked for at this moment. In a transaction, in that one. */
export const read = <R>(db: Db | Trx, statement: Prepared<R>): Promise<R[]> => perform(db, statement, 'reads', NO_ROW);

/**
 * Writes, together with others; resolved when it is committed. In a transaction, in that one. What others do cannot fail it.
 * `waits` is the one row that the statement may have to wait for.
 */
export const write = <R>(db: Db | Trx, statement: Prepared<R>, waits: Locked): Promise<R[]> =>
  perform(db, statement, 'writes', waits);

async function perform<R>(db: Db | Trx, statement: Prepared<R>, kind: keyof Queues, waits: Locked): Promise<R[]> {
  const reach = db.isTransaction ? undefined : poolOf(db);
  if (reach === undefined) {
    return (await db.executeQuery<R>(CompiledQuery.raw(statement.text, [...statement.values]))).rows;
  }
  const { pool, onStatement } = reach;
  let mine = queues.get(pool);
  if (mine === undefined) queues.set(pool, (mine = { reads: new Queue(pool), writes: new Queue(pool) }));
  const queue = mine[kind];
  const answer = pool.gate.through(statement.text, () => queue.add(statement, waits));
  if (onStatement === undefined) return (await answer) as R[];
  // Here, in whoever's request this is: the batch is of many.
  const began = performance.now();
  let failed = true;
  try {
    const rows = await answer;
    failed = false;
    return rows as R[];
  } finally {
    onStatement(statement.text, performance.now() - began, failed);
  }
}

interface Queues {
  reads: Queue;
  writes: Queue;
}
const queues = new WeakMap<pg.Pool, Queues>();

interface Waiting {
  statement: Prepared;
  waits: Locked;
  since: number;
  resolve: (rows: Row[]) => void;
  reject: (error: unknown) => void;
}

/** Gathers what arrives in one turn of the event loop, and what arrives while batches are under way. */
class Queue {
  readonly #pool: Pool;
  /** Parts of batches that failed for another's sake: each is asked again by itself. */
  #again: Waiting[][] = [];
  #waiting: Waiting[] = [];
  /** Batches under way, and of those the ones that have not waited for long. */
  #underWay = 0;
  #running = 0;
  #isDue = false;
  constructor(pool: Pool) {
    this.#pool = pool;
  }

  add(statement: Prepared, waits: Locked): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ statement, waits, since: performance.now(), resolve, reject });
      if (this.#isDue) return;
      this.#isDue = true;
      setImmediate(() => {
        this.#isDue = false;
        this.#start();
      });
    });
  }

  #start(): void {
    const most = Math.max(MAX_RUNNING, Math.floor(this.#pool.options.max / PART));
    const late = performance.now() - LATE_MS;
    while (this.#running < MAX_RUNNING && this.#underWay < most) {
      const batch = this.#again.shift() ?? this.#waiting.splice(0, MAX_BATCH);
      if (batch.length === 0) return;
      const inTime = batch.filter(({ since }) => since > late);
      if (inTime.length < batch.length) for (const one of batch) if (one.since <= late) one.reject(tooLate());
      if (inTime.length > 0) void this.#run(inTime);
    }
  }

  async #run(batch: Waiting[]): Promise<void> {
    this.#running += 1;
    this.#underWay += 1;
    let isCounted = true;
    const next = (): void => {
      if (isCounted) this.#running -= 1;
      isCounted = false;
      this.#start();
    };
    const patience = setTimeout(next, PATIENCE_MS);
    // Every transaction takes its locks in the same order, so that no two wait for each other.
    batch.sort((a, b) => inOrder(a.waits, b.waits));
    try {
      const pipeline = new Pipeline(batch.map(({ statement }) => statement));
      const problem = await ask(this.#pool, pipeline);
      if (problem === undefined) for (const [n, { resolve }] of batch.entries()) resolve(pipeline.answers[n]!);
      else this.#again.push(...this.#settle(batch, problem));
    } catch (error) {
      for (const one of batch) this.#refuse(one, error as Error);
    } finally {
      clearTimeout(patience);
      this.#underWay -= 1;
      next();
    }
  }

  /**
   * One caller's error is nobody else's: tells whoever it is of, and returns what is asked again, in parts. What came before
   * the error will do; what is like it may fail like it, and keeps nobody else.
   */
  #settle(batch: Waiting[], { error, at }: Problem): Waiting[][] {
    const culprit = batch[at];
    if (isOfAll(error) || (batch.length === 1 && !culprit)) {
      for (const one of batch) this.#refuse(one, error);
      return [];
    }
    // A commit that failed names no statement: either half is tried again.
    const half = Math.ceil(batch.length / 2);
    if (!culprit) return [batch.slice(0, half), batch.slice(half)];
    this.#refuse(culprit, error);
    const after = batch.slice(at + 1);
    const isAlike = ({ statement }: Waiting): boolean => statement.name === culprit.statement.name;
    const parts = [batch.slice(0, at), after.filter((one) => !isAlike(one)), after.filter(isAlike)];
    return parts.filter((part) => part.length > 0);
  }

  #refuse({ statement, reject }: Waiting, error: Error): void {
    this.#pool.gate.failed(statement.text, error);
    reject(error);
  }
}

const tooLate = (): Error => noConnection(new Error('the database did not come to it in time'));

/** Is it the database itself (no connections, no room, read-only), so that it would say the same to everybody? */
const isOfAll = (error: Error): boolean => /^(?:08|53|57P|58)|^25006$/.test((error as { code?: string }).code ?? '');

/** Did Postgres say no, so that nothing was done? */
const isRefusal = (error: unknown): boolean => error instanceof pg.DatabaseError && error.severity === 'ERROR';

/** What Postgres refused, and the place of the statement in its batch: beyond the last, it was the commit. */
interface Problem {
  error: Error;
  at: number;
}

/**
 * Asks. A problem means that nothing of the batch was done, so that the rest of it may be asked again.
 * @throws when there is no connection, or it breaks: then nobody knows what was done
 */
async function ask(pool: pg.Pool, pipeline: Pipeline): Promise<Problem | undefined> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    return await new Promise<Problem | undefined>((resolve, reject) => {
      pipeline.callback = (error) => {
        if (error === null) resolve(undefined);
        else if (isRefusal(error)) resolve({ error, at: pipeline.at });
        else reject(error);
      };
      client.query(pipeline);
    });
  } catch (error) {
    broken = error as Error;
    throw error;
  } finally {
    client.release(broken);
  }
}

/** How the columns of an answer are read. */
type Columns = ReadonlyArray<readonly [name: string, parse: (text: string) => unknown]>;

/** What each connection has prepared, by name; with the columns of the answer, if it has one. */
const preparedOn = new WeakMap<object, Map<string, Columns>>();

/** The part of pg's connection that a submitted query uses; `test/store/postgres/wire.test.ts` fails when pg changes it. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  parse(message: { name: string; text: string }): void;
  describe(message: { type: 'S'; name: string }): void;
  close(message: { type: 'S'; name: string }): void;
  bind(message: { statement: string; values: readonly Value[]; valueMapper: (value: Value) => unknown }): void;
  execute(message: { portal?: string }): void;
  sync(): void;
}

/** What pg's client hands to the query that is its turn, and expects of it (the interface of pg-cursor and pg-query-stream). */
class Pipeline implements pg.Submittable {
  readonly #statements: readonly Prepared[];
  readonly answers: Row[][];
  /** Which statement is being carried out. */
  at = 0;
  #known = new Map<string, Columns>();
  /** Prepared by this batch, which has to succeed for that to be known. */
  readonly #fresh = new Map<string, Columns>();
  #unreadable: Error | undefined;
  /** pg wraps it, to put an end to its timeout. */
  callback: (error: Error | null) => void = () => {};

  constructor(statements: readonly Prepared[]) {
    this.#statements = statements;
    this.answers = statements.map(() => []);
  }

  /** For whoever counts, or looks at, what is asked. */
  get size(): number {
    return this.#statements.length;
  }
  get text(): string {
    return this.#statements.map(({ text }) => text).join(';');
  }

  submit(connection: unknown): void {
    const wire = connection as Wire;
    let known = preparedOn.get(wire);
    if (known === undefined) preparedOn.set(wire, (known = new Map()));
    this.#known = known;
    wire.stream.cork();
    try {
      for (const { name, text, values } of this.#statements) {
        if (!known.has(name) && !this.#fresh.has(name)) {
          this.#fresh.set(name, []);
          // Of a batch that failed it is not known how far it came.
          wire.close({ type: 'S', name });
          wire.parse({ name, text });
          wire.describe({ type: 'S', name });
        }
        wire.bind({ statement: name, values, valueMapper: toText });
        wire.execute({});
      }
      wire.sync();
    } finally {
      wire.stream.uncork();
    }
  }

  handleRowDescription({ fields }: { fields: ReadonlyArray<{ name: string; dataTypeID: number }> }): void {
    const columns = fields.map(({ name, dataTypeID }) => [name, parserOf(dataTypeID)] as const);
    this.#fresh.set(this.#statements[this.at]!.name, columns);
  }

  handleDataRow({ fields }: { fields: ReadonlyArray<string | null> }): void {
    const { name } = this.#statements[this.at]!;
    const columns = this.#known.get(name) ?? this.#fresh.get(name)!;
    const row: Row = {};
    try {
      for (let n = 0; n < fields.length; n += 1) {
        const [column, parse] = columns[n]!;
        const text = fields[n]!;
        row[column] = text === null ? null : parse(text);
      }
    } catch (error) {
      this.#unreadable ??= error as Error;
    }
    this.answers[this.at]!.push(row);
  }

  handleCommandComplete(): void {
    this.at += 1;
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  /** Postgres has committed. */
  handleReadyForQuery(): void {
    for (const [name, columns] of this.#fresh) this.#known.set(name, columns);
    this.callback(this.#unreadable ?? null);
  }

  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}

const parserOf = (type: number): ((text: string) => unknown) =>
  pg.types.getTypeParser(type, 'text') as (text: string) => unknown;

/** The date that was written last, and how: a statement has the time of its request in several places. */
let lastDate: readonly [ms: number, text: string] = [Number.NaN, ''];

function dateText(date: Date): string {
  const ms = date.getTime();
  if (lastDate[0] !== ms) lastDate = [ms, date.toISOString()];
  return lastDate[1];
}

/** A value as Postgres reads it; bytes go as they are. */
function toText(value: Value): string | Buffer | null {
  if (value === null || typeof value === 'string' || Buffer.isBuffer(value)) return value;
  if (value instanceof Date) return dateText(value);
  return Array.isArray(value) ? `{${value.map(elementOf).join()}}` : String(value);
}

function elementOf(value: string | number | Buffer): string {
  if (Buffer.isBuffer(value)) return `"\\\\x${value.toString('hex')}"`;
  const text = String(value);
  return /["\\]/.test(text) ? `"${text.replaceAll(/["\\]/g, '\\$&')}"` : `"${text}"`;
}
