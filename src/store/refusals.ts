/** Why requests were refused: written in batches beside them, read by operators, and bounded whoever asks for refusals. */
import { sql, type Generated, type Insertable, type Selectable } from 'kysely';
import type { Nullable } from './postgres/columns.ts';
import type { Db } from './postgres/db.ts';

/** Each row is a refusal, or a count of those that were not written down. */
export interface RefusalsTable {
  expires_bucket: number;
  refusal_id: Generated<string>;
  at: Date;
  request_id: Nullable<string>;
  caller_request_id: Nullable<string>;
  client_id: Nullable<string>;
  sub: Nullable<string>;
  ip: Nullable<string>;
  network: string;
  method: Nullable<string>;
  route: Nullable<string>;
  status: Nullable<number>;
  error: Nullable<string>;
  error_description: Nullable<string>;
  check: Nullable<string>;
  expected: Nullable<string>;
  received: Nullable<string>;
  dropped: Generated<number>;
}

export type Refusal = Selectable<RefusalsTable>;
/** A refusal to be kept. */
export interface NewRefusal extends Insertable<RefusalsTable> {
  /** Whom the request names, where `client_id` is not known better. */
  claimed?: string | null;
}

/** Writes a batch, in one statement. A name that a request claims is kept if a client has it: others may be secrets. */
export async function insert(db: Db, rows: readonly NewRefusal[]): Promise<void> {
  if (rows.length === 0) return;
  const named = rows.map(({ claimed, ...row }) => ({
    ...row,
    client_id:
      row.client_id ??
      (claimed ? sql<string | null>`(select client_id from clients where client_id = ${claimed})` : null),
  }));
  await db.insertInto('refusals').values(named).execute();
}

/** By our id; where that is nobody's, by the caller's, who may have used it before. Newest first. */
export const findByRequest = (db: Db, request_id: string, limit: number): Promise<Refusal[]> =>
  db
    .selectFrom('refusals')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb('request_id', '=', request_id),
        eb.and([
          eb('caller_request_id', '=', request_id),
          eb.not(
            eb.exists(
              eb.selectFrom('refusals as own').select('own.refusal_id').where('own.request_id', '=', request_id),
            ),
          ),
        ]),
      ]),
    )
    .orderBy('at', 'desc')
    .orderBy('refusal_id', 'desc')
    .limit(limit)
    .execute();

/** Which refusals: of a client, about a person, and only those before one that was seen. */
export interface RefusalFilter {
  client_id?: string | undefined;
  sub?: string | undefined;
  before?: Pick<Refusal, 'at' | 'refusal_id'> | undefined;
}

/** A page of them, newest first. */
export function list(db: Db, { client_id, sub, before }: RefusalFilter, limit: number): Promise<Refusal[]> {
  return db
    .selectFrom('refusals')
    .selectAll()
    .$if(client_id !== undefined, (query) => query.where('client_id', '=', client_id!))
    .$if(sub !== undefined, (query) => query.where('sub', '=', sub!))
    .$if(before !== undefined, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('at', 'refusal_id'), '<', tuple(before!.at, before!.refusal_id)),
      ),
    )
    .orderBy('at', 'desc')
    .orderBy('refusal_id', 'desc')
    .limit(limit)
    .execute();
}

/**
 * Removes what is more than `max` rows, `limit` at most; returns how many went. Of each network the newest stay: first go the
 * oldest of those that have most, so that no one pushes out the others'.
 */
export async function trim(db: Db, max: number, limit: number): Promise<number> {
  const { rows } = await sql<{ rows: number }>`select count(*)::int as rows from refusals`.execute(db);
  const excess = Math.min(limit, (rows[0]?.rows ?? 0) - max);
  if (excess <= 0) return 0;
  const result = await sql`
    delete from refusals where (expires_bucket, refusal_id) in (
      select expires_bucket, refusal_id from (
        select expires_bucket, refusal_id, at,
          row_number() over (partition by network order by at desc, refusal_id desc) as place
        from refusals) ranked
      order by place desc, at limit ${excess})`.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}
