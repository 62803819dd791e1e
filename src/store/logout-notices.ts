/** The outbox of back-channel logout: written with the sign-out, emptied by a worker, never on anybody's request path. */
import { sql, type Generated, type Selectable } from 'kysely';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import { isSerial, keysetPage, type Keyset, type KeysetPage } from './postgres/listing.ts';

/** Each row is a notice that is owed. */
export interface LogoutNoticesTable {
  notice_id: Generated<string>;
  client_id: string;
  sub: string;
  sid: string;
  sector: Nullable<string>;
  attempts: number;
  next_at: Date;
  dead_at: Nullable<Date>;
  last_failure: Nullable<string>;
  created_at: Date;
}

export type LogoutNotice = Selectable<LogoutNoticesTable>;

/** Enqueues a notice for every client that was granted something under these sessions and has a backchannel_logout_uri. */
export async function enqueue(trx: Trx, sids: readonly string[], now: Date): Promise<void> {
  if (sids.length === 0) return;
  await sql`
    insert into logout_notices (client_id, sub, sid, sector, next_at, created_at)
    select distinct g.client_id, g.sub, g.sid, g.sector, ${now}::timestamptz, ${now}::timestamptz
    from grants g join clients c using (client_id)
    where g.sid = any(${sids}::text[]) and g.expires_at > ${now} and c.backchannel_logout_uri is not null
      and c.disabled_at is null`.execute(trx);
}

/** A notice with where it goes. */
export type Due = LogoutNotice & { backchannel_logout_uri: string };

/**
 * Takes the notice that has been due longest, but none of `busy` clients. It is put off until `lease_until` in the same
 * statement: another process leaves it alone meanwhile, and one that dies with it in hand loses nothing.
 */
export async function take(db: Db, busy: readonly string[], lease_until: Date, now: Date): Promise<Due | undefined> {
  const { rows } = await sql<Due>`
    update logout_notices n set attempts = n.attempts + 1, next_at = ${lease_until}
    from clients c
    where c.client_id = n.client_id and n.notice_id = (
      select notice_id from logout_notices due join clients using (client_id)
      where dead_at is null and next_at <= ${now} and backchannel_logout_uri is not null
        and due.client_id <> all(${busy}::text[])
      order by next_at limit 1 for update of due skip locked)
    returning n.*, c.backchannel_logout_uri`.execute(db);
  return rows[0];
}

/** Removes a notice that was delivered. */
export async function delivered(db: Db, notice_id: string): Promise<void> {
  await db.deleteFrom('logout_notices').where('notice_id', '=', notice_id).execute();
}

/** Puts a notice off, or, with `dead_at`, aside: an operator may look at it, nobody sends it again. */
export async function failed(
  db: Db,
  notice_id: string,
  outcome: { next_at: Date; dead_at: Date | null; last_failure: string },
): Promise<void> {
  await db.updateTable('logout_notices').set(outcome).where('notice_id', '=', notice_id).execute();
}

/**
 * Puts off whatever else is due to a client that cannot be reached now, as if each had been tried: one that is away for long is
 * not tried once a notice. Those in other hands are left to them.
 */
export async function postponeAllOf(
  db: Db,
  client_id: string,
  { last_failure, first, most }: { last_failure: string; first: number; most: number },
  now: Date,
): Promise<void> {
  await sql`
    update logout_notices n set attempts = n.attempts + 1, last_failure = ${last_failure},
      next_at = ${now}::timestamptz + make_interval(secs => ${first}::int * 2 ^ (n.attempts + 1)),
      dead_at = case when n.attempts + 1 >= ${most}::int then ${now}::timestamptz end
    from (
      select notice_id from logout_notices
      where client_id = ${client_id} and dead_at is null and next_at <= ${now} for update skip locked
    ) due
    where n.notice_id = due.notice_id`.execute(db);
}

/** Forgets the notices of a client that has no backchannel_logout_uri any more. */
export async function forget(trx: Trx, client_id: string): Promise<void> {
  await trx.deleteFrom('logout_notices').where('client_id', '=', client_id).execute();
}

/** More are not counted: it is enough to know that there are many. */
const COUNT_UP_TO = 10_000;

/** How many notices wait, since when the oldest of them, and how many were given up. */
export async function outstanding(db: Db): Promise<{ waiting: number; oldest: Date | null; dead: number }> {
  const { rows } = await sql<{ waiting: number; oldest: Date | null; dead: number }>`
    select
      (select count(*)::int from (select from logout_notices where dead_at is null limit ${COUNT_UP_TO}) n) as waiting,
      (select created_at from logout_notices where dead_at is null order by notice_id limit 1) as oldest,
      (select count(*)::int from (select from logout_notices where dead_at is not null limit ${COUNT_UP_TO}) n) as dead
  `.execute(db);
  return rows[0]!;
}

/** One page of what could not be delivered. */
export function pageOfDead(
  db: Db,
  { client_id, sub }: { client_id?: string | undefined; sub?: string | undefined },
  keyset: Keyset,
): Promise<KeysetPage<LogoutNotice>> {
  let query = db.selectFrom('logout_notices').selectAll().where('dead_at', 'is not', null);
  if (client_id !== undefined) query = query.where('client_id', '=', client_id);
  if (sub !== undefined) query = query.where('sub', '=', sub);
  return keysetPage(query, keyset);
}

/** One that could not be delivered. */
export const findDead = async (db: Db, notice_id: string): Promise<LogoutNotice | undefined> =>
  isSerial(notice_id)
    ? db
        .selectFrom('logout_notices')
        .selectAll()
        .where('notice_id', '=', notice_id)
        .where('dead_at', 'is not', null)
        .executeTakeFirst()
    : undefined;

/** Lets one that was given up be sent again, from the first try. Undefined when there is none. */
export const revive = async (
  trx: Trx,
  notice_id: string,
  now: Date,
): Promise<Pick<LogoutNotice, 'client_id'> | undefined> =>
  isSerial(notice_id)
    ? trx
        .updateTable('logout_notices')
        .set({ dead_at: null, next_at: now, attempts: 0 })
        .where('notice_id', '=', notice_id)
        .where('dead_at', 'is not', null)
        .returning('client_id')
        .executeTakeFirst()
    : undefined;

/** Forgets one that was given up. Undefined when there is none. */
export const removeDead = async (trx: Trx, notice_id: string): Promise<Pick<LogoutNotice, 'client_id'> | undefined> =>
  isSerial(notice_id)
    ? trx
        .deleteFrom('logout_notices')
        .where('notice_id', '=', notice_id)
        .where('dead_at', 'is not', null)
        .returning('client_id')
        .executeTakeFirst()
    : undefined;
