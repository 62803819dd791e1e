/** The audit log: append only. */
import type { Db, Trx } from './db.ts';

/** One event, and who did it to whom. */
export interface AuditRow {
  at: Date;
  event: string;
  sub?: string | null | undefined;
  client_id?: string | null | undefined;
  actor?: string | null | undefined;
  ip?: string | null | undefined;
  request_id?: string | null | undefined;
  detail?: Record<string, unknown> | undefined;
}

/** Adds an event; there is no verb that changes one. */
export async function append(db: Db | Trx, row: AuditRow): Promise<void> {
  const { at, event, sub = null, client_id = null, actor = null, ip = null, request_id = null, detail = {} } = row;
  await db
    .insertInto('audit_events')
    .values({ at, event, sub, client_id, actor, ip, request_id, detail: JSON.stringify(detail) })
    .execute();
}
