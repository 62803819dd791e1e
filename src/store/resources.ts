/** Resources (RFC 8707): the APIs tokens are for, the scopes they know, and the tokens they want. */
import type { Generated, Insertable, Selectable } from 'kysely';
import type { MembershipClaim } from '../protocol/claims.ts';
import type { SigningAlg } from '../protocol/signing-alg.ts';
import type { TokenFormat } from '../protocol/token-format.ts';
import type { AccessTokenTyp } from '../protocol/token-type.ts';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import { keysetPage, type Keyset, type KeysetPage } from './postgres/listing.ts';

/** Each row is a resource. */
export interface ResourcesTable {
  resource: string;
  name: Nullable<string>;
  client_id: Nullable<string>;
  scope: string[];
  access_token_format: Nullable<TokenFormat>;
  access_token_ttl: Nullable<number>;
  access_token_signing_alg: Nullable<SigningAlg>;
  access_token_typ: Nullable<AccessTokenTyp>;
  claims: Generated<MembershipClaim[]>;
}

export type Resource = Selectable<ResourcesTable>;

/** A resource, and since when tokens count for it: null where no other ever had its name. */
export type KnownResource = Resource & { since?: Date | null };

/** Every resource, by its identifier. */
export const all = (db: Db): Promise<KnownResource[]> =>
  db
    .selectFrom('resources')
    .leftJoin('ended_names', (join) =>
      join.onRef('ended_names.name', '=', 'resources.resource').on('ended_names.kind', '=', 'resource'),
    )
    .selectAll('resources')
    .select('ended_names.since')
    .orderBy('resources.resource')
    .execute();

/** One resource. */
export const find = (db: Db, resource: string): Promise<Resource | undefined> =>
  db.selectFrom('resources').selectAll().where('resource', '=', resource).executeTakeFirst();

/** Creates the resource, or replaces it. */
export async function put(db: Db, resource: Insertable<ResourcesTable>): Promise<void> {
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

/** One page of them. */
export function page(
  db: Db,
  { client_id }: { client_id?: string | undefined },
  keyset: Keyset,
): Promise<KeysetPage<Resource>> {
  let query = db.selectFrom('resources').selectAll();
  if (client_id !== undefined) query = query.where('client_id', '=', client_id);
  return keysetPage(query, keyset);
}

/** The same as `find`, held until the transaction ends: for a change that depends on what is there. */
export const findLocked = (trx: Trx, resource: string): Promise<Resource | undefined> =>
  trx.selectFrom('resources').selectAll().where('resource', '=', resource).forUpdate().executeTakeFirst();
