/** Interactions: authorization requests that wait for a person, one per browser tab. Each write is one proof. */
import { sql, type Selectable } from 'kysely';
import type { InteractionRequest } from '../protocol/authorization-request.ts';
import type { Json, Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import type { HandleKey } from '../protocol/handle.ts';

/** Each row is a request that waits for a person. */
export interface InteractionsTable {
  expires_bucket: number;
  hash: Buffer;
  browser_hash: Nullable<Buffer>;
  client_id: string;
  request: Json<InteractionRequest>;
  sign_in_after: Nullable<Date>;
  selected_sub: Nullable<string>;
  consented_sid: Nullable<string>;
  second_factor_later_sid: Nullable<string>;
  passkey_offer_sub: Nullable<string>;
  refused_error: Nullable<string>;
  pushed_bucket: Nullable<number>;
  pushed_hash: Nullable<Buffer>;
  device_bucket: Nullable<number>;
  device_hash: Nullable<Buffer>;
  upstream_bucket: Nullable<number>;
  upstream_hash: Nullable<Buffer>;
  answered_at: Nullable<Date>;
  created_at: Date;
  expires_at: Date;
}

export type Interaction = Selectable<InteractionsTable>;
type NewInteraction = Pick<
  Interaction,
  | 'expires_bucket'
  | 'hash'
  | 'browser_hash'
  | 'client_id'
  | 'sign_in_after'
  | 'pushed_bucket'
  | 'pushed_hash'
  | 'device_bucket'
  | 'device_hash'
  | 'created_at'
  | 'expires_at'
> & { request: InteractionRequest };

/** Writes a request that waits for a person. */
export async function insert(db: Db, { request, ...interaction }: NewInteraction): Promise<void> {
  await db
    .insertInto('interactions')
    .values({ ...interaction, request: JSON.stringify(request) })
    .execute();
}

/** Finds an interaction, answered and expired ones too: their pages say so. */
export const find = (db: Db, { expires_bucket, hash }: HandleKey): Promise<Interaction | undefined> =>
  db
    .selectFrom('interactions')
    .selectAll()
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .executeTakeFirst();

/** Binds an interaction that came without a cookie to the first browser that opens it. False when another was first. */
export async function bind(db: Db, { expires_bucket, hash }: HandleKey, browser_hash: Buffer): Promise<boolean> {
  const result = await db
    .updateTable('interactions')
    .set({ browser_hash })
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .where('browser_hash', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** What is recorded after the interaction began, all but its answer. */
type Proof = Partial<Omit<Interaction, Exclude<keyof NewInteraction, 'sign_in_after'> | 'answered_at'>>;

/** Records what the person did. False when the interaction was answered meanwhile. */
export async function record(db: Db | Trx, { expires_bucket, hash }: HandleKey, proof: Proof): Promise<boolean> {
  const result = await db
    .updateTable('interactions')
    .set(proof)
    .where('expires_bucket', '=', expires_bucket)
    .where('hash', '=', hash)
    .where('answered_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/**
 * Claims the one answer an interaction gives, and with it the pushed request it came from, in whichever browser that was opened
 * else. False when either was answered already.
 */
export async function answer(db: Db, i: HandleKey, pushed: HandleKey | null, now: Date): Promise<boolean> {
  const { rows } = await sql`
    with asked as (
      select from interactions
      where expires_bucket = ${i.expires_bucket} and hash = ${i.hash} and answered_at is null and expires_at > ${now}
      for update
    ), taken as (
      update pushed_requests set used_at = ${now}
      where expires_bucket = ${pushed?.expires_bucket ?? null}::int and hash = ${pushed?.hash ?? null}::bytea
        and used_at is null and exists (select from asked)
      returning 1
    )
    update interactions set answered_at = ${now}
    where expires_bucket = ${i.expires_bucket} and hash = ${i.hash} and exists (select from asked)
      and (${pushed === null}::boolean or exists (select from taken))
    returning 1`.execute(db);
  return rows.length > 0;
}

/** The pushed request an interaction came from. */
export const pushedOf = ({ pushed_bucket, pushed_hash }: Interaction): HandleKey | null =>
  pushed_bucket === null || pushed_hash === null ? null : { expires_bucket: pushed_bucket, hash: pushed_hash };

/** The device code an interaction decides about. */
export const deviceOf = ({ device_bucket, device_hash }: Interaction): HandleKey | null =>
  device_bucket === null || device_hash === null ? null : { expires_bucket: device_bucket, hash: device_hash };
