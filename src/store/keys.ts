/**
 * Our own keys: public halves in clear, private halves sealed until they are erased. Their state follows from their
 * times.
 */
import { sql, type Selectable } from 'kysely';
import type { KeyAlg } from '../protocol/key-alg.ts';
import type { Json, Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';

/** Each row is a key. */
export interface SigningKeysTable {
  kid: string;
  alg: KeyAlg;
  public_jwk: Json<Record<string, unknown>>;
  sealed_private_key: Nullable<Buffer>;
  created_at: Date;
  activates_at: Date;
  retired_at: Nullable<Date>;
  withdrawn_at: Nullable<Date>;
}

export type KeyRow = Selectable<SigningKeysTable>;
/** One that was just made: nothing has happened to it. */
export type NewKeyRow = Omit<KeyRow, 'retired_at' | 'withdrawn_at'> & { sealed_private_key: Buffer };

/** Every key, those that take over later behind those before them. */
export const all = (db: Db): Promise<KeyRow[]> =>
  db.selectFrom('signing_keys').selectAll().orderBy('activates_at').orderBy('kid').execute();

/** Makes every other writer of keys wait until this transaction ends. */
export async function lock(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('postern signing_keys'))`.execute(trx);
}

/** Writes a key; its private half is sealed already. */
export async function insert(trx: Trx, { public_jwk, ...key }: NewKeyRow): Promise<void> {
  await trx
    .insertInto('signing_keys')
    .values({ ...key, public_jwk: JSON.stringify(public_jwk) })
    .execute();
}

/** Takes a key out of use at once: it is used for nothing from then on, and its private half is gone. */
export async function retire(trx: Trx, kid: string, now: Date): Promise<boolean> {
  const result = await trx
    .updateTable('signing_keys')
    .set({ retired_at: now, sealed_private_key: null })
    .where('kid', '=', kid)
    .where('retired_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Says when the keys of an algorithm stop signing although none follows; null takes that back. */
export async function withdraw(trx: Trx, kids: readonly string[], at: Date | null): Promise<void> {
  await trx.updateTable('signing_keys').set({ withdrawn_at: at }).where('kid', 'in', kids).execute();
}

/** Erases private halves. The public ones stay, for what they signed. */
export async function erase(trx: Trx, kids: readonly string[]): Promise<void> {
  await trx.updateTable('signing_keys').set({ sealed_private_key: null }).where('kid', 'in', kids).execute();
}

/** Deletes keys, and with them what verifies their signatures. */
export async function remove(trx: Trx, kids: readonly string[]): Promise<void> {
  await trx.deleteFrom('signing_keys').where('kid', 'in', kids).execute();
}

/** The algorithms that clients and resources are registered with. */
export async function algsInUse(db: Db): Promise<KeyAlg[]> {
  const { rows } = await sql<{ alg: KeyAlg }>`
    select id_token_signed_response_alg as alg from clients
    union select userinfo_signed_response_alg from clients where userinfo_signed_response_alg is not null
    union select authorization_signed_response_alg from clients where authorization_signed_response_alg is not null
    union select request_object_encryption_alg from clients where request_object_encryption_alg is not null
    union select access_token_signing_alg from resources where access_token_signing_alg is not null`.execute(db);
  return rows.map(({ alg }) => alg);
}
