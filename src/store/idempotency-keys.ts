/** Answers to requests that carried an Idempotency-Key, kept so that the same request is done once. */
import { sql, type Selectable } from 'kysely';
import type { Json, Nullable } from './postgres/columns.ts';
import type { Trx } from './postgres/db.ts';

/** Each row is an answer. */
export interface IdempotencyKeysTable {
  principal: string;
  key: string;
  request_hash: Buffer;
  status: number;
  location: Nullable<string>;
  body: Json<Nullable<Record<string, unknown>>>;
  expires_at: Date;
}

type Row = Selectable<IdempotencyKeysTable>;
/** Whose key it is. The same key of another principal is another key. */
export type KeyOf = Pick<Row, 'principal' | 'key'>;

/** What a key stands for: taken now, running in another transaction, or answered before. */
export type Claim = 'claimed' | 'running' | Pick<Row, 'request_hash' | 'status' | 'location' | 'body'>;

/**
 * Claims a key for this transaction. Its work and its answer commit together, so that a crash leaves either both or
 * neither.
 */
export async function claim(trx: Trx, { principal, key }: KeyOf, now: Date): Promise<Claim> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`postern idempotency ${principal} ${key}`}, 0)) as locked`.execute(
    trx,
  );
  if (!rows[0]!.locked) return 'running';
  const present = await trx
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'status', 'location', 'body'])
    .where('principal', '=', principal)
    .where('key', '=', key)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return present ?? 'claimed';
}

/** Keeps the answer to a claimed key; one that has expired makes way. */
export async function keep(trx: Trx, { body, ...row }: Row): Promise<void> {
  const values = { ...row, body: body === null ? null : JSON.stringify(body) };
  const { principal: _principal, key: _key, ...rest } = values;
  await trx
    .insertInto('idempotency_keys')
    .values(values)
    .onConflict((conflict) => conflict.columns(['principal', 'key']).doUpdateSet(rest))
    .execute();
}
