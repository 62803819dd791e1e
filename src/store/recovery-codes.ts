/** Recovery codes: what opens an account where its second factor is lost. Each by its hash, and each once. */
import { sql } from 'kysely';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';

/** Each row is a recovery code of a person, used or not. */
export interface RecoveryCodesTable {
  sub: string;
  hash: Buffer;
  created_at: Date;
  used_at: Nullable<Date>;
}

/** Replaces the codes of a person by these. */
export async function replaceAll(trx: Trx, sub: string, hashes: readonly Buffer[], now: Date): Promise<void> {
  await removeAll(trx, sub);
  await trx
    .insertInto('recovery_codes')
    .values(hashes.map((hash) => ({ sub, hash, created_at: now })))
    .execute();
}

/** Uses a code up. False when it is none of this person's, or was used before. */
export async function use(trx: Trx, sub: string, hash: Buffer, now: Date): Promise<boolean> {
  const { rows } = await sql`
    update recovery_codes set used_at = ${now} where sub = ${sub} and hash = ${hash} and used_at is null
    returning 1`.execute(trx);
  return rows.length > 0;
}

/** How many a person has left, and since when; undefined when they never had any. */
export async function count(db: Db, sub: string): Promise<{ left: number; created_at: Date } | undefined> {
  const { rows } = await sql<{ left: number; created_at: Date | null }>`
    select count(*) filter (where used_at is null)::integer as left, max(created_at) as created_at
    from recovery_codes where sub = ${sub}`.execute(db);
  const [{ left, created_at } = { left: 0, created_at: null }] = rows;
  return created_at === null ? undefined : { left, created_at };
}

/** Forgets all codes of a person; returns how many were left. */
export async function removeAll(trx: Trx, sub: string): Promise<number> {
  const rows = await trx.deleteFrom('recovery_codes').where('sub', '=', sub).returning('used_at').execute();
  return rows.filter(({ used_at }) => used_at === null).length;
}
