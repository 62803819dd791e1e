/**
 * Partitions: what expires in the same days lies in one table, which goes as a whole. They are made ahead; a row for which
 * there is none lies in the default partition, so that nothing depends on their being there.
 */
import { sql } from 'kysely';
import type { Db, Trx } from './db.ts';
import { bucketOf } from '../../protocol/handle.ts';
import { Condition } from './prepared.ts';
import type { SHORT_LIVED } from './schema.ts';

/**
 * The partitioned tables: the days that their narrowest partition covers, and how long rows are meant to live. They are those
 * that are found by their bucket and in no other way; of a table that is looked into by person or session (`grants`,
 * `sessions`) every statement would look into every partition. The rest stay whole since little is in them (`sign_outs`,
 * `revoked_tokens`), since they have a bound (`refusals`), or for being unique by something else (`device_codes`).
 */
export const PARTITIONED = {
  access_tokens: { days: 1, life: 'day' },
  authorization_codes: { days: 7, life: 'grant' },
  interactions: { days: 1, life: 'day' },
  pushed_requests: { days: 1, life: 'day' },
  refresh_tokens: { days: 7, life: 'grant' },
  replays: { days: 1, life: 'day' },
} as const satisfies { [Table in keyof typeof SHORT_LIVED]?: { days: number; life: 'day' | 'grant' } };

export type Partitioned = keyof typeof PARTITIONED;

/** The days from `from` on, and before `to`. */
export interface Range {
  from: number;
  to: number;
}

/** One partition; that of the rows there were before there were partitions has no beginning. */
export interface Partition extends Range {
  table: Partitioned;
  name: string;
}

const tables = Object.keys(PARTITIONED) as Partitioned[];

/** As many partitions as a lifetime has parts: more of them cost every statement that cannot know its day. */
const PARTS = 4;
/** Milliseconds that we wait for a table others use. Requests wait behind us. */
const PATIENCE_MS = 50;
/** Most rows that are moved out of the default partition at once, while requests wait. */
const MOVED = 5000;
const LOCK_TIMEOUT = '55P03';

/** Where rows lie for whose days there is no partition. */
export const defaultOf = (table: Partitioned): string => `${table}_default`;

/** Statements have plans for so many partitions from today's on. Later buckets can only be made up. */
const PLANNED = 7;

/**
 * The days around a bucket that are in one partition, as a condition on that column. With it a plan that Postgres keeps has
 * one partition, and costs what it would of a table that is whole; without, Postgres would rather make a plan each time.
 */
export function around(table: Partitioned, column: string, bucket: number, now: Date): Condition {
  const { days } = PARTITIONED[table];
  const { from, to } = windowOf(days, bucket);
  const ahead = (from - windowOf(days, bucketOf(now)).from) / days;
  return new Condition(ahead >= 0 && ahead < PLANNED ? `(${column} >= ${from} and ${column} < ${to})` : 'true');
}

const windowOf = (days: number, bucket: number): Range => {
  const from = Math.floor(bucket / days) * days;
  return { from, to: from + days };
};

/** Every partition but the default ones, by time. */
export async function partitionsOf(db: Db | Trx, of: readonly Partitioned[] = tables): Promise<Partition[]> {
  const { rows } = await sql<{ table: Partitioned; name: string; bound: string }>`
    select p.relname as table, c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class p on p.oid = i.inhparent join pg_class c on c.oid = i.inhrelid
    where p.oid = any(${of}::text[]::regclass[])`.execute(db);
  return rows
    .flatMap(({ table, name, bound }) => {
      const [, from, to] = /FROM \(('?-?\d+'?|MINVALUE)\) TO \('?(-?\d+)'?\)/.exec(bound) ?? [];
      const first = from === 'MINVALUE' ? -Infinity : Number(from?.replaceAll("'", ''));
      return from === undefined ? [] : [{ table, name, from: first, to: Number(to) }];
    })
    .toSorted((a, b) => a.to - b.to);
}

