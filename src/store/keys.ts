/** Signing keys: public halves in clear, private halves sealed. Their state follows from their times. */
import { sql, type Selectable } from 'kysely';
import type { Db, Trx } from './db.ts';
import type { Database } from './schema.ts';

export type SigningKeyRow = Selectable<Database['signing_keys']>;

export const all = (db: Db): Promise<SigningKeyRow[]> =>
  db.selectFrom('signing_keys').selectAll().orderBy('activates_at').orderBy('kid').execute();

/** Makes every other writer of keys wait until this transaction ends. */
export async function lock(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('postern signing_keys'))`.execute(trx);
}

export async function insert(trx: Trx, { public_jwk, ...key }: Omit<SigningKeyRow, 'retired_at'>): Promise<void> {
  await trx
    .insertInto('signing_keys')
    .values({ ...key, public_jwk: JSON.stringify(public_jwk) })
    .execute();
}

/** Takes a key out of use at once: it neither signs nor is it published from then on. */
export async function retire(trx: Trx, kid: string, now: Date): Promise<boolean> {
  const result = await trx
    .updateTable('signing_keys')
    .set({ retired_at: now })
    .where('kid', '=', kid)
    .where('retired_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
