/** Lists: everything there is, page by page, unless a limit was given. */
import { Option } from 'commander';
import type { Listed, ListName } from '../admin/api/calls.ts';
import { everything, items, type Api, type ApiRequest } from './api.ts';
import { notFound } from './failure.ts';
import { count } from './input.ts';

export interface ListOptions {
  limit?: number;
  after?: string;
}

export const listOptions = (): Option[] => [
  new Option('--limit <count>', 'at most so many').argParser(count),
  new Option('--after <id>', 'only those after this id, in the order of the list'),
];

const PAGE = 500;

/** Reads pages until there are no more, or enough. */
export async function readPages<Row>(
  { limit = Number.POSITIVE_INFINITY, after = '' }: ListOptions,
  read: (limit: number, after: string) => Promise<Row[]>,
  idOf: (row: Row) => string,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const wanted = Math.min(PAGE, limit - rows.length);
    const last = rows.at(-1);
    const page = wanted > 0 ? await read(wanted, last === undefined ? after : idOf(last)) : [];
    rows.push(...page);
    if (page.length < wanted || wanted <= 0) return rows;
  }
}

export interface NewestOptions {
  limit: number;
}

export const newestOptions = (): Option[] => [
  new Option('--limit <count>', 'at most so many').argParser(count).default(50),
];

/** The latest, and a note when there are more. */
export async function readNewest<Name extends ListName>(
  api: Api,
  operation: Name,
  { limit }: NewestOptions,
  query: ApiRequest['query'] = {},
): Promise<{ rows: Array<Listed<Name>>; notes: string[] }> {
  const rows = await everything(api, operation, { query }, limit + 1);
  const more = rows.length > limit;
  return { rows: rows.slice(0, limit), notes: more ? ['There are more: give a larger --limit.'] : [] };
}

/** A list as it is asked for: whole, or what comes after an id of it. @throws Failure for an id that is not in it */
export async function readList<Name extends ListName>(
  api: Api,
  operation: Name,
  id: keyof Listed<Name>,
  { limit = Number.POSITIVE_INFINITY, after }: ListOptions,
  query: ApiRequest['query'] = {},
): Promise<Array<Listed<Name>>> {
  const rows: Array<Listed<Name>> = [];
  let seen = after === undefined;
  for await (const row of items(api, operation, { query }, seen ? limit : undefined)) {
    if (seen && rows.push(row) === limit) break;
    seen ||= row[id] === after;
  }
  if (!seen) throw notFound(`--after is ${after}: the list has nothing of this id`);
  return rows;
}
