/**
 * What somebody asked for who may not learn whether there is such an account: written down without a look at the accounts,
 * and answered by a worker.
 */
import { sql, type Selectable } from 'kysely';
import type { Db, Trx } from './postgres/db.ts';

/** Each row is a request. */
export interface MailRequestsTable {
  request_id: string;
  kind: string;
  sealed: Buffer;
  next_at: Date;
  created_at: Date;
}

export type MailRequest = Selectable<MailRequestsTable>;

/** Writes a request down. */
export async function insert(db: Db | Trx, request: MailRequest): Promise<void> {
  await db.insertInto('mail_requests').values(request).execute();
}

/** Takes the one that has been due longest, and puts it off for others until `lease_until`. */
export async function take(db: Db, lease_until: Date, now: Date): Promise<MailRequest | undefined> {
  const { rows } = await sql<MailRequest>`
    update mail_requests r set next_at = ${lease_until}
    where r.request_id = (
      select request_id from mail_requests where next_at <= ${now} order by next_at limit 1 for update skip locked)
    returning r.*`.execute(db);
  return rows[0];
}

/** Removes a request that is being answered. False when somebody else answered it. */
export async function remove(trx: Db | Trx, request_id: string): Promise<boolean> {
  const result = await trx.deleteFrom('mail_requests').where('request_id', '=', request_id).executeTakeFirst();
  return result.numDeletedRows > 0n;
}
