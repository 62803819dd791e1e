/**
 * The order in which rows are locked, the same in every transaction of every server, so that no two wait for each other.
 * Accounts and passwords come before all of these.
 */
import { sql } from 'kysely';

/** Tables whose rows somebody waits for, in the order of waiting. */
const ORDER = ['replays', 'sessions', 'authorization_codes', 'device_codes', 'refresh_tokens', 'grants'] as const;

/** The one row that a statement may have to wait for, by its primary key; those it writes anew nobody knows of. */
export type Locked =
  | { table: (typeof ORDER)[number]; row: { expires_bucket: number } & ({ hash: Buffer } | { grant_id: string }) }
  | typeof NO_ROW;

/** Of a statement that waits for nobody. */
export const NO_ROW = 'no row';

/** Which is locked first? For sorting. */
export function inOrder(a: Locked, b: Locked): number {
  if (a === NO_ROW || b === NO_ROW) return Number(b === NO_ROW) - Number(a === NO_ROW);
  return (
    ORDER.indexOf(a.table) - ORDER.indexOf(b.table) ||
    a.row.expires_bucket - b.row.expires_bucket ||
    bytesOf(a.row).compare(bytesOf(b.row))
  );
}

const bytesOf = (row: { hash: Buffer } | { grant_id: string }): Buffer =>
  'hash' in row ? row.hash : Buffer.from(row.grant_id);

/** Of several grants that one statement locks: the same order within the table. */
export const IN_ORDER = sql`order by expires_bucket, grant_id collate "C" for no key update`;
