/** The sessions of one person, as they look after them: which there are, and the end of one or of all others. */
import type { Deps } from '../deps.ts';
import { record, type Actor } from '../events/index.ts';
import { readDevice } from '../protocol/user-agent.ts';
import * as grants from '../store/grants.ts';
import * as notices from '../store/logout-notices.ts';
import * as links from '../store/person-links.ts';
import { transact, type Trx } from '../store/postgres/db.ts';
import * as store from '../store/sessions.ts';
import * as users from '../store/users.ts';
import { endSessionOf, idleSince } from './index.ts';

/** A session as its person sees it. */
export interface OwnSession {
  sid: string;
  /** A browser, or a script at POST /login. */
  kind: 'browser' | 'login';
  /** The program and system it began with; either is empty where it is not known. */
  program: string;
  system: string;
  /** The neighbourhood of the address it began at, null where that was not noted. No place: addresses do not tell it. */
  network: string | null;
  amr: readonly string[];
  auth_time: Date;
  seen_at: Date;
  expires_at: Date;
}

/** More than anybody looks through; whoever has more ends all others at once. */
const MOST = 100;

/** The live sessions of a person, the newest first. */
export async function sessionsOfPerson(
  { config, db }: Pick<Deps, 'config' | 'db'>,
  sub: string,
  now: Date,
): Promise<OwnSession[]> {
  const keyset = { columns: ['created_at', 'sid'], descending: true, after: undefined, limit: MOST } as const;
  const { rows } = await store.page(db, { sub, state: 'live' }, now, idleSince(config, now), keyset);
  return rows.map(({ sid, kind, device, network, amr, auth_time, seen_at, expires_at }) => ({
    sid,
    kind,
    ...readDevice(device),
    network,
    amr,
    auth_time,
    seen_at,
    expires_at,
  }));
}

/** Ends one of a person's sessions, as by their sign-out. False when it is not theirs, or is over. */
export const endOwnSession = (
  { db }: Pick<Deps, 'db'>,
  sub: string,
  sid: string,
  by: Actor,
  now: Date,
): Promise<boolean> =>
  transact(db, async (trx) => {
    await endAsked(trx, sub, now);
    return endSessionOf(trx, sid, { sub }, by, now);
  });

/** Whoever throws somebody out throws out what they began: a change of address that only has to be confirmed. */
async function endAsked(trx: Trx, sub: string, now: Date): Promise<void> {
  // Accounts come before links, as they do everywhere.
  await users.findLocked(trx, sub);
  await links.voidAllOf(trx, sub, now, ['change-email']);
}

/** How much ended with the other sessions. */
export interface OthersEnded {
  sessions_ended: number;
  grants_revoked: number;
}

/** Ends every session of a person but this one, and what was granted under them. Grants with offline_access stay. */
export async function endOtherSessions(
  trx: Trx,
  { sub, sid }: { sub: string; sid: string },
  by: Actor,
  now: Date,
): Promise<OthersEnded> {
  // A sign-in at this moment holds the account's row: its session is seen by the next statement.
  await endAsked(trx, sub, now);
  const sids = await store.endAllOf(trx, sub, now, sid);
  if (sids.length === 0) return { sessions_ended: 0, grants_revoked: 0 };
  await notices.enqueue(trx, sids, now);
  const grants_revoked = await grants.revokeOfSessions(trx, sids, 'sign_out', now);
  const ended = { sessions_ended: sids.length, grants_revoked };
  await record(trx, { event: 'other_sessions_ended', sub, detail: ended }, by, now);
  return ended;
}

/** The same in a transaction of its own. */
export const endOthersOf = (
  { db }: Pick<Deps, 'db'>,
  session: { sub: string; sid: string },
  by: Actor,
  now: Date,
): Promise<OthersEnded> => transact(db, (trx) => endOtherSessions(trx, session, by, now));
