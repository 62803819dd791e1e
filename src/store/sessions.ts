/** Sessions: who signed in, where, when and how. The cookie's value is never here, only its hash. */
import { sql, type Generated, type Selectable } from 'kysely';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';
import type { HandleKey } from '../protocol/handle.ts';
import { keysetPage, type Keyset, type KeysetPage } from './postgres/listing.ts';
import { read } from './postgres/pipeline.ts';
import { prepared } from './postgres/prepared.ts';
import { secondFactorsOf } from './second-factors.ts';

/** Each row is a session, or a part of one: rows with one `sid` carry it on from cookie to cookie. */
export interface SessionsTable {
  expires_bucket: number;
  hash: Buffer;
  sid: string;
  kind: 'browser' | 'login';
  sub: string;
  auth_time: Date;
  /** Does anybody say when that was? A provider that tells no auth_time may have asked nobody. */
  auth_time_stated: Generated<boolean>;
  amr: string[];
  acr: string;
  created_at: Date;
  seen_at: Date;
  expires_at: Date;
  ended_at: Nullable<Date>;
  browser_hash: Nullable<Buffer>;
  salt: Nullable<Buffer>;
  device: Nullable<string>;
  network: Nullable<string>;
}

/** The browser that a session began in, and the salt its handle was derived with. */
export interface BrowserOrigin {
  browser_hash: Buffer | null;
  salt: Buffer | null;
}

/** Where a session began, as its person is shown it. */
export interface Place {
  device: string | null;
  network: string | null;
}

export type SessionRow = Omit<Selectable<SessionsTable>, keyof BrowserOrigin | keyof Place>;

/** A live session, with what pages say of its person. */
export interface LiveSession extends SessionRow {
  username: string;
  email: string | null;
  name: string | null;
  /** When the account is to be erased, as its person wishes. */
  erase_after: Date | null;
  /** Was the password of the account drawn, and nobody has chosen another? */
  password_drawn: boolean;
  locale: string | null;
  /** The second factors they have, by name. */
  second_factors: string[];
  /** May it count as fresh? Not where nobody says when the sign-in was, and the person could prove here that it is them. */
  vouched: boolean;
}

/**
 * Those of these sessions that live, in any order. Disabled people have none. `seen_after`: how long ago one may last
 * have been used.
 */
export async function findLive(
  db: Db,
  keys: readonly HandleKey[],
  now: Date,
  seen_after: Date,
): Promise<LiveSession[]> {
  // A hash is of its bucket too: no bucket of one goes with the hash of another.
  return read(
    db,
    prepared<LiveSession>`
      select s.expires_bucket, s.hash, s.sid, s.kind, s.sub, s.auth_time, s.amr, s.acr, s.created_at, s.seen_at,
        s.expires_at, s.ended_at, s.auth_time_stated, u.username, u.email, u.erase_after, u.claims ->> 'name' as name,
        u.claims ->> 'locale' as locale, ${secondFactorsOf('u.sub')} as second_factors,
        case when s.auth_time_stated then true else not exists (select from password_credentials p where p.sub = s.sub)
          and not exists (select from passkeys k where k.sub = s.sub) end as vouched,
        exists (select from password_credentials p where p.sub = u.sub and p.drawn_at = p.changed_at) as password_drawn
      from sessions s join users u on u.sub = s.sub
      where s.expires_bucket = any(${keys.map(({ expires_bucket }) => expires_bucket)}::int[])
        and s.hash = any(${keys.map(({ hash }) => hash)}::bytea[])
        -- In words that no index has: before there are statistics, the planner would read every live session.
        and coalesce(s.ended_at, 'infinity') = 'infinity' and s.expires_at > ${now} and s.seen_at > ${seen_after}
        and u.disabled_at is null`,
  );
}

/**
 * Starts a session, unless the person was disabled meanwhile, or the password or the passkey that was proven is no longer
 * theirs. Locks the rows of both, so that a disabling or a password change in flight either sees this session or prevents
 * it. Locks are taken in one order everywhere: account, password, sessions, grants.
 */
