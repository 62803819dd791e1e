/** Lists: everything there is, page by page, unless a limit was given. */
import { Option } from 'commander';
import type { Keyset, KeysetPage } from '../store/listing.ts';
import { count } from './input.ts';

export interface ListOptions {
  limit?: number;
  after?: string;
}

export const listOptions = (): Option[] => [
  new Option('--limit <count>', 'at most so many').argParser(count),
  new Option('--after <id>', 'only those after this id, in the order of ids'),
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
    const asked = Math.min(PAGE, limit - rows.length);
    const last = rows.at(-1);
    const page = asked > 0 ? await read(asked, last === undefined ? after : idOf(last)) : [];
    rows.push(...page);
    if (page.length < asked || asked <= 0) return rows;
  }
}

export interface NewestOptions {
  limit: number;
}

export const newestOptions = (): Option[] => [
  new Option('--limit <count>', 'at most so many').argParser(count).default(50),
];

/** Reads the newest, and says when there are more. */
export async function readNewest<Row>(
  { limit }: NewestOptions,
  columns: readonly string[],
  read: (keyset: Keyset) => Promise<KeysetPage<Row>>,
): Promise<{ rows: Row[]; notes: string[] }> {
  const rows: Row[] = [];
  let page: KeysetPage<Row> | undefined;
  do {
    page = await read({ columns, descending: true, after: page?.last, limit: Math.min(PAGE, limit - rows.length) });
    rows.push(...page.rows);
  } while (page.more && rows.length < limit);
  return { rows, notes: page.more ? ['There are more: give a larger --limit.'] : [] };
}
