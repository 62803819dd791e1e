/** Imports of people that operators asked for: sealed until a worker has carried them out. */
import { sql, type Selectable } from 'kysely';
import { bucketOfId } from '../protocol/handle.ts';
import type { Json, Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import { keysetPage, type Keyset, type KeysetPage } from './postgres/listing.ts';

/** Refused: nobody of it was imported, since somebody could not be. Failed: it could not be carried out at all. */
export type UserImportState = 'waiting' | 'done' | 'refused' | 'failed';

/** Somebody who was not imported, by their place in it, and why. */
export interface RefusedPerson {
  line: number;
  detail: string;
}

/** Each row is one request's people. */
export interface UserImportsTable {
  expires_bucket: number;
  import_id: string;
  /** Who asked for it: who made the accounts, for the audit log. */
  actor: string;
  state: UserImportState;
  skip_refused: boolean;
  /** The people, under SECRET_KEYS; erased once it was carried out. */
  sealed: Nullable<Buffer>;
  people: number;
  created: number;
  present: number;
  refused: Json<RefusedPerson[]>;
  /** Why it failed. */
  failure: Nullable<string>;
  /** How often a process began it. */
  attempts: number;
  next_at: Date;
  created_at: Date;
  done_at: Nullable<Date>;
}

export type UserImport = Selectable<UserImportsTable>;

type NewUserImport = Omit<UserImport, 'state' | 'created' | 'present' | 'refused' | 'failure' | 'attempts' | 'done_at'>;

/** Keeps one to be carried out. */
export const insert = (trx: Trx, row: NewUserImport): Promise<UserImport> =>
  trx
    .insertInto('user_imports')
    .values({ ...row, state: 'waiting', created: 0, present: 0, attempts: 0, refused: JSON.stringify([]) })
    .returningAll()
    .executeTakeFirstOrThrow();

/**
 * Takes the one that has been due longest. It is put off until `lease_until` in the same statement: another process leaves it
 * alone meanwhile, and one that dies with it in hand loses nothing.
 */
export async function take(db: Db, lease_until: Date, now: Date): Promise<UserImport | undefined> {
  const { rows } = await sql<UserImport>`
    update user_imports set next_at = ${lease_until}, attempts = attempts + 1
    where (expires_bucket, import_id) = (
      select expires_bucket, import_id from user_imports
      where state = 'waiting' and next_at <= ${now} order by next_at limit 1 for update skip locked)
    returning *`.execute(db);
  return rows[0];
}

/** What became of one. */
export interface UserImportOutcome {
  state: Exclude<UserImportState, 'waiting'>;
  created: number;
  present: number;
  refused: readonly RefusedPerson[];
  failure?: string;
}

/** Ends one that was taken and erases the people. False where somebody else took it meanwhile. */
export async function finish(
  db: Db | Trx,
  { expires_bucket, import_id, next_at }: Pick<UserImport, 'expires_bucket' | 'import_id' | 'next_at'>,
  { refused, ...outcome }: UserImportOutcome,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('user_imports')
    .set({ ...outcome, refused: JSON.stringify(refused), sealed: null, done_at: now })
    .where('expires_bucket', '=', expires_bucket)
    .where('import_id', '=', import_id)
    .where('state', '=', 'waiting')
    .where('next_at', '=', next_at)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** One page of them. */
export function page(
  db: Db,
  { state }: { state?: UserImportState | undefined },
  keyset: Keyset,
): Promise<KeysetPage<UserImport>> {
  const query = db.selectFrom('user_imports').selectAll();
  return keysetPage(state === undefined ? query : query.where('state', '=', state), keyset);
}

/** Those that wait, the first so many: to see whether they can be opened. */
export const waiting = (
  db: Db,
  limit: number,
): Promise<Array<Pick<UserImport, 'import_id' | 'sealed' | 'created_at'>>> =>
  db
    .selectFrom('user_imports')
    .select(['import_id', 'sealed', 'created_at'])
    .where('state', '=', 'waiting')
    .orderBy('created_at')
    .limit(limit)
    .execute();

/** How many failed. */
export async function countFailed(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from user_imports where state = 'failed'`.execute(db);
  return rows[0]!.count;
}

/** One of them. */
export async function find(db: Db, import_id: string): Promise<UserImport | undefined> {
  const bucket = bucketOfId(import_id);
  if (bucket === undefined) return undefined;
  return db
    .selectFrom('user_imports')
    .selectAll()
    .where('expires_bucket', '=', bucket)
    .where('import_id', '=', import_id)
    .executeTakeFirst();
}
