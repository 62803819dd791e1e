/** Salts: sealed values that must stay the same for ever, whatever becomes of the keys they are sealed under. */
import type { Db } from './db.ts';

export async function find(db: Db, name: string): Promise<Buffer | undefined> {
  const row = await db.selectFrom('salts').select('sealed').where('name', '=', name).executeTakeFirst();
  return row?.sealed;
}

/** Writes a salt if there is none yet: of those who start together, one. */
export async function insert(db: Db, name: string, sealed: Buffer): Promise<void> {
  await db
    .insertInto('salts')
    .values({ name, sealed })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Replaces a salt, unless somebody did meanwhile. */
export async function replace(db: Db, name: string, before: Buffer, sealed: Buffer): Promise<void> {
  await db.updateTable('salts').set({ sealed }).where('name', '=', name).where('sealed', '=', before).execute();
}

/** Is there a client that is told pairwise subjects? */
export async function isNeeded(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom('clients')
    .select('client_id')
    .where('subject_type', '=', 'pairwise')
    .executeTakeFirst();
  return row !== undefined;
}
