/** Providers that people may sign in with. */
import { sql, type Selectable } from 'kysely';
import type { UpstreamFields } from '../protocol/upstream.ts';
import type { Json, Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import { keysetPage, type Keyset, type KeysetPage } from './postgres/listing.ts';

type JsonMember = 'claims' | 'amr_values' | 'acr_values';

/** Each row is a provider. */
export interface UpstreamsTable extends Omit<UpstreamFields, JsonMember> {
  claims: Json<UpstreamFields['claims']>;
  amr_values: Json<UpstreamFields['amr_values']>;
  acr_values: Json<UpstreamFields['acr_values']>;
  sealed_secret: Nullable<Buffer>;
  created_at: Date;
  updated_at: Date;
}

export type Upstream = Selectable<UpstreamsTable>;

/** Every provider, by name: an installation has a few. */
export const all = (db: Db): Promise<Upstream[]> =>
  db.selectFrom('upstreams').selectAll().orderBy('upstream').execute();

/** Those that people may sign in with, with what their buttons show. */
export const offered = (
  db: Db,
): Promise<Array<Pick<Upstream, 'upstream' | 'label' | 'icon' | 'domains' | 'linking'>>> =>
  db
    .selectFrom('upstreams')
    .select(['upstream', 'label', 'icon', 'domains', 'linking'])
    .where('disabled', '=', false)
    .orderBy('upstream')
    .execute();

/** One provider, also one that is disabled. */
export const find = (db: Db, upstream: string): Promise<Upstream | undefined> =>
  db.selectFrom('upstreams').selectAll().where('upstream', '=', upstream).executeTakeFirst();

/** The same, held until the transaction ends: for a change that depends on what is there. */
export const findLocked = (trx: Trx, upstream: string): Promise<Upstream | undefined> =>
  trx.selectFrom('upstreams').selectAll().where('upstream', '=', upstream).forUpdate().executeTakeFirst();

/** One page of them. */
export const page = (db: Db, keyset: Keyset): Promise<KeysetPage<Upstream>> =>
  keysetPage(db.selectFrom('upstreams').selectAll(), keyset);

/** Writes a provider, or replaces it. */
export async function put(trx: Trx, { upstream, created_at, ...fields }: Upstream): Promise<void> {
  const { claims, amr_values, acr_values } = fields;
  const json = {
    claims: JSON.stringify(claims),
    amr_values: JSON.stringify(amr_values),
    acr_values: JSON.stringify(acr_values),
  };
  await trx
    .insertInto('upstreams')
    .values({ upstream, created_at, ...fields, ...json })
    .onConflict((conflict) => conflict.column('upstream').doUpdateSet({ ...fields, ...json }))
    .execute();
}

/** Puts another sealing of the same secret in the place of this one, unless it was changed meanwhile. */
export async function reseal(db: Db, { upstream, sealed_secret }: Upstream, sealed: Buffer): Promise<void> {
  await db
    .updateTable('upstreams')
    .set({ sealed_secret: sealed })
    .where('upstream', '=', upstream)
    .where(sql<boolean>`sealed_secret = ${sealed_secret}`)
    .execute();
}

/** Deletes a provider; returns it, undefined when there was none. */
export const remove = (trx: Trx, upstream: string): Promise<Upstream | undefined> =>
  trx.deleteFrom('upstreams').where('upstream', '=', upstream).returningAll().executeTakeFirst();
