/**
 * Signing in with a provider, in order: somebody is sent there, comes back with a code, is known here or has to prove it, and a
 * session starts. What goes on from there is decided where it always is, in next-step.ts.
 */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import { levelOf } from '../protocol/acr.ts';
import { accessDenied, invalidRequest, OAuthError } from '../protocol/error.ts';
import { bucketOf, drawHandle, readHandle, sha256, type HandleKey } from '../protocol/handle.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { textOf, type Parameters } from '../protocol/parameters.ts';
import { identityOf, methodsOf, UPSTREAM_NAME } from '../protocol/upstream.ts';
import { startSession, type LiveSession } from '../sessions/index.ts';
import * as interactions from '../store/interactions.ts';
import { transact } from '../store/postgres/db.ts';
import * as requests from '../store/upstream-requests.ts';
import * as links from '../store/upstream-links.ts';
import * as upstreamSessions from '../store/upstream-sessions.ts';
import * as upstreams from '../store/upstreams.ts';
import { connect, keyOf, nameOf, personOf, type Arrival } from '../users/upstream/accounts.ts';
import { owedBy } from '../users/factors/policy.ts';
import type { Wishes } from '../users/upstream/client.ts';
import { UpstreamRefusal } from '../users/upstream/refusal.ts';
import { canProveHere } from '../users/ways-in.ts';
import { openVisit, sealVisit, sealWaiting, type Visit, type Way } from '../users/upstream/sealed.ts';

export type { Way } from '../users/upstream/sealed.ts';

type Needs = Pick<Deps, 'config' | 'clock' | 'db' | 'random' | 'secrets' | 'upstreams'>;

/** Seconds that somebody has there: as long as the request that waits for them. */
const VISIT_TTL = 3600;
/** Seconds that somebody has who began it by a sign-in which was fresh: as long as for any other way to sign in that is added. */
const CONNECT_TTL = 600;
/** Seconds by which the provider's clock may differ from ours. */
const TOLERANCE = 60;

/** What came of it, for the page that somebody is led to. Each is a name, with a sentence where pages are made. */
export type UpstreamOutcome =
  'denied' | 'unavailable' | 'unusable' | 'gone' | 'stale' | 'unknown' | 'disabled' | 'connect' | 'taken';

/** The provider of this name, if people may sign in with it. */
export async function offeredUpstream(
  { db }: Pick<Needs, 'db'>,
  name: string,
): Promise<upstreams.Upstream | undefined> {
  // Whoever asks may name what cannot be looked for (U+0000).
  const row = UPSTREAM_NAME.test(name) ? await upstreams.find(db, name) : undefined;
  return row?.disabled === false ? row : undefined;
}

/**
 * Begins a visit: where to send the browser. The provider is asked for its metadata before anything is written.
 * @throws UpstreamRefusal
 */
export async function beginVisit(
  deps: Needs,
  row: upstreams.Upstream,
  callback: URL,
  browser: string,
  way: Way,
  wishes: Wishes,
): Promise<URL> {
  const now = deps.clock();
  const expires_at = secondsAfter(now, VISIT_TTL);
  const { handle: state, ...key } = drawHandle(deps.random, expires_at);
  const [nonce, code_verifier] = [deps.random(32).toString('base64url'), deps.random(32).toString('base64url')];
  const { issuer, client_id, upstream } = row;
  const { fresh, max_age, needs_auth_time = false } = wishes;
  const visit: Visit = {
    nonce,
    code_verifier,
    way,
    fresh,
    ...(max_age !== undefined && { max_age }),
    needs_auth_time,
    issuer,
    client_id,
  };
  const url = await deps.upstreams.authorizationUrl(row, callback.href, { state, nonce, code_verifier }, wishes);
  const sealed = sealVisit(deps, key, visit);
  const browser_hash = sha256(browser);
  await requests.insert(deps.db, { ...key, browser_hash, upstream, sealed, created_at: now, expires_at });
  return url;
}