export async function insert(
  trx: Trx,
  session: Omit<SessionRow, 'ended_at' | 'auth_time_stated'> &
    Partial<Pick<SessionRow, 'auth_time_stated'>> &
    Partial<BrowserOrigin & Place>,
  password_changed_at: Date | null,
  credential_id?: Buffer,
): Promise<boolean> {
  const { rows } = await sql`
    with person as (select sub from users where sub = ${session.sub} and disabled_at is null for share),
    proof as (
      select 1 from password_credentials p join person using (sub)
      where p.changed_at = ${password_changed_at}::timestamptz for share of p
    ), passkey as (
      select 1 from passkeys k join person using (sub)
      where k.credential_id = ${credential_id ?? null}::bytea for share of k
    )
    insert into sessions (expires_bucket, hash, sid, kind, sub, auth_time, amr, acr, created_at, seen_at, expires_at,
      browser_hash, salt, device, network, auth_time_stated)
    select ${session.expires_bucket}::int, ${session.hash}::bytea, ${session.sid}, ${session.kind}, sub,
      ${session.auth_time}::timestamptz, ${session.amr}::text[], ${session.acr}, ${session.created_at}::timestamptz,
      ${session.seen_at}::timestamptz, ${session.expires_at}::timestamptz,
      ${session.browser_hash ?? null}::bytea, ${session.salt ?? null}::bytea,
      ${session.device ?? null}::text, ${session.network ?? null}::text, ${session.auth_time_stated ?? true}::boolean
    from person where (${password_changed_at === null}::boolean or exists (select from proof))
      and (${credential_id === undefined}::boolean or exists (select from passkey))
    returning sid`.execute(trx);
  return rows.length > 0;
}

/**
 * Carries a session on under a new handle, with what was shown since: only while it lives, and its person is not disabled. Everything
 * that names the session by its sid stays; its time of sign-in too, which is stated from then on: something was shown here since. False
 * when it ended meanwhile.
 */
export async function elevate(
  trx: Trx,
  from: HandleKey,
  to: HandleKey & BrowserOrigin & Pick<SessionRow, 'amr' | 'acr'>,
  now: Date,
): Promise<boolean> {
  const { rows } = await sql`
    with held as (
      select u.sub from users u join sessions s on s.sub = u.sub
      where s.expires_bucket = ${from.expires_bucket} and s.hash = ${from.hash} and u.disabled_at is null for share of u
    ), present as (
      update sessions set ended_at = ${now}
      where expires_bucket = ${from.expires_bucket} and hash = ${from.hash} and ended_at is null and expires_at > ${now}
        and exists (select from held)
      returning sid, kind, sub, auth_time, expires_at, device, network
    )
    insert into sessions (expires_bucket, hash, sid, kind, sub, auth_time, amr, acr, created_at, seen_at, expires_at,
      browser_hash, salt, device, network)
    select ${to.expires_bucket}::int, ${to.hash}::bytea, sid, kind, sub, auth_time, ${to.amr}::text[], ${to.acr},
      ${now}::timestamptz, ${now}::timestamptz, expires_at, ${to.browser_hash}::bytea, ${to.salt}::bytea, device, network
    from present returning sid`.execute(trx);
  return rows.length > 0;
}

/** A live session that began in a browser and is not in its cookie. */
export type UnnamedSession = Pick<SessionRow, 'expires_bucket' | 'hash' | 'sid' | 'sub' | 'created_at'> & {
  salt: Buffer;
};

/**
 * The live sessions that began in a browser, but for those that are named. Sign-ins of one browser come one after the
 * other from here until the transaction ends: each sees what the one before began.
 */
export async function unnamedSessionsOf(
  trx: Trx,
  browser_hash: Buffer,
  named: readonly HandleKey[],
  now: Date,
): Promise<UnnamedSession[]> {
  await sql`select pg_advisory_xact_lock(${browser_hash.readBigInt64BE()}::bigint)`.execute(trx);
  const { rows } = await sql<UnnamedSession>`
    select expires_bucket, hash, sid, sub, created_at, salt from sessions
    where browser_hash = ${browser_hash} and ended_at is null and expires_at > ${now}
      and hash <> all(${named.map(({ hash }) => hash)}::bytea[])
    order by sid`.execute(trx);
  return rows;
}

/** A session as operators see it: the row that its sid has come to, and never the hash of a cookie. */
export type ShownSession = Omit<SessionRow, 'hash' | 'expires_bucket' | 'auth_time_stated'> & Place;

const SEEN = [
  'sid',
  'kind',
  'sub',
  'auth_time',
  'amr',
  'acr',
  'created_at',
  'seen_at',
  'expires_at',
  'ended_at',
  'device',
  'network',
] as const;

