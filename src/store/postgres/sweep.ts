/** Removing what is past its retention, in small batches that skip whatever somebody else holds. */
import { sql } from 'kysely';
import type { Db } from './db.ts';
import { bucketOf, endOfBucket } from '../../protocol/handle.ts';
import { defaultOf, partitionsOf, PARTITIONED, type Partitioned } from './partitions.ts';
import { SHORT_LIVED } from './schema.ts';

const BATCH = 1000;

const isPartitioned = (table: string): table is Partitioned => table in PARTITIONED;

/**
 * What is emptied row by row, with the key: tables that are one, what is in no partition of its days, and the partition of
 * the rows that were there before there were any.
 */
async function sweptByRow(db: Db): Promise<Array<[table: string, key: string]>> {
  const before = (await partitionsOf(db)).filter(({ from }) => from === -Infinity);
  return Object.entries(SHORT_LIVED).flatMap(([table, key]) => {
    if (!isPartitioned(table)) return [[table, key]];
    const parts = [defaultOf(table), ...before.filter((part) => part.table === table).map(({ name }) => name)];
    return parts.map((part): [string, string] => [part, key]);
  });
}

/** Since when the oldest row, or partition, could have been removed; undefined when there is none. */
export async function overdueSince(db: Db, now: Date): Promise<Date | undefined> {
  const first = ([table]: [string, string]) => sql`(select min(expires_bucket) from ${sql.table(table)})`;
  const { rows } = await sql<{ bucket: number | null }>`
    select least(${sql.join((await sweptByRow(db)).map(first))}) as bucket`.execute(db);
  const [partition] = await partitionsOf(db);
  const bucket = Math.min(rows[0]?.bucket ?? Infinity, partition ? partition.to - 1 : Infinity);
  return bucket < bucketOf(now) ? endOfBucket(bucket) : undefined;
}

/**
 * Removes one batch from each table; returns how many rows went. Call again while that is not 0. Without `audit_before`
 * the audit log is kept whole.
 */
export async function sweep(
  db: Db,
  now: Date,
  failures_before: Date,
  audit_before: Date | null = null,
): Promise<number> {
  let removed = 0;
  for (const [table, key] of await sweptByRow(db)) {
    const columns = sql`expires_bucket, ${sql.ref(key)}`;
    const result = await sql`
      delete from ${sql.table(table)} where (${columns}) in (
        select ${columns} from ${sql.table(table)} where expires_bucket < ${bucketOf(now)}
        limit ${BATCH} for update skip locked)`.execute(db);
    removed += Number(result.numAffectedRows ?? 0n);
  }
  // Their bucket is that of a grant that was never made: without one they go the day after.
  const waited = await sql`
    delete from device_codes where (expires_bucket, hash) in (
      select expires_bucket, hash from device_codes
      where grant_id is null and expires_at < ${now}::timestamptz - interval '1 day'
      limit ${BATCH} for update skip locked)`.execute(db);
  removed += Number(waited.numAffectedRows ?? 0n);
  const answered = await sql`
    delete from idempotency_keys where (principal, key) in (
      select principal, key from idempotency_keys where expires_at < ${now} limit ${BATCH} for update skip locked)`.execute(
    db,
  );
  removed += Number(answered.numAffectedRows ?? 0n);
  if (audit_before !== null) {
    // By a function: the server may have no right to delete any.
    const past = await sql<{ gone: number }>`
      select forget_audit_events(${audit_before}, ${BATCH}) as gone`.execute(db);
    removed += past.rows[0]!.gone;
  }
  const faded = await sql`
    delete from failures where key in (
      select key from failures where last_at < ${failures_before} limit ${BATCH} for update skip locked)`.execute(db);
  return removed + Number(faded.numAffectedRows ?? 0n);
}