/** Somebody who came back, with where they go on and how. */
export interface Returned {
  way: Way;
  upstream: string;
  label: string;
  /** Nothing where somebody signed in, or was connected. */
  outcome?: UpstreamOutcome | undefined;
  /** Why, for operators. */
  refusal?: OAuthError;
  session?: { handle: string; remaining: readonly LiveSession[] };
}

interface Back {
  upstream: string;
  parameters: Parameters;
  /** The callback's own address, with what came to it. */
  callback: URL;
  browser: string;
  sessions: readonly LiveSession[];
}

/**
 * Takes what came back from a provider: once, in the browser that was sent there, from the provider it was sent to.
 * @throws OAuthError for an error page, where that cannot be told
 */
export async function endVisit(deps: Needs, back: Back, by: Requester): Promise<Returned> {
  const now = deps.clock();
  const state = textOf(back.parameters, 'state') ?? '';
  const key = readHandle(state);
  const browser_hash = sha256(back.browser);
  const visited = key && (await requests.answer(deps.db, key, { upstream: back.upstream, browser_hash }, now));
  if (!visited) throw await unanswerable(deps, key, back.upstream, browser_hash, now);
  const visit = openVisit(deps, visited);
  if (!visit) throw unknownVisit('one that was sealed under a key that is not in SECRET_KEYS');
  const { way } = visit;
  // Decided again: what the operator has changed meanwhile counts, and nobody else is told what was meant for this one.
  const row = await offeredUpstream(deps, back.upstream);
  if (!row || row.issuer !== visit.issuer || row.client_id !== visit.client_id) {
    const refusal = refused('a provider that is offered', 'one that is not, any more, or is another');
    return { way, upstream: back.upstream, label: row?.label ?? back.upstream, outcome: 'gone', refusal };
  }
  const from = { way, upstream: row.upstream, label: row.label };
  let arrival: Arrival & { claims: Record<string, unknown> };
  try {
    arrival = await arrivalOf(deps, row, back.callback, { ...visit, state }, now);
  } catch (error) {
    if (!(error instanceof UpstreamRefusal)) throw error;
    return { ...from, outcome: error.kind, refusal: refused(row.issuer, error.message, error) };
  }
  const signedIn = authTimeOf(arrival.claims, visit, visited.created_at, deps.clock());
  if (!signedIn) return { ...from, outcome: 'stale', refusal: notFresh(arrival) };
  if (way.kind === 'connect') return { ...from, ...(await connectTo(deps, way, arrival, visited, back, by)) };
  return { ...from, ...(await signInAs(deps, arrival, visited, { ...visit, way, ...signedIn }, back, by)) };
}

const CHECK = 'upstream';
const unknownVisit = (received: string): OAuthError =>
  invalidRequest('this sign-in is not known here, or is over', {
    check: 'upstream_state',
    expected: 'the state of a visit that waits, in the browser and from the provider that it began with',
    received,
  });
const refused = (expected: string, received: string, cause?: unknown): OAuthError =>
  new OAuthError('access_denied', 'the provider did not sign the person in', {
    check: CHECK,
    expected,
    received: received.slice(0, 500),
    cause,
  });

const notFresh = ({ claims }: { claims: Record<string, unknown> }): OAuthError =>
  refused('a sign-in that is fresh', `auth_time ${String(claims['auth_time'])}`);

/** Why a visit could not be answered. Reading it changes nothing. */
async function unanswerable(
  { db }: Pick<Needs, 'db'>,
  key: HandleKey | undefined,
  upstream: string,
  browser_hash: Buffer,
  now: Date,
): Promise<OAuthError> {
  const row = key && (await requests.find(db, key));
  if (!row) return unknownVisit('none that there is');
  if (row.upstream !== upstream) return unknownVisit(`that of a visit to ${row.upstream}, answered by ${upstream}`);
  if (!row.browser_hash.equals(browser_hash)) return unknownVisit('that of another browser');
  if (row.answered_at !== null) return unknownVisit('one that was answered already');
  return unknownVisit(row.expires_at <= now ? 'one that has expired' : 'one that was answered at this moment');
}

