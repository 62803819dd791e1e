/** What operators do with mails that were given up. */
import { record, type Actor } from '../events/index.ts';
import type { Trx } from '../store/postgres/db.ts';
import * as mails from '../store/mails.ts';

/** Sends a mail that was given up again, at the worker's next turn. False when there is none that still says something. */
export async function retryMail(trx: Trx, mail_id: string, by: Actor, now: Date): Promise<boolean> {
  const revived = await mails.revive(trx, mail_id, now);
  if (revived) await record(trx, { event: 'mail_retried', sub: revived.sub, detail: { mail_id } }, by, now);
  return revived !== undefined;
}

/** Forgets a mail, and does not send it where it still waits. False when there is none. */
export async function removeMail(trx: Trx, mail_id: string, by: Actor, now: Date): Promise<boolean> {
  const removed = await mails.remove(trx, mail_id);
  if (removed) await record(trx, { event: 'mail_deleted', sub: removed.sub, detail: { mail_id } }, by, now);
  return removed !== undefined;
}
