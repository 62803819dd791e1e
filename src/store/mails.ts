/** The outbox of mail: written with what it is about, emptied by a worker. */
import { sql, type Selectable } from 'kysely';
import { bucketOfId } from '../protocol/handle.ts';
import { isAbout, type Addressee } from './addressee.ts';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import { keysetPage, type Keyset, type KeysetPage } from './postgres/listing.ts';

/** Waiting is to be sent; sent has no contents any more; dead is not tried again by itself. */
export type MailState = 'waiting' | 'sent' | 'dead';

/** Each row is a mail. */
export interface MailsTable {
  expires_bucket: number;
  mail_id: string;
  template: string;
  recipient: string;
  sub: Nullable<string>;
  lang: string;
  state: MailState;
  /** What it says, under SECRET_KEYS; erased once it was sent, or is of no use any more. */
  sealed: Nullable<Buffer>;
  attempts: number;
  next_at: Date;
  /** Until when sending it makes sense: its link lives no longer. */
  until: Date;
  last_failure: Nullable<string>;
  created_at: Date;
  done_at: Nullable<Date>;
}

export type Mail = Selectable<MailsTable>;

/** Puts a mail into the outbox. */
export async function insert(
  trx: Trx,
  mail: Omit<Mail, 'state' | 'attempts' | 'last_failure' | 'done_at'>,
): Promise<void> {
  await trx
    .insertInto('mails')
    .values({ ...mail, state: 'waiting', attempts: 0 })
    .execute();
}

/**
 * Takes the mail that has been due longest. It is put off until `lease_until` in the same statement: another process leaves
 * it alone meanwhile, and one that dies with it in hand loses nothing.
 */
export async function take(db: Db, lease_until: Date, now: Date): Promise<Mail | undefined> {
  const { rows } = await sql<Mail>`
    update mails m set attempts = m.attempts + 1, next_at = ${lease_until}
    where (m.expires_bucket, m.mail_id) = (
      select expires_bucket, mail_id from mails
      where state = 'waiting' and next_at <= ${now} order by next_at limit 1 for update skip locked)
    returning m.*`.execute(db);
  return rows[0];
}

/** How a try ended. */
export interface Outcome {
  state: MailState;
  next_at: Date;
  last_failure: string | null;
  done_at: Date | null;
  /** Erases what it said. */
  sealed?: null;
}

/** Writes down how the try that was taken at this attempt ended; whoever took it meanwhile has a later one. */
export async function settle(
  db: Db,
  { expires_bucket, mail_id, attempts }: Pick<Mail, 'expires_bucket' | 'mail_id' | 'attempts'>,
  outcome: Outcome,
): Promise<void> {
  await db
    .updateTable('mails')
    .set(outcome)
    .where('expires_bucket', '=', expires_bucket)
    .where('mail_id', '=', mail_id)
    .where('attempts', '=', attempts)
    .where('state', '=', 'waiting')
    .execute();
}

/** Lets one that was given up be sent again, from the first try. Undefined when there is none that still says something. */
export async function revive(trx: Trx, mail_id: string, now: Date): Promise<Pick<Mail, 'sub'> | undefined> {
  const bucket = bucketOfId(mail_id);
  if (bucket === undefined) return undefined;
  return trx
    .updateTable('mails')
    .set({ state: 'waiting', next_at: now, attempts: 0, done_at: null })
    .where('expires_bucket', '=', bucket)
    .where('mail_id', '=', mail_id)
    .where('state', '=', 'dead')
    .where('sealed', 'is not', null)
    .where('until', '>', now)
    .returning('sub')
    .executeTakeFirst();
}

/** Forgets one, whatever its state. Undefined when there is none. */
export async function remove(trx: Trx, mail_id: string): Promise<Pick<Mail, 'sub'> | undefined> {
  const bucket = bucketOfId(mail_id);
  if (bucket === undefined) return undefined;
  return trx
    .deleteFrom('mails')
    .where('expires_bucket', '=', bucket)
    .where('mail_id', '=', mail_id)
    .returning('sub')
    .executeTakeFirst();
}

/** What the list of mails can be narrowed by. */
export interface MailFilters {
  state?: MailState | undefined;
  recipient?: string | undefined;
  sub?: string | undefined;
}

/** One page of mails. */
export function page(db: Db, filters: MailFilters, keyset: Keyset): Promise<KeysetPage<Mail>> {
  let query = db.selectFrom('mails').selectAll();
  for (const column of ['state', 'recipient', 'sub'] as const) {
    const value = filters[column];
    if (value !== undefined) query = query.where(column, '=', value);
  }
  return keysetPage(query, keyset);
}

/** The mails of a person, newest first: those about their account, and those to their address that are about none. */
export const toldTo = (db: Db, whom: Addressee, limit: number): Promise<Mail[]> =>
  db
    .selectFrom('mails')
    .selectAll()
    .where(isAbout(whom, 'recipient'))
    .orderBy('created_at', 'desc')
    .orderBy('mail_id', 'desc')
    .limit(limit)
    .execute();

/** One mail. */
export async function find(db: Db, mail_id: string): Promise<Mail | undefined> {
  const bucket = bucketOfId(mail_id);
  if (bucket === undefined) return undefined;
  return db
    .selectFrom('mails')
    .selectAll()
    .where('expires_bucket', '=', bucket)
    .where('mail_id', '=', mail_id)
    .executeTakeFirst();
}

/** The latest mails that still say something, newest first: what development mode shows. */
export const latest = (db: Db, limit: number): Promise<Mail[]> =>
  db
    .selectFrom('mails')
    .selectAll()
    .where('sealed', 'is not', null)
    .orderBy('created_at', 'desc')
    .orderBy('mail_id', 'desc')
    .limit(limit)
    .execute();

/** The first mails that wait to be sent. */
export const firstWaiting = (db: Db, limit: number): Promise<Mail[]> =>
  db.selectFrom('mails').selectAll().where('state', '=', 'waiting').orderBy('next_at').limit(limit).execute();

/** More are not counted: it is enough to know that there are many. */
const COUNT_UP_TO = 10_000;

/** How many mails wait, since when the oldest of them, and how many were given up. */
export async function outstanding(db: Db): Promise<{ waiting: number; oldest: Date | null; dead: number }> {
  const count = (state: MailState) => sql`
    (select count(*)::int from (select from mails where state = ${state} limit ${COUNT_UP_TO}) n)`;
  const { rows } = await sql<{ waiting: number; oldest: Date | null; dead: number }>`
    select ${count('waiting')} as waiting, ${count('dead')} as dead,
      (select created_at from mails where state = 'waiting' order by created_at limit 1) as oldest`.execute(db);
  return rows[0]!;
}