/** Who came back. @throws UpstreamRefusal */
async function arrivalOf(
  deps: Needs,
  row: upstreams.Upstream,
  callback: URL,
  visit: Visit & { state: string },
  now: Date,
): Promise<Arrival & { claims: Record<string, unknown> }> {
  const { claims, tokens } = await deps.upstreams.redeem(row, callback, visit, now);
  const identity = identityOf(row, claims);
  if (!identity) throw new UpstreamRefusal('unusable', 'its answer names nobody');
  return { row, identity, tokens, claims };
}

/** When somebody signed in, and whether the provider says so. */
interface SignedInThere {
  auth_time: Date;
  auth_time_stated: boolean;
}

/**
 * When they signed in: what the provider says, if it says so, and no later than now. Undefined where they should have done so
 * anew and did not. Times are whole seconds there, so that who signed in on this visit did so now.
 */
function authTimeOf(
  { auth_time }: Record<string, unknown>,
  { fresh, max_age }: Visit,
  began: Date,
  now: Date,
): SignedInThere | undefined {
  if (typeof auth_time !== 'number' || !Number.isSafeInteger(auth_time) || auth_time <= 0) {
    return { auth_time: now, auth_time_stated: false };
  }
  const said = new Date(auth_time * 1000);
  if (said >= secondsAfter(began, -TOLERANCE)) return { auth_time: now, auth_time_stated: true };
  if (fresh || (max_age !== undefined && secondsAfter(said, max_age + TOLERANCE) < now)) return undefined;
  return { auth_time: said, auth_time_stated: true };
}

/** Signs in whoever came back; who is not known here is asked to prove an account first, or turned away. */
async function signInAs(
  deps: Needs,
  arrival: Arrival & { claims: Record<string, unknown> },
  visited: requests.UpstreamRequest,
  {
    way,
    needs_auth_time,
    auth_time,
    auth_time_stated,
  }: SignedInThere & { way: Exclude<Way, { kind: 'connect' }>; needs_auth_time: boolean },
  { browser, sessions }: Back,
  by: Requester,
): Promise<Pick<Returned, 'outcome' | 'session' | 'refusal'>> {
  const { row, identity, claims } = arrival;
  const now = deps.clock();
  const interaction = way.kind === 'interaction' ? readHandle(way.id) : undefined;
  try {
    const person = await personOf(deps, arrival, by, now);
    if (!person) {
      if (!row.linking) return { outcome: 'unknown', refusal: refused('somebody with an account', 'somebody without') };
      const waiting = { issuer: row.issuer, upstream_sub: identity.upstream_sub, name: nameOf(identity), way };
      await transact(deps.db, async (trx) => {
        await requests.keepIdentity(trx, visited, sealWaiting(deps, visited, waiting));
        // Only a sign-in from now on proves an account: whoever is signed in here may be somebody else.
        if (interaction) {
          const { expires_bucket: upstream_bucket, hash: upstream_hash } = visited;
          const asked = { sign_in_after: now, selected_sub: null, consented_sid: null, upstream_bucket, upstream_hash };
          await interactions.record(trx, interaction, asked);
        }
      });
      return { outcome: 'connect' };
    }
    // A provider that does not say when it asked may have asked nobody: whoever can prove it here does.
    if (needs_auth_time && !auth_time_stated && (await canProveHere(deps.db, person.sub))) {
      return { outcome: 'stale', refusal: notFresh(arrival) };
    }
    const { SESSION_TTL } = deps.config;
    const amr = methodsOf(row, claims);
    const { sid: upstream_sid } = claims;
    const { handle, remaining } = await startSession(
      deps,
      { sub: person.sub, amr, acr: levelOf(amr), password_changed_at: null, auth_time, auth_time_stated },
      {
        kind: 'browser',
        ttl: SESSION_TTL,
        browser_sessions: sessions,
        browser: { value: browser, since: now },
        via: `upstream:${row.upstream}`,
        onStart: async (trx, sid) => {
          // The account is held: whoever ends a connection ends the session as well, or is seen here.
          if ((await links.findPerson(trx, keyOf(arrival)))?.sub !== person.sub) throw disconnected(person.sub);
          await upstreamSessions.put(trx, {
            ...keyOf(arrival),
            sub: person.sub,
            expires_bucket: bucketOf(secondsAfter(now, SESSION_TTL)),
            sid,
            upstream_sid: typeof upstream_sid === 'string' ? upstream_sid.slice(0, 255) : null,
          });
        },
      },
      by,
      now,
    );
    if (interaction) await interactions.record(deps.db, interaction, { selected_sub: person.sub });
    return { session: { handle, remaining } };
  } catch (error) {
    if (!(error instanceof OAuthError) || error.failed.check !== 'account') throw error;
    return { outcome: 'disabled', refusal: error };
  }
}

