/** Keyset pagination: a page is read from where the last one ended, by an index, and never by counting rows. */
import { sql, type SelectQueryBuilder } from 'kysely';
import type { Db } from './db.ts';
import type { Database } from './schema.ts';

/** Where a page begins, which way it goes and how long it is. */
export interface Keyset {
  /** The sort columns, the last one unique. They are ours, never a caller's words. */
  columns: readonly string[];
  descending: boolean;
  /** The values of those columns in the last row of the page before; undefined for the first page. */
  after: ReadonlyArray<string | number> | undefined;
  limit: number;
}

/** Rows of one page, and whether there are more. */
export interface KeysetPage<Row> {
  rows: Row[];
  more: boolean;
  /** The sort columns of the last row. */
  last: Array<string | number> | undefined;
}

/** Runs a query for one page. One row more than asked for is read, to know whether there are more. */
export async function keysetPage<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  { columns, descending, after, limit }: Keyset,
): Promise<KeysetPage<Row>> {
  const row = sql.join(columns.map((column) => sql.ref(column)));
  let paged = query.limit(limit + 1);
  for (const column of columns) paged = paged.orderBy(sql.ref(column), descending ? 'desc' : 'asc');
  if (after !== undefined) {
    const values = sql.join(after.map((value) => sql.val(value)));
    paged = paged.where(descending ? sql<boolean>`(${row}) < (${values})` : sql<boolean>`(${row}) > (${values})`);
  }
  const rows = await paged.execute();
  const shown = rows.slice(0, limit);
  const end = shown.at(-1) as Record<string, unknown> | undefined;
  const last = end && columns.map((column) => keyOf(end[column.slice(column.indexOf('.') + 1)]));
  return { rows: shown, more: rows.length > limit, last };
}

const keyOf = (value: unknown): string | number =>
  value instanceof Date ? value.toISOString() : typeof value === 'number' ? value : String(value);

/** Rows made in a time: from its start, until before its end. */
export interface CreatedRange {
  created_after?: Date | undefined;
  created_before?: Date | undefined;
}

/** Narrows a query to rows made in that time. */
export function createdWithin<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  { created_after, created_before }: CreatedRange,
): SelectQueryBuilder<DB, TB, Row> {
  let narrowed = query;
  if (created_after) narrowed = narrowed.where(sql<boolean>`created_at >= ${created_after}`);
  if (created_before) narrowed = narrowed.where(sql<boolean>`created_at < ${created_before}`);
  return narrowed;
}

/** How many rows a table has, roughly: what the planner thinks, which costs nothing. */
export async function estimateRows(db: Db, table: keyof Database): Promise<number> {
  // Partitions carry the numbers of a partitioned table, which may have them too.
  const { rows } = await sql<{ estimate: number }>`
    select coalesce(sum(greatest(c.reltuples, 0)), 0)::float8 as estimate from pg_class c
    where c.relkind = 'r' and (c.oid = to_regclass(${table}) or c.oid in (
      select inhrelid from pg_inherits where inhparent = to_regclass(${table})))`.execute(db);
  return Math.round(rows[0]!.estimate);
}

/** Can it be the id of a row that Postgres counts? Others cannot even be compared with one. */
export const isSerial = (id: string): boolean => /^\d{1,18}$/.test(id);