/** A session in any state, as long as it is kept. Of rows that carried one sid on, the last. */
export const find = (db: Db, sid: string): Promise<ShownSession | undefined> =>
  db
    .selectFrom('sessions')
    .select(SEEN)
    .where('sid', '=', sid)
    .orderBy(sql`ended_at is null`, 'desc')
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();

/** May the live session of this sid count as fresh (`LiveSession.vouched`)? */
export async function isVouched(db: Db, sid: string): Promise<boolean> {
  const { rows } = await sql`
    select from sessions s where s.sid = ${sid} and s.ended_at is null and (s.auth_time_stated
      or (not exists (select from password_credentials p where p.sub = s.sub)
        and not exists (select from passkeys k where k.sub = s.sub)))`.execute(db);
  return rows.length > 0;
}

/** What narrows a list of sessions. Those that merely ran out are in neither state: they are removed within a day. */
export interface SessionFilters {
  sub?: string | undefined;
  state: 'live' | 'ended';
}

/** One page of sessions. Idleness is the browser's: a session of POST /login lives as long as its token. */
export function page(
  db: Db,
  { sub, state }: SessionFilters,
  now: Date,
  seen_after: Date,
  keyset: Keyset,
): Promise<KeysetPage<ShownSession>> {
  let query = db.selectFrom('sessions').select(SEEN);
  if (sub !== undefined) query = query.where('sub', '=', sub);
  query =
    state === 'live'
      ? query
          .where('ended_at', 'is', null)
          .where('expires_at', '>', now)
          .where((where) => where.or([where('kind', '=', 'login'), where('seen_at', '>', seen_after)]))
      : query
          .where('ended_at', 'is not', null)
          // Not what another row has carried on: one sid is one session.
          .where(
            sql<boolean>`(select bool_and(other.ended_at is not null and other.created_at <= sessions.created_at)
              from sessions other where other.sid = sessions.sid)`,
          );
  return keysetPage(query, keyset);
}

/**
 * Locks all sessions of a person: waits for whatever is being granted under one of them, so that what follows in the
 * transaction sees it, and keeps new grants waiting.
 */
export async function lockAllOf(trx: Trx, sub: string): Promise<void> {
  await trx
    .selectFrom('sessions')
    .select('sid')
    .where('sub', '=', sub)
    .where('ended_at', 'is', null)
    // The order of `lock-order.ts`.
    .orderBy('expires_bucket')
    .orderBy('hash')
    .forNoKeyUpdate()
    .execute();
}

/** Notes a visit, so that the session does not go idle. */
export async function touch(db: Db, key: HandleKey, now: Date): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ seen_at: now })
    .where('expires_bucket', '=', key.expires_bucket)
    .where('hash', '=', key.hash)
    .where('seen_at', '<', now)
    .execute();
}

/** Retires one cookie's row (its successor carries the sid on). Takes nothing with it. */
export async function supersede(trx: Trx, key: HandleKey, now: Date): Promise<void> {
  await trx
    .updateTable('sessions')
    .set({ ended_at: now })
    .where('expires_bucket', '=', key.expires_bucket)
    .where('hash', '=', key.hash)
    .where('ended_at', 'is', null)
    .execute();
}

/** Ends a session on the server; returns whether it was live. Its grants end in the same transaction, by their own verb. */
export async function end(trx: Trx, sid: string, now: Date): Promise<boolean> {
  const result = await trx
    .updateTable('sessions')
    .set({ ended_at: now })
    .where('sid', '=', sid)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Ends what was given to scripts for one factor alone (POST /login): the person has a second one from now on. Returns the sids. */
export async function endTokensByOneFactor(trx: Trx, sub: string, now: Date): Promise<string[]> {
  const rows = await trx
    .updateTable('sessions')
    .set({ ended_at: now })
    .where('sub', '=', sub)
    .where('kind', '=', 'login')
    .where('acr', '=', '1')
    .where('ended_at', 'is', null)
    .returning('sid')
    .execute();
  return rows.map(({ sid }) => sid);
}

/** Ends all sessions of a person, but for `except`; returns their sids. */
export async function endAllOf(trx: Trx, sub: string, now: Date, except = ''): Promise<string[]> {
  await lockAllOf(trx, sub);
  const rows = await trx
    .updateTable('sessions')
    .set({ ended_at: now })
    .where('sub', '=', sub)
    .where('sid', '<>', except)
    .where('ended_at', 'is', null)
    .returning('sid')
    .execute();
  return rows.map(({ sid }) => sid);
}