/** The ranges that a table lacks where a grant lives for `grant` days: for rows made now, and for those made in the time of one partition from now. */
export function missingRanges(existing: readonly Range[], table: Partitioned, grant: number, now: Date): Range[] {
  const { days, life } = PARTITIONED[table];
  const lifetime = life === 'grant' ? grant : 1;
  // A multiple, so that the days `around` a bucket are never in two.
  const width = days * Math.max(1, Math.floor(lifetime / PARTS / days));
  const ranges: Range[] = [];
  const last = bucketOf(now) + Math.ceil(lifetime) + width;
  for (let day = bucketOf(now); day <= last;) {
    const there = existing.find(({ from, to }) => from <= day && day < to);
    if (there) {
      day = there.to;
      continue;
    }
    const { from, to } = windowOf(width, day);
    const range = {
      from: Math.max(from, ...existing.map((one) => one.to).filter((end) => end <= day)),
      to: Math.min(to, ...existing.map((one) => one.from).filter((start) => start > day)),
    };
    ranges.push(range);
    day = range.to;
  }
  return ranges;
}

/**
 * Makes the partitions that are lacking where a grant lives for `grant` days; returns the tables that somebody else held, for the next turn. Servers that do it at
 * once make each of them once.
 */
export async function makeAhead(db: Db, grant: number, now: Date): Promise<Partitioned[]> {
  const there = await partitionsOf(db);
  const lack = (table: Partitioned, existing: readonly Partition[]): Range[] =>
    missingRanges(
      existing.filter((partition) => partition.table === table),
      table,
      grant,
      now,
    );
  return inTurn(
    db,
    tables.filter((table) => lack(table, there).length > 0),
    async (trx, table) => {
      // Of the whole table: whoever writes has then seen its partitions, and puts no row where it no longer belongs.
      await sql`lock table only ${sql.id(table)} in access exclusive mode`.execute(trx);
      for (const range of lack(table, await partitionsOf(trx, [table]))) await make(trx, table, range);
    },
  );
}

/**
 * Makes one, with what lies in the default partition and belongs there; not if that is too much to be moved at once. By a
 * function of the tables' owner, which the server need not be.
 */
async function make(trx: Trx, table: Partitioned, { from, to }: Range): Promise<void> {
  const name = `${table}_${new Date(from * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '_')}`;
  const misplaced = sql`expires_bucket >= ${from} and expires_bucket < ${to}`;
  const rest = sql.id(defaultOf(table));
  const { rows } = await sql<{ rows: number }>`
    select count(*)::int as rows from (select from ${rest} where ${misplaced} limit ${MOVED + 1}) misplaced`.execute(
    trx,
  );
  const { rows: misplacedRows } = rows[0]!;
  if (misplacedRows > MOVED) return;
  await sql`select make_partition(${table}, ${name}, ${from}, ${to})`.execute(trx);
}

/** Drops the partitions whose last day is over; returns those that somebody else held, for the next turn. */
export async function dropPast(db: Db, now: Date): Promise<string[]> {
  const past = (await partitionsOf(db)).filter(({ to }) => to <= bucketOf(now)).map(({ name }) => name);
  return inTurn(db, past, async (trx, name) => {
    await sql`select drop_partition(${name})`.execute(trx);
  });
}

/** Does one after the other, each in a transaction that waits for nobody; returns what was left. */
async function inTurn<T>(db: Db, all: readonly T[], work: (trx: Trx, one: T) => Promise<void>): Promise<T[]> {
  const left: T[] = [];
  for (const one of all) {
    try {
      await db.transaction().execute(async (trx) => {
        await sql`set local lock_timeout = ${sql.lit(PATIENCE_MS)}`.execute(trx);
        await work(trx, one);
      });
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_TIMEOUT) throw error;
      left.push(one);
    }
  }
  return left;
}

/** The tables with rows in their default partition that have yet to expire. */
export async function withoutPartition(db: Db, now: Date): Promise<Partitioned[]> {
  const found = tables.map(
    (table) => sql`
    select ${table}::text as table
    where exists (select from ${sql.id(defaultOf(table))} where expires_bucket >= ${bucketOf(now)})`,
  );
  const { rows } = await sql<{ table: Partitioned }>`${sql.join(found, sql` union all `)}`.execute(db);
  return rows.map(({ table }) => table);
}
