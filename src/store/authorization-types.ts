/** Types of authorization details (RFC 9396): what may be asked for, in which form, and what people are told of it. */
import type { ColumnType, Selectable } from 'kysely';
import type { Json, Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import { keysetPage, type Keyset, type KeysetPage } from './postgres/listing.ts';

/** Each row is a type. */
export interface AuthorizationTypesTable {
  name: string;
  /** The resources that its details are for; none is any. */
  resource: string[];
  /** What a detail has to look like: a JSON Schema, of the keywords that are allowed. */
  schema: Json<Readonly<Record<string, unknown>>>;
  /** JSON Pointers to the members that a token may have less of than was granted. */
  narrowable: string[];
  /** What the consent page says of a detail. */
  sentence: Nullable<string>;
  /** By the tag of their language. */
  sentences: ColumnType<Readonly<Record<string, string>>, string, string>;
  /** What was granted before is not of this type. */
  created_at: Date;
}

export type AuthorizationType = Selectable<AuthorizationTypesTable>;

/** Every type, by its name. */
export const all = (db: Db): Promise<AuthorizationType[]> =>
  db.selectFrom('authorization_types').selectAll().orderBy('name').execute();

/** One type. */
export const find = (db: Db | Trx, name: string): Promise<AuthorizationType | undefined> =>
  db.selectFrom('authorization_types').selectAll().where('name', '=', name).executeTakeFirst();

/** The same, held until the transaction ends. */
export const findLocked = (trx: Trx, name: string): Promise<AuthorizationType | undefined> =>
  trx.selectFrom('authorization_types').selectAll().where('name', '=', name).forUpdate().executeTakeFirst();

/** Creates the type, or replaces it. */
export async function put(trx: Trx, { schema, sentences, ...type }: AuthorizationType): Promise<void> {
  const row = { ...type, schema: JSON.stringify(schema), sentences: JSON.stringify(sentences) };
  const { name: _, ...rest } = row;
  await trx
    .insertInto('authorization_types')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doUpdateSet(rest))
    .execute();
}

/** Deletes a type. False when there is none. */
export async function remove(trx: Trx, name: string): Promise<boolean> {
  const result = await trx.deleteFrom('authorization_types').where('name', '=', name).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** One page of them. */
export const page = (db: Db, keyset: Keyset): Promise<KeysetPage<AuthorizationType>> =>
  keysetPage(db.selectFrom('authorization_types').selectAll(), keyset);
