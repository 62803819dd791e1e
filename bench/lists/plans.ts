/** What Postgres does for a page of a list, measured: is it by index, and how many rows does it look at? */
import { CompiledQuery, sql } from 'kysely';
import type { Deps } from '../../src/deps.ts';
import type { Db } from '../../src/store/postgres/db.ts';
import {
  recordStatements,
  stepsOf,
  type ListOperation,
  type ListQuery,
  type Plan,
  type Statement,
} from '../../test/support/lists.ts';

/**
 * A page may look at so many rows for each that it shows; more means that it passes over what is somebody else's. By the
 * number of filters: of several, one leads and the others are checked row by row.
 */
const LOOKS_A_ROW = [20, 20, 100];
/** Sorting so few costs nothing. */
const FEW = 2000;
/** A table of fewer rows than this is as well read whole. */
const SMALL = 2000;

/** What was done for one page. */
export interface Looked {
  indexes: string[];
  rows: number;
  wrong: string[];
}

type After = ReadonlyArray<string | number> | undefined;

/** Reads pages as the server does, but where its statements can be heard. */
export function planner(db: Db, deps: Partial<Deps>, limit: number) {
  const statements = recordStatements();

  type Asked = [operation: ListOperation, query: ListQuery, ids: Readonly<Record<string, string>>];

  async function page([{ list, query }, { sort, filters }, ids]: Asked, after: After, count: number): Promise<After> {
    const columns = list.sorts[sort.replace(/^-/, '')]!;
    const keyset = { columns, descending: sort.startsWith('-'), after, limit: count };
    const call = { deps: deps as Deps, db, by: { actor: 'bench' }, now: new Date(), token_scope: undefined };
    return (await list.page(call, ids, query.parse(Object.fromEntries(filters)), keyset)).last;
  }

  /** The statement of one page; undefined for what is read whole. */
  async function read(...[operation, query, ids, after]: [...Asked, After]): Promise<Statement | undefined> {
    statements.take();
    await page([operation, query, ids], after, limit);
    return statements.take().findLast(({ text }) => /\border by\b.*\blimit\b/s.test(text));
  }

  /** Where so many rows end. */
  const endOf = (...[operation, query, ids, depth]: [...Asked, number]): Promise<After> =>
    page([operation, query, ids], undefined, depth);

  async function look({ text, values = [] }: Statement, filters: number): Promise<Looked> {
    const { rows } = await db.executeQuery<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      CompiledQuery.raw(`explain (analyze, timing off, format json) ${text}`, values),
    );
    const steps = stepsOf(rows[0]!['QUERY PLAN'][0].Plan);
    const indexes = [...new Set(steps.flatMap((step) => step['Index Name'] ?? []))];
    const scans = steps.filter(
      (step) => step['Node Type'].endsWith(' Scan') && step['Node Type'] !== 'Bitmap Index Scan',
    );
    const looked = scans.reduce((sum, step) => sum + lookedAt(step), 0);
    const wrong: string[] = [];
    for (const step of steps) {
      const { 'Node Type': type, 'Relation Name': table = '' } = step;
      if (type === 'Seq Scan' && lookedAt(step) > SMALL) wrong.push(`reads all of ${table}`);
      if (type.endsWith('Sort') && (step.Plans?.[0]?.['Actual Rows'] ?? 0) > FEW) wrong.push('sorts');
    }
    if (looked > limit * LOOKS_A_ROW[filters]!) wrong.push(`looks at ${looked} rows`);
    return { indexes, rows: looked, wrong };
  }

  return { read, endOf, look, stop: () => statements.stop() };
}

const lookedAt = (step: Plan): number =>
  Math.round(
    ((step['Actual Rows'] ?? 0) +
      (step['Rows Removed by Filter'] ?? 0) +
      (step['Rows Removed by Index Recheck'] ?? 0)) *
      (step['Actual Loops'] ?? 1),
  );

/** How many indexes each of these tables has: what a row costs that is written. */
export async function indexesOf(db: Db, tables: readonly string[]): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; count: number }>`
    select tablename as name, count(*)::int as count from pg_indexes
    where schemaname = 'public' and tablename = any(${tables}::text[]) group by 1 order by 2 desc, 1`.execute(db);
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}
