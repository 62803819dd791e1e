/** Connecting somebody at a provider with an account: always the person who has just proven the account, who says so. */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import { sha256, type HandleKey } from '../protocol/handle.ts';
import type { LiveSession } from '../sessions/index.ts';
import { endOtherSessions } from '../sessions/of-person.ts';
import * as interactions from '../store/interactions.ts';
import { transact, type Trx } from '../store/postgres/db.ts';
import type { UpstreamLink } from '../store/upstream-links.ts';
import * as requests from '../store/upstream-requests.ts';
import type { Upstream } from '../store/upstreams.ts';
import { connect, disconnect } from '../users/upstream/accounts.ts';
import { openWaiting, type Waiting } from '../users/upstream/sealed.ts';
import type { Opened } from './interaction.ts';
import { changeIn, holdStanding, SignInOver, type Standing } from './standing.ts';
import { offeredUpstream } from './upstream.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'random' | 'secrets'>;

/** Somebody who came back from a provider, is known to nobody here, and may be connected. */
export interface WaitingPerson {
  visit: requests.UpstreamRequest;
  who: Waiting;
  row: Upstream;
}

/** Decided again: the provider is offered, may be connected, and is the one it was. */
async function personOf(
  deps: Needs,
  visit: requests.UpstreamRequest | undefined,
  browser_hash: Buffer,
  now: Date,
): Promise<WaitingPerson | undefined> {
  if (!visit?.browser_hash.equals(browser_hash) || visit.expires_at <= now) return undefined;
  const who = openWaiting(deps, visit);
  const row = who && (await offeredUpstream(deps, visit.upstream));
  return row?.linking === true && row.issuer === who?.issuer ? { visit, who, row } : undefined;
}

/** Who waits in this browser, outside of any request: whoever came from this server's own sign-in page. */
export async function waitingFor(deps: Needs, browser: string, now: Date): Promise<WaitingPerson | undefined> {
  const browser_hash = sha256(browser);
  const found = await personOf(deps, await requests.findWaiting(deps.db, browser_hash, now), browser_hash, now);
  return found?.who.way.kind === 'login' ? found : undefined;
}

/** Takes who waits, once, and connects them. */
async function connectTo(
  trx: Trx,
  deps: Needs,
  { visit, who, row }: WaitingPerson,
  { sub, auth_time, vouched }: Pick<LiveSession, 'sub' | 'auth_time' | 'vouched'>,
  by: Requester,
  now: Date,
): Promise<'connected' | 'taken' | 'gone'> {
  // Only a sign-in since then proves the account: who was signed in here before may be somebody else. So may who came by another
  // provider that asked nobody.
  if (visit.answered_at === null || auth_time < visit.answered_at || !vouched) return 'gone';
  if (!(await requests.takeIdentity(trx, visit, visit.browser_hash, now))) return 'gone';
  const { issuer, upstream_sub, name } = who;
  const { upstream, label } = row;
  return connect(trx, deps, sub, { upstream, issuer, upstream_sub, name, label }, by, now);
}

/** The person of this session connects who waits in this browser. @throws SignInOver */
export async function connectWaiting(
  deps: Needs,
  browser: string,
  session: LiveSession,
  by: Requester,
  now: Date,
): Promise<'connected' | 'taken' | 'gone'> {
  const waiting = await waitingFor(deps, browser, now);
  if (!waiting) return 'gone';
  return changeIn(deps, session, { fresh: true, now }, (trx) => connectTo(trx, deps, waiting, session, by, now));
}

/** The person wants none of it. */
export async function forgetWaiting(deps: Needs, browser: string, now: Date): Promise<void> {
  const waiting = await waitingFor(deps, browser, now);
  if (!waiting) return;
  const { visit } = waiting;
  await transact(deps.db, (trx) => requests.takeIdentity(trx, visit, visit.browser_hash, now));
}

/** Ends a connection, and whatever else is signed in: it may be by that. `last` where it is the only way in. @throws SignInOver */
export const disconnectFrom = (
  deps: Needs,
  session: Standing,
  which: Pick<UpstreamLink, 'upstream' | 'upstream_sub'>,
  by: Requester,
  now: Date,
): Promise<'disconnected' | 'none' | 'last'> =>
  changeIn(deps, session, { fresh: true, now }, async (trx) => {
    const done = await disconnect(trx, deps, session.sub, which, by, now);
    if (done === 'disconnected') await endOtherSessions(trx, session, by, now);
    return done;
  });

/** The visit that a request's person came back from. */
const visitOf = ({ upstream_bucket, upstream_hash }: interactions.Interaction): HandleKey | undefined =>
  upstream_bucket === null || upstream_hash === null
    ? undefined
    : { expires_bucket: upstream_bucket, hash: upstream_hash };

/** Who waits for the person of a request to be connected; undefined where nobody does, any more. */
export async function waitingIn(deps: Needs, { row, now }: Opened): Promise<WaitingPerson | undefined> {
  const key = visitOf(row);
  const visit = key && (await requests.find(deps.db, key));
  return row.browser_hash === null ? undefined : personOf(deps, visit, row.browser_hash, now);
}

/** The person of a request answered whether to connect who waits; from there it goes on. `taken`: they may be asked again. */
export async function decideConnection(
  deps: Needs,
  opened: Opened,
  accepted: boolean,
  by: Requester,
): Promise<'done' | 'taken'> {
  const { row, session, now } = opened;
  const waiting = accepted ? await waitingIn(deps, opened) : undefined;
  const answered = { upstream_bucket: null, upstream_hash: null };
  try {
    return await transact(deps.db, async (trx) => {
      // That the sign-in is of this visit is asked below: it has not to be younger than that.
      if (waiting && session) await holdStanding(trx, deps, session, { fresh: false }, now);
      await interactions.record(trx, row, answered);
      if (!waiting || !session) return 'done';
      return (await connectTo(trx, deps, waiting, session, by, now)) === 'taken' ? 'taken' : 'done';
    });
  } catch (error) {
    if (!(error instanceof SignInOver)) throw error;
    // Whoever signs in again is asked by the request what it needs.
    await transact(deps.db, (trx) => interactions.record(trx, row, answered));
    return 'done';
  }
}
