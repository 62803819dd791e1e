/** Salts: sealed values that must stay the same for ever, whatever becomes of the keys they are sealed under. */
import type { Selectable } from 'kysely';
import type { Db } from './postgres/db.ts';

/** Each row is a salt. `fingerprint` says which it is to who cannot open it. */
export interface SaltsTable {
  name: string;
  fingerprint: Buffer;
  sealed: Buffer;
}

/** `fingerprint` says which salt it is to who cannot open it. */
export type Salt = Selectable<SaltsTable>;

/** A salt by its name, sealed; undefined when there is none yet. */
export const find = (db: Db, name: string): Promise<Salt | undefined> =>
  db.selectFrom('salts').selectAll().where('name', '=', name).executeTakeFirst();

/** Writes a salt if there is none yet: of those who start together, one. */
export async function insert(db: Db, salt: Salt): Promise<void> {
  await db
    .insertInto('salts')
    .values(salt)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Replaces a salt, or its sealing, unless somebody did meanwhile. */
export async function replace(db: Db, before: Salt, { fingerprint, sealed }: Omit<Salt, 'name'>): Promise<void> {
  await db
    .updateTable('salts')
    .set({ fingerprint, sealed })
    .where('name', '=', before.name)
    .where('sealed', '=', before.sealed)
    .execute();
}

/** Is there a client with pairwise subjects? */
export async function isNeeded(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom('clients')
    .select('client_id')
    .where('subject_type', '=', 'pairwise')
    .executeTakeFirst();
  return row !== undefined;
}

/** All whose name begins so. */
export const named = (db: Db, prefix: string): Promise<Salt[]> =>
  db.selectFrom('salts').selectAll().where('name', 'like', `${prefix}%`).orderBy('name').execute();