const disconnected = (sub: string): OAuthError =>
  accessDenied('the account cannot sign in', { check: 'account', sub, received: 'a connection that ended meanwhile' });

/** Connects whoever came back with the account that sent them, if that sign-in is still the one here, and owes nothing. */
async function connectTo(
  deps: Needs,
  { sub, sid }: Extract<Way, { kind: 'connect' }>,
  arrival: Arrival,
  { created_at: began }: requests.UpstreamRequest,
  { sessions }: Back,
  by: Requester,
): Promise<Pick<Returned, 'outcome' | 'refusal'>> {
  const now = deps.clock();
  const [session] = sessions;
  // The sign-in was fresh when it began: whoever comes by later finishes nothing of it.
  if (secondsAfter(began, CONNECT_TTL) <= now) {
    const received = `one that began at ${began.toISOString()}`;
    return { outcome: 'gone', refusal: refused(`a visit of at most ${CONNECT_TTL} seconds`, received) };
  }
  // A sign-in by password of somebody who has more carries the same sid on, and opens nothing.
  if (session?.sub !== sub || session.sid !== sid || owedBy(deps.config, session) !== 'nothing') {
    return { outcome: 'gone', refusal: refused('the person who began it', 'somebody else, or nobody, is signed in') };
  }
  const link = { ...keyOf(arrival), name: nameOf(arrival.identity), label: arrival.row.label };
  const done = await transact(deps.db, (trx) => connect(trx, deps, sub, link, by, now));
  return done === 'connected' ? {} : { outcome: 'taken', refusal: refused('somebody who is free', 'another account') };
}

const postedLabel = (upstream: string): string => `what the upstream ${upstream} posted`;
/** Characters that an address may be longer by. */
const MAX_POSTED = 8000;

/** What a provider posted, to be brought back by a GET: sealed, so that none of it stands in an address. @throws OAuthError */
export function sealPosted({ secrets }: Pick<Deps, 'secrets'>, upstream: string, parameters: Parameters): string {
  const sealed = secrets.seal(Buffer.from(JSON.stringify(parameters)), postedLabel(upstream)).toString('base64url');
  if (sealed.length <= MAX_POSTED) return sealed;
  throw invalidRequest('the answer of the provider is too long', {
    check: CHECK,
    expected: `${MAX_POSTED} characters`,
  });
}

/** The same again; undefined for what we did not seal. */
export function openPosted(
  { secrets }: Pick<Deps, 'secrets'>,
  upstream: string,
  sealed: string,
): Parameters | undefined {
  try {
    return JSON.parse(secrets.open(Buffer.from(sealed, 'base64url'), postedLabel(upstream)).toString()) as Parameters;
  } catch {
    return undefined;
  }
}
