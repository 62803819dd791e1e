/**
 * Sessions: the sign-ins of a browser, from start to end; it may hold those of several people. The cookie belongs to the
 * door, who may sign in to users.
 */
import type { Deps } from '../deps.ts';
import { record, type Actor, type Requester } from '../events/index.ts';
import { accessDenied, invalidRequest } from '../protocol/error.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { transactOrNothing, type Trx } from '../store/postgres/db.ts';
import * as grants from '../store/grants.ts';
import { bucketOf, drawHandle, handleFrom, newId, readHandle, sha256, type Handle } from '../protocol/handle.ts';
import * as notices from '../store/logout-notices.ts';
import * as store from '../store/sessions.ts';
import * as upstreamSessions from '../store/upstream-sessions.ts';
import { deviceOf } from '../protocol/user-agent.ts';

export type { LiveSession } from '../store/sessions.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'random' | 'secrets'>;

/** Seconds between two notes that a session is in use: idle limits are hours, so no request needs its own write. */
const TOUCH_EVERY = 60;

/** Most people who are signed in in one browser at a time. */
export const MAX_SESSIONS = 5;

/**
 * The live sessions behind a browser's handles, in their order, one a person. Handles that are malformed, unknown,
 * expired or ended are nobody's.
 */
export async function findSessions(
  { config, db }: Pick<Deps, 'config' | 'db'>,
  handles: readonly string[],
  now: Date,
): Promise<store.LiveSession[]> {
  const keys = handles.slice(0, MAX_SESSIONS).flatMap((handle) => readHandle(handle) ?? []);
  if (keys.length === 0) return [];
  const live = await store.findLive(db, keys, now, idleSince(config, now));
  const inOrder = keys.flatMap((key) => live.find(({ hash }) => hash.equals(key.hash)) ?? []);
  return inOrder.filter(({ sub }, index) => inOrder.findIndex((other) => other.sub === sub) === index);
}

/** A browser's session that was not in use since then is idle, and counts no more. */
export const idleSince = ({ SESSION_IDLE_TTL }: Pick<Deps['config'], 'SESSION_IDLE_TTL'>, now: Date): Date =>
  secondsAfter(now, -SESSION_IDLE_TTL);

/** Notes that a session is in use. The others of its browser are not, and grow idle. */
export async function noteUse({ db }: Pick<Deps, 'db'>, session: store.LiveSession, now: Date): Promise<void> {
  if (session.seen_at < secondsAfter(now, -TOUCH_EVERY)) await store.touch(db, session, now);
}

/** Seconds for which a sign-in counts as fresh: what decides about an account wants one that is not older. */
export const FRESH_FOR = 300;

/** Did whoever it is sign in just now, and does somebody say so? */
export const isFresh = (
  { auth_time, vouched = true }: Pick<store.LiveSession, 'auth_time'> & { vouched?: boolean },
  now: Date,
): boolean => vouched && auth_time >= secondsAfter(now, -FRESH_FOR);

/** How somebody proved who they are. */
export interface Authentication {
  sub: string;
  amr: string[];
  acr: string;
  /** Which password was proven, by the time it was set; null when none was. */
  password_changed_at: Date | null;
  /** Which passkey was used, if one was. */
  credential_id?: Buffer | undefined;
  /** When they did, where another server says so; now, unless it is named. */
  auth_time?: Date;
  /** False where that server does not say when: it may have asked nobody. */
  auth_time_stated?: boolean;
}

/** Where a session comes from and how long it lives. */
export interface Start {
  kind: 'browser' | 'login';
  /** Seconds. */
  ttl: number;
  /**
   * The browser's sessions until now. That of the same person is replaced: its id dies, its sid, and so what was granted
   * under it, is carried on. Those of others stay; of too many the last ends, as by a sign-out.
   */
  browser_sessions?: readonly store.LiveSession[];
  /** The browser's own cookie, and when the request came that the session starts with. */
  browser?: { value: string; since: Date };
  via: string;
  /** Uses up what was shown beside the first factor, once the account is held. False when it was used before. */
  claim?: ((trx: Trx, now: Date) => Promise<boolean>) | undefined;
  /** Writes what depends on the session (a token of POST /login), in its transaction. */
  onStart?: (trx: Trx, sid: string) => Promise<void>;
}

