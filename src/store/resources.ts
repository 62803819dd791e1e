/** Resources (RFC 8707): the APIs tokens are for, the scopes they know, and the tokens they want. */
import type { Insertable, Selectable } from 'kysely';
import type { Db } from './db.ts';
import type { Database } from './schema.ts';

export type Resource = Selectable<Database['resources']>;

/** Every resource, by its identifier. */
export const all = (db: Db): Promise<Resource[]> =>
  db.selectFrom('resources').selectAll().orderBy('resource').execute();

/** One resource. */
export const find = (db: Db, resource: string): Promise<Resource | undefined> =>
  db.selectFrom('resources').selectAll().where('resource', '=', resource).executeTakeFirst();

/** Creates the resource, or replaces it. */
export async function put(db: Db, resource: Insertable<Database['resources']>): Promise<void> {
  const { resource: _, ...rest } = resource;
  await db
    .insertInto('resources')
    .values(resource)
    .onConflict((conflict) => conflict.column('resource').doUpdateSet(rest))
    .execute();
}

/** Deletes a resource. False when there is none. */
export async function remove(db: Db, resource: string): Promise<boolean> {
  const result = await db.deleteFrom('resources').where('resource', '=', resource).executeTakeFirst();
  return result.numDeletedRows > 0n;
}
