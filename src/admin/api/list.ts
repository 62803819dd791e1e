/** Lists: what their query may say, and the cursors that lead from page to page. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Secrets } from '../../keys/secrets.ts';
import type { Keyset } from '../../store/postgres/listing.ts';
import { Problem } from './problem.ts';
import type { Item, List, Page } from './collection.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

/** A list whole, a line of JSON each. */
export const NDJSON = 'application/x-ndjson';

/** A whole number as a query spells it. */
const count = (least: number, most: number) =>
  z
    .string()
    .regex(/^(?:0|[1-9]\d{0,5})$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(least, `must be from ${least} to ${most}`).max(most, `must be from ${least} to ${most}`));
/** `true` or `false` as a query spells it. */
export const flag = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .pipe(z.boolean());
/** A moment: ISO 8601 with its zone. */
export const moment = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

/** The parameters of a list's query: its own filters, and what every list has. */
export function queryOf({ filters, sorts, estimate }: List): z.ZodObject {
  const names = Object.keys(sorts);
  const spellings = names.flatMap((name) => [name, `-${name}`]);
  return z.strictObject({
    ...filters.partial().shape,
    limit: count(1, MAX_LIMIT).meta({ default: DEFAULT_LIMIT }).optional(),
    cursor: z.string().max(2000).optional(),
    sort: z.enum(spellings as [string, ...string[]]).optional(),
    ...(estimate && { count: z.literal('estimate').optional() }),
  });
}

/** A page of what is few enough to be read whole: as the store does it, in the order of the columns' text. */
export function pageOf<Shown extends Item>(
  items: readonly Shown[],
  { columns, descending, after, limit }: Keyset,
): Page<Shown> {
  const keyOf = (item: Item): string[] => columns.map((column) => String(item[column]));
  const compare = (a: ReadonlyArray<string | number>, b: ReadonlyArray<string | number>): number => {
    const at = a.findIndex((value, i) => value !== b[i]);
    return at < 0 ? 0 : (String(a[at]) < String(b[at]) ? -1 : 1) * (descending ? -1 : 1);
  };
  const rest = items
    .filter((item) => after === undefined || compare(keyOf(item), after) > 0)
    .toSorted((a, b) => compare(keyOf(a), keyOf(b)));
  const shown = rest.slice(0, limit);
  const end = shown.at(-1);
  return { items: shown, more: rest.length > limit, last: end && keyOf(end) };
}

const cursorContent = z.strictObject({
  list: z.string(),
  after: z.array(z.union([z.string(), z.number()])),
});

/** What a query asks for: the filters, and the keyset of the page. */
export interface ListRequest {
  filters: Record<string, unknown>;
  keyset: Keyset;
  estimate: boolean;
  /** The cursor of the page that follows one which ended with these values. */
  cursorAfter(last: ReadonlyArray<string | number>): string;
}

/**
 * Reads a checked query. A cursor is sealed with the list it belongs to, its path, filters and order: it is worth nothing
 * for another one, and nobody can make one.
 * @throws Problem for a cursor that is not ours
 */
export function readQuery(list: List, path: string, query: Record<string, unknown>, secrets: Secrets): ListRequest {
  const { limit = DEFAULT_LIMIT, cursor, sort, count: counted, ...filters } = query;
  const first = Object.keys(list.sorts)[0]!;
  const spelled = typeof sort === 'string' ? sort : `${list.descending ? '-' : ''}${first}`;
  const descending = spelled.startsWith('-');
  const columns = list.sorts[spelled.replace(/^-/, '')]!;
  const name = createHash('sha256')
    .update(JSON.stringify([path, spelled, filters]))
    .digest('base64url')
    .slice(0, 16);
  return {
    filters,
    keyset: {
      columns,
      descending,
      after: typeof cursor === 'string' ? openCursor(secrets, name, cursor, columns.length) : undefined,
      limit: Number(limit),
    },
    estimate: counted === 'estimate',
    cursorAfter: (after) => sealCursor(secrets, name, after),
  };
}

function sealCursor(secrets: Secrets, list: string, after: ReadonlyArray<string | number>): string {
  const content = Buffer.from(JSON.stringify({ list, after }));
  return `${content.toString('base64url')}.${secrets.mac('cursor', [content]).toString('base64url')}`;
}

function openCursor(secrets: Secrets, list: string, cursor: string, length: number): Array<string | number> {
  const refusal = new Problem('invalid', 'the query is not valid', {
    errors: [{ pointer: '?cursor', detail: 'is not a cursor of this list', code: 'invalid_cursor' }],
  });
  const [content = '', mac = ''] = cursor.split('.');
  const bytes = Buffer.from(content, 'base64url');
  if (!secrets.verifyMac('cursor', [bytes], Buffer.from(mac, 'base64url'))) throw refusal;
  const parsed = cursorContent.safeParse(JSON.parse(bytes.toString()));
  if (!parsed.success || parsed.data.list !== list || parsed.data.after.length !== length) throw refusal;
  return parsed.data.after;
}