/** A session that began, and what is left of those beside it. */
export interface Started extends Handle {
  sid: string;
  remaining: readonly store.LiveSession[];
}

/**
 * Starts a session with a new id. Of several sign-ins of one person at once in one browser there is one session, and each is
 * told of it: whichever answer the browser keeps, its cookie names all that lives.
 * @throws OAuthError access_denied when the account was disabled, got another password, or lost the passkey, meanwhile; invalid_request when somebody
 * else signed in in the same browser meanwhile; UsedBefore when a second factor was
 */
export async function startSession(
  deps: Needs,
  { sub, amr, acr, password_changed_at, credential_id, auth_time, auth_time_stated = true }: Authentication,
  { kind, ttl, browser_sessions = [], browser, via, claim, onStart }: Start,
  by: Requester,
  now: Date,
): Promise<Started> {
  const { db, random } = deps;
  const expires_at = secondsAfter(now, ttl);
  const of = browser && { browser_hash: sha256(browser.value), salt: random(32) };
  const { handle, ...key } =
    browser && of ? handleOf(deps, browser.value, of.salt, bucketOf(expires_at)) : drawHandle(random, expires_at);
  const replaced = browser_sessions.find((session) => session.sub === sub);
  const others = browser_sessions.filter((session) => session.sub !== sub);
  const [remaining, pushedOut] = [others.slice(0, MAX_SESSIONS - 1), others.slice(MAX_SESSIONS - 1)];
  const sid = replaced?.sid ?? newId(random, 16);
  // With a refusal no session stands: not even one that nobody was told of.
  const started = await transactOrNothing(db, async (trx) => {
    const unnamed = of ? await store.unnamedSessionsOf(trx, of.browser_hash, browser_sessions, now) : [];
    const meanwhile = browser ? unnamed.filter(({ created_at }) => created_at >= browser.since) : [];
    const concurrent = browser && concurrentSignIn(deps, browser.value, sub, meanwhile);
    if (concurrent) {
      await record(trx, { event: 'sign_in', sub, detail: { amr, via } }, by, now);
      return concurrent;
    }
    // The browser keeps one of two cookies, nobody knows which: the other person's session would be in none.
    if (meanwhile.length > 0) {
      const received = 'a sign-in while another person signed in in the same browser';
      throw invalidRequest('somebody else signed in in this browser at this moment', {
        check: 'sign_in_beside',
        sub,
        received,
      });
    }
    const where = { device: deviceOf(by.user_agent), network: by.network };
    const row = {
      ...key,
      ...of,
      ...where,
      sid,
      kind,
      sub,
      auth_time: auth_time ?? now,
      auth_time_stated,
      amr,
      acr,
      created_at: now,
      seen_at: now,
      expires_at,
    };
    if (!(await store.insert(trx, row, password_changed_at, credential_id))) {
      const received = 'an account that was disabled, got another password, or lost the passkey, meanwhile';
      throw accessDenied('the account cannot sign in', { check: 'account', sub, received });
    }
    // Nothing of the sign-in stands without it.
    if (claim && !(await claim(trx, now))) throw new UsedBefore();
    if (replaced) {
      await store.supersede(trx, replaced, now);
      await upstreamSessions.carryOn(trx, sid, replaced.expires_bucket, key.expires_bucket);
    }
    // No longer in the cookie, nobody could sign them out any more.
    const named = [sid, ...remaining.map((session) => session.sid)];
    const lost = unnamed.filter((session) => !named.includes(session.sid));
    for (const session of [...pushedOut, ...lost]) await endSession(trx, session, by, now);
    await record(trx, { event: 'sign_in', sub, detail: { amr, via } }, by, now);
    await onStart?.(trx, sid);
    return { handle, ...key, sid };
  });
  return { ...started, remaining };
}

/** A second factor that was shown had been used before: nothing was written. */
export class UsedBefore extends Error {}

