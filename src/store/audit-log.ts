/** The audit log: append only. What is past its retention is swept. */
import type { Generated, Selectable } from 'kysely';
import type { Json, Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import { isSerial, keysetPage, type Keyset, type KeysetPage } from './postgres/listing.ts';
import { write } from './postgres/pipeline.ts';
import { prepared } from './postgres/prepared.ts';

/** Each row is an event. */
export interface AuditEventsTable {
  event_id: Generated<string>;
  at: Date;
  event: string;
  sub: Nullable<string>;
  client_id: Nullable<string>;
  actor: Nullable<string>;
  ip: Nullable<string>;
  request_id: Nullable<string>;
  detail: Json<Record<string, unknown>>;
}

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
  await write(
    db,
    prepared`
      insert into audit_events (at, event, sub, client_id, actor, ip, request_id, detail)
      values (${at}, ${event}, ${sub}, ${client_id}, ${actor}, ${ip}, ${request_id}, ${JSON.stringify(detail)})`,
    'no row',
  );
}

export type AuditEvent = Selectable<AuditEventsTable>;

/** What the log can be narrowed by. */
export interface AuditFilters {
  event?: string | undefined;
  sub?: string | undefined;
  client_id?: string | undefined;
  actor?: string | undefined;
  ip?: string | undefined;
  request_id?: string | undefined;
  /** From this moment on. */
  since?: Date | undefined;
  /** Before this moment. */
  until?: Date | undefined;
}

/** One page of the log. */
export function page(
  db: Db,
  { since, until, ...equal }: AuditFilters,
  keyset: Keyset,
): Promise<KeysetPage<AuditEvent>> {
  let query = db.selectFrom('audit_events').selectAll();
  for (const column of ['event', 'sub', 'client_id', 'actor', 'ip', 'request_id'] as const) {
    const value = equal[column];
    if (value !== undefined) query = query.where(column, '=', value);
  }
  if (since) query = query.where('at', '>=', since);
  if (until) query = query.where('at', '<', until);
  return keysetPage(query, keyset);
}

/** The order of the log: of time, and of writing where that is the same. */
export const BY_TIME = ['at', 'event_id'] as const;

/** One event. */
export const find = async (db: Db, event_id: string): Promise<AuditEvent | undefined> =>
  isSerial(event_id)
    ? db.selectFrom('audit_events').selectAll().where('event_id', '=', event_id).executeTakeFirst()
    : undefined;
