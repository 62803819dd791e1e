/** What happened with somebody's account, out of the audit log, for that person. */
import type { Deps } from '../deps.ts';
import type { PersonEvent } from '../events/index.ts';
import { BY_TIME, page } from '../store/audit-log.ts';
import { IMPERSONAL } from './deletion.ts';

/** One event as its person sees it. */
interface Activity {
  event_id: string;
  at: Date;
  event: PersonEvent;
  /** The application it was about. */
  client_id: string | null;
  client_name: string | null;
  /** Whoever did it: the person, from this address, or somebody who runs the service. */
  by: 'you' | 'operator';
  ip: string | null;
  detail: Record<string, unknown>;
}

/** A page of them, and where the next begins. */
export interface ActivityPage {
  items: Activity[];
  next: string | undefined;
}

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)_(\d{1,18})$/;

/** A page of the events of a person, the newest first. A cursor that is none begins at the newest. */
export async function activityOf(
  { db, directory }: Pick<Deps, 'db' | 'directory'>,
  sub: string,
  cursor: string | undefined,
  limit: number,
): Promise<ActivityPage> {
  const [, at, event_id] = CURSOR.exec(cursor ?? '') ?? [];
  const after = at === undefined || Number.isNaN(Date.parse(at)) ? undefined : [at, event_id!];
  const { rows, more, last } = await page(db, { sub }, { columns: BY_TIME, descending: true, after, limit });
  const items = await Promise.all(
    rows.map(async ({ client_id, actor, ip, detail, event_id: id, ...row }) => ({
      event_id: id,
      at: row.at,
      // A row of another version may have a name that is none of ours.
      event: row.event as PersonEvent,
      client_id,
      client_name: client_id === null ? null : ((await directory.client(client_id))?.client_name ?? client_id),
      by: actor === null ? ('you' as const) : ('operator' as const),
      ip: actor === null ? ip : null,
      detail: Object.fromEntries(Object.entries(detail).filter(([name]) => isTold(name))),
    })),
  );
  return { items, next: more && last ? last.join('_') : undefined };
}

const isTold = (name: string): boolean => (IMPERSONAL as readonly string[]).includes(name);
