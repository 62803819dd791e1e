/** Authenticator apps (RFC 6238): one a person, its secret sealed, and how far its codes are used up. */
import { sql } from 'kysely';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import type { Selectable } from 'kysely';

/** Each row is an authenticator app that showed a right code once. */
export interface TotpCredentialsTable {
  sub: string;
  sealed: Buffer;
  last_step: number;
  created_at: Date;
  used_at: Nullable<Date>;
}

export type TotpCredential = Selectable<TotpCredentialsTable>;

/** The authenticator app of a person. */
export const find = (db: Db, sub: string): Promise<TotpCredential | undefined> =>
  db.selectFrom('totp_credentials').selectAll().where('sub', '=', sub).executeTakeFirst();

/** Keeps an authenticator app. False when the person has one. */
export async function insert(trx: Trx, credential: Omit<TotpCredential, 'used_at'>): Promise<boolean> {
  const { rows } = await sql`
    insert into totp_credentials (sub, sealed, last_step, created_at)
    values (${credential.sub}, ${credential.sealed}, ${credential.last_step}, ${credential.created_at})
    on conflict (sub) do nothing returning 1`.execute(trx);
  return rows.length > 0;
}

/**
 * RFC 6238 §5.2: claims a time step, and with it all before. False when a code of it, or of a later one, was taken, or the secret is
 * another by now.
 */
export async function claimStep(
  db: Db,
  { sub, sealed, step }: { sub: string; sealed: Buffer; step: number },
  now: Date,
): Promise<boolean> {
  const { rows } = await sql`
    update totp_credentials set last_step = ${step}::integer, used_at = ${now}
    where sub = ${sub} and sealed = ${sealed} and last_step < ${step}::integer returning 1`.execute(db);
  return rows.length > 0;
}

/** Replaces the sealing of a secret by another of the same, unless the secret changed meanwhile. */
export async function reseal(db: Db, sub: string, old: Buffer, sealed: Buffer): Promise<void> {
  await db.updateTable('totp_credentials').set({ sealed }).where('sub', '=', sub).where('sealed', '=', old).execute();
}

/** The sealed secrets of everybody, in the order of their owners. */
export const pageOfSealed = (db: Db, limit: number, after: string): Promise<Array<{ sub: string; sealed: Buffer }>> =>
  db
    .selectFrom('totp_credentials')
    .select(['sub', 'sealed'])
    .where('sub', '>', after)
    .orderBy('sub')
    .limit(limit)
    .execute();

/** Forgets the authenticator app of a person. False when there was none. */
export async function remove(trx: Trx, sub: string): Promise<boolean> {
  const result = await trx.deleteFrom('totp_credentials').where('sub', '=', sub).executeTakeFirst();
  return result.numDeletedRows > 0n;
}
