/** Interactions: authorization requests that wait for a person, one per browser tab. Each write is one proof. */
import { sql, type Selectable } from 'kysely';
import type { AuthorizationRequest } from '../protocol/authorization-request.ts';
import type { Db, Trx } from './db.ts';
import type { HandleKey } from './handle.ts';
import type { Database } from './schema.ts';

export type Interaction = Selectable<Database['interactions']>;
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
> & { request: AuthorizationRequest };

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

type Proof = Partial<Pick<Interaction, 'sign_in_after' | 'selected_sub' | 'consented_sid' | 'refused_error'>>;

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
