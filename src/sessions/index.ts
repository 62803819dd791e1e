/** Sessions: a browser's sign-in, from start to end. The cookie belongs to the door, who may sign in to users. */
import type { Deps } from '../deps.ts';
import { record, type Requester } from '../events/index.ts';
import { accessDenied } from '../protocol/error.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { transact, type Trx } from '../store/db.ts';
import * as grants from '../store/grants.ts';
import { drawHandle, readHandle, type Handle } from '../store/handle.ts';
import * as notices from '../store/logout-notices.ts';
import * as store from '../store/sessions.ts';

export type { LiveSession } from '../store/sessions.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'random'>;

/** Seconds between two notes that a session is in use: idle limits are hours, so no request needs its own write. */
const TOUCH_EVERY = 60;

/** The live session of a cookie; undefined for none, an unknown or malformed one, an expired or ended one. */
export async function findSession(
  { config, db }: Needs,
  cookie: string | undefined,
  now: Date,
): Promise<store.LiveSession | undefined> {
  const key = cookie === undefined ? undefined : readHandle(cookie);
  if (!key) return undefined;
  const session = await store.find(db, key, now, secondsAfter(now, -config.SESSION_IDLE_TTL));
  if (session && session.seen_at < secondsAfter(now, -TOUCH_EVERY)) await store.touch(db, key, now);
  return session;
}

/** How somebody proved who they are. */
export interface Authentication {
  sub: string;
  amr: string[];
  acr: string;
  /** Which password was proven, by the time it was set; null when none was. */
  password_changed_at: Date | null;
}

/** Where a session comes from and how long it lives. */
export interface Start {
  kind: 'browser' | 'login';
  /** Seconds. */
  ttl: number;
  /**
   * The browser's session until now: its id dies. The same person keeps its sid, and so what was granted under it; for
   * another person it ends, as by a sign-out.
   */
  replaces?: store.LiveSession | undefined;
  via: string;
}

/**
 * Starts a session with a new id.
 * @throws OAuthError access_denied when the account was disabled, or got another password, meanwhile
 */
export async function startSession(
  { db, random }: Needs,
  { sub, amr, acr, password_changed_at }: Authentication,
  { kind, ttl, replaces, via }: Start,
  by: Requester,
  now: Date,
): Promise<Handle & { sid: string }> {
  const expires_at = secondsAfter(now, ttl);
  const { handle, ...key } = drawHandle(random, expires_at);
  const sid = replaces?.sub === sub ? replaces.sid : random(16).toString('base64url');
  await transact(db, async (trx) => {
    const row = { ...key, sid, kind, sub, auth_time: now, amr, acr, created_at: now, seen_at: now, expires_at };
    if (!(await store.insert(trx, row, password_changed_at))) throw accessDenied('the account cannot sign in');
    // Somebody else took the browser over: nobody could sign the one before out any more.
    if (replaces && replaces.sub !== sub) await endIn(trx, replaces, by, now);
    else if (replaces) await store.supersede(trx, replaces, now);
    await record(trx, { event: 'sign_in', sub, detail: { amr, via } }, by, now);
  });
  return { handle, ...key, sid };
}

type Ended = Pick<store.LiveSession, 'sid' | 'sub'>;

/** Ends a session on the server, and with it every grant that was not given offline_access. */
export async function endSession({ db }: Pick<Deps, 'db'>, session: Ended, by: Requester, now: Date): Promise<void> {
  await transact(db, (trx) => endIn(trx, session, by, now));
}

async function endIn(trx: Trx, { sid, sub }: Ended, by: Requester, now: Date): Promise<void> {
  // The session first: a grant being made at this moment holds its row, and is seen by the next statement.
  // So is the row of a sign-in that took the session over while the first attempt waited for it.
  if (!(await store.end(trx, sid, now)) && !(await store.end(trx, sid, now))) return;
  // Before the grants are revoked or not: whoever was granted something knew this session.
  await notices.enqueue(trx, [sid], now);
  const grants_revoked = await grants.revokeOfSession(trx, sid, 'sign_out', now);
  await record(trx, { event: 'sign_out', sub, detail: { sid, grants_revoked } }, by, now);
}
