/** Scopes: the names there are, what the consent page says of them, and the claims they open. */
import type { ColumnType, Selectable } from 'kysely';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import { keysetPage, type Keyset, type KeysetPage } from './postgres/listing.ts';

/** Each row is a scope. */
export interface ScopesTable {
  name: string;
  description: Nullable<string>;
  /** By the tag of their language. */
  descriptions: ColumnType<Readonly<Record<string, string>>, string | undefined, string>;
  claims: string[];
  for_people: boolean;
  for_machines: boolean;
}

export type Scope = Selectable<ScopesTable>;

/** A scope, and since when tokens count for it: null where no other ever had its name. */
export type KnownScope = Scope & { since: Date | null };

/** Every scope, by its name. */
export const all = (db: Db): Promise<KnownScope[]> =>
  db
    .selectFrom('scopes')
    .leftJoin('ended_names', (join) =>
      join.onRef('ended_names.name', '=', 'scopes.name').on('ended_names.kind', '=', 'scope'),
    )
    .selectAll('scopes')
    .select('ended_names.since')
    .orderBy('scopes.name')
    .execute();

/** One scope. */
export const find = (db: Db, name: string): Promise<Scope | undefined> =>
  db.selectFrom('scopes').selectAll().where('name', '=', name).executeTakeFirst();

/** Creates the scope, or replaces it. */
export async function put(
  db: Db,
  { descriptions = {}, ...scope }: Omit<Scope, 'descriptions'> & Partial<Pick<Scope, 'descriptions'>>,
): Promise<void> {
  const row = { ...scope, descriptions: JSON.stringify(descriptions) };
  const { name: _, ...rest } = row;
  await db
    .insertInto('scopes')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doUpdateSet(rest))
    .execute();
}

/** Deletes a scope. False when there is none. */
export async function remove(db: Db, name: string): Promise<boolean> {
  const result = await db.deleteFrom('scopes').where('name', '=', name).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** One page of them. */
export function page(
  db: Db,
  { for_people, for_machines }: { for_people?: boolean | undefined; for_machines?: boolean | undefined },
  keyset: Keyset,
): Promise<KeysetPage<Scope>> {
  let query = db.selectFrom('scopes').selectAll();
  if (for_people !== undefined) query = query.where('for_people', '=', for_people);
  if (for_machines !== undefined) query = query.where('for_machines', '=', for_machines);
  return keysetPage(query, keyset);
}

/** The same as `find`, held until the transaction ends: for a change that depends on what is there. */
export const findLocked = (trx: Trx, name: string): Promise<Scope | undefined> =>
  trx.selectFrom('scopes').selectAll().where('name', '=', name).forUpdate().executeTakeFirst();
