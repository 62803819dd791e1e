/** The lists of the admin API: every way to ask for one, and what Postgres would do for it. */
import pg from 'pg';
import { fill, operations, type Operation } from '../../src/admin/index.ts';

export type ListOperation = Operation & { kind: 'list' };

/** Every list that there is. */
export const listOperations: readonly ListOperation[] = operations.filter((operation) => operation.kind === 'list');

/** Of these there are a handful, which are read whole. */
export const READ_WHOLE: readonly string[] = ['/keys', '/users/{sub}/credentials', '/users/{sub}/passkeys'];

/** A list, narrowed and in an order. */
export interface ListQuery {
  path: string;
  /** Column names as the list calls them, or with a minus before them. */
  sort: string;
  filters: ReadonlyArray<readonly [name: string, value: string]>;
}

/** Values to narrow lists by, of each filter. */
export type FilterValues = Readonly<Record<string, readonly string[]>>;

/**
 * Each order with each set of at most so many filters. @throws for a filter without a value here: a new one must have it
 */
export function queriesOf(
  { list, path }: ListOperation,
  { values, ids, most }: { values: FilterValues; ids: Readonly<Record<string, string>>; most: number },
): ListQuery[] {
  const sets = filterSets(Object.keys(list.filters.shape), values, most);
  return Object.keys(list.sorts).flatMap((sort) =>
    sets.map((filters) => ({ path: fill(path, ids), sort: `${list.descending ? '-' : ''}${sort}`, filters })),
  );
}

function filterSets(names: readonly string[], values: FilterValues, most: number): Array<ListQuery['filters']> {
  const [name, ...rest] = names;
  if (name === undefined) return [[]];
  const found = values[name];
  if (found === undefined) throw new Error(`there is no value to narrow a list by ${name}`);
  const without = filterSets(rest, values, most);
  if (most === 0) return without;
  const others = filterSets(rest, values, most - 1);
  return [...without, ...found.flatMap((value) => others.map((other) => [[name, value] as const, ...other]))];
}

/** What is written after the question mark, besides limit and cursor. */
export const queryString = ({ sort, filters }: ListQuery): string =>
  new URLSearchParams([['sort', sort], ...filters.map(([name, value]): [string, string] => [name, value])]).toString();

/** What was asked of Postgres. */
export interface Statement {
  text: string;
  values?: unknown[];
}

type Query = (...given: unknown[]) => unknown;

/** Hears every statement of this process until `stop`. */
export function recordStatements(): { take(): Statement[]; stop(): void } {
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const { query } = prototype;
  const statements: Statement[] = [];
  prototype.query = function (this: unknown, ...given: unknown[]): unknown {
    const [first, values] = given;
    statements.push(typeof first === 'string' ? { text: first, values: values as unknown[] } : (first as Statement));
    return query.apply(this, given);
  };
  return {
    take: () => statements.splice(0, Infinity),
    stop: () => void (prototype.query = query),
  };
}

/** A step of a plan, as `explain (format json)` says it. */
export interface Plan {
  'Node Type': string;
  'Plan Rows': number;
  'Relation Name'?: string;
  'Index Name'?: string;
  Filter?: string;
  /** With `analyze`: of each loop. */
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
}

/** A plan and all below it. */
export const stepsOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap((part) => stepsOf(part))];