/** What a session is carried on with: the methods shown by now (RFC 8176), and how the last of them is used up. */
export interface Elevation {
  amr: string[];
  acr: string;
  via: string;
  claim: (trx: Trx, now: Date) => Promise<boolean>;
  /** Asks again, first in the transaction, what the elevation depends on. */
  hold?: (trx: Trx) => Promise<unknown>;
}

/**
 * Carries a session on once more was shown: under a new handle, so that nobody who knew the old one comes along (session fixation),
 * and with the sid that its grants know it by. Its `auth_time` stays: everything in `amr` was shown then or later, and no
 * client takes a password of last week for one of today. Of several at once in one browser each is told of the same session.
 * @throws OAuthError access_denied when the session ended meanwhile; UsedBefore
 */
export async function elevateSession(
  deps: Needs,
  session: store.LiveSession,
  { amr, acr, via, claim, hold }: Elevation,
  browser: string,
  by: Requester,
  now: Date,
): Promise<Handle> {
  const [browser_hash, salt] = [sha256(browser), deps.random(32)];
  const { handle, ...key } = handleOf(deps, browser, salt, bucketOf(session.expires_at));
  // Nothing is carried on where what was shown is refused as it is used up.
  return transactOrNothing(deps.db, async (trx) => {
    await hold?.(trx);
    if (await store.elevate(trx, session, { ...key, browser_hash, salt, amr, acr }, now)) {
      if (!(await claim(trx, now))) throw new UsedBefore();
      await record(trx, { event: 'second_factor', sub: session.sub, detail: { amr, via } }, by, now);
      return { handle, ...key };
    }
    const begun = await store.unnamedSessionsOf(trx, browser_hash, [session], now);
    const same = begun.filter(({ sid }) => sid === session.sid);
    const concurrent = concurrentSignIn(deps, browser, session.sub, same);
    if (concurrent) return concurrent;
    const received = 'a session that ended meanwhile';
    throw accessDenied('the session has ended', { check: 'account', sub: session.sub, received });
  });
}

/** The handle of a session, derived from the browser's own cookie and a key of ours, so that it can be derived again. */
const handleOf = ({ secrets }: Pick<Deps, 'secrets'>, browser: string, salt: Buffer, bucket: number): Handle =>
  handleFrom(bucket, secrets.mac('session', [browser, salt]));

/** The session of the same person that began while this sign-in was under way. */
function concurrentSignIn(
  deps: Pick<Deps, 'secrets'>,
  browser: string,
  sub: string,
  meanwhile: readonly store.UnnamedSession[],
): (Handle & { sid: string }) | undefined {
  const concurrent = meanwhile.find((session) => session.sub === sub);
  if (!concurrent) return undefined;
  const again = handleOf(deps, browser, concurrent.salt, concurrent.expires_bucket);
  // Another where SECRET_KEYS was changed in between.
  return again.hash.equals(concurrent.hash) ? { ...again, sid: concurrent.sid } : undefined;
}

type Ended = Pick<store.LiveSession, 'sid' | 'sub'>;

/** Ends a session by its sid, if it is this person's where one is named. False when there is no live one. */
export async function endSessionOf(
  trx: Trx,
  sid: string,
  whose: { sub?: string | undefined },
  by: Actor,
  now: Date,
): Promise<boolean> {
  const session = await store.find(trx, sid);
  if (!session || session.ended_at !== null || session.sub !== (whose.sub ?? session.sub)) return false;
  await endSession(trx, session, by, now);
  return true;
}

/** Ends a session on the server, and with it every grant that was not given offline_access. */
export async function endSession(trx: Trx, { sid, sub }: Ended, by: Actor, now: Date): Promise<void> {
  // The session first: a grant being made at this moment holds its row, and is seen by the next statement.
  // So is the row of a sign-in that took the session over while the first attempt waited for it.
  if (!(await store.end(trx, sid, now)) && !(await store.end(trx, sid, now))) return;
  // Before the grants are revoked or not: whoever was granted something knew this session.
  await notices.enqueue(trx, [sid], now);
  const grants_revoked = await grants.revokeOfSessions(trx, [sid], 'sign_out', now);
  await record(trx, { event: 'sign_out', sub, detail: { sid, grants_revoked } }, by, now);
}
