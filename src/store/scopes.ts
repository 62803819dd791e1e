/** Scopes: the names there are, what the consent page says of them, and the claims they open. */
import type { Selectable } from 'kysely';
import type { Db } from './db.ts';
import type { Database } from './schema.ts';

export type Scope = Selectable<Database['scopes']>;

/** Every scope, by its name. */
export const all = (db: Db): Promise<Scope[]> => db.selectFrom('scopes').selectAll().orderBy('name').execute();

/** One scope. */
export const find = (db: Db, name: string): Promise<Scope | undefined> =>
  db.selectFrom('scopes').selectAll().where('name', '=', name).executeTakeFirst();

/** Creates the scope, or replaces it. */
export async function put(db: Db, scope: Scope): Promise<void> {
  const { name: _, ...rest } = scope;
  await db
    .insertInto('scopes')
    .values(scope)
    .onConflict((conflict) => conflict.column('name').doUpdateSet(rest))
    .execute();
}

/** Creates the scope. False when there is one of that name. */
export async function insert(db: Db, scope: Scope): Promise<boolean> {
  const result = await db
    .insertInto('scopes')
    .values(scope)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Deletes a scope. False when there is none. */
export async function remove(db: Db, name: string): Promise<boolean> {
  const result = await db.deleteFrom('scopes').where('name', '=', name).executeTakeFirst();
  return result.numDeletedRows > 0n;
}
