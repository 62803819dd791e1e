/** Sign-out that a provider tells of (OpenID Connect Back-Channel Logout 1.0): our sessions that came from there end. */
import { decodeJwt, jwtVerify } from 'jose';
import type { Deps } from '../deps.ts';
import { record, type Actor } from '../events/index.ts';
import { invalidRequest, type OAuthError } from '../protocol/error.ts';
import { ASSERTION_ALGS, joseProblem } from '../protocol/jwt-assertion.ts';
import { numericDate } from '../protocol/numeric-date.ts';
import { checkLogoutToken, isLogoutTyp, type LogoutClaims } from '../protocol/upstream-logout.ts';
import { endSessionOf } from '../sessions/index.ts';
import { transact } from '../store/postgres/db.ts';
import * as replays from '../store/replays.ts';
import * as upstreamSessions from '../store/upstream-sessions.ts';
import type { Upstream } from '../store/upstreams.ts';
import { UpstreamRefusal } from '../users/upstream/refusal.ts';
import { offeredUpstream } from './upstream.ts';

type Needs = Pick<Deps, 'clientKeys' | 'db' | 'upstreams'>;

/**
 * Ends what a logout token of this provider names, as by a sign-out: with the grants, and the applications are told.
 * @throws OAuthError invalid_request for any other, and for one that came before: nothing has ended then
 */
export async function signOutFromUpstream(
  deps: Needs,
  name: string,
  logout_token: string,
  by: Actor,
  now: Date,
): Promise<void> {
  const row = await offeredUpstream(deps, name);
  if (!row) throw refused('there is no such provider');
  const claims = await claimsOf(deps, row, logout_token, now);
  if (typeof claims === 'string') throw refused(claims);
  const { jti, until, ...whom } = claims;
  await transact(deps.db, async (trx) => {
    // With what it ends, so that one which failed may come again.
    if (!(await replays.claim(trx, `logout_token ${JSON.stringify([row.issuer, jti])}`, new Date(until * 1000)))) {
      throw refused('it was used before');
    }
    const sessions = await upstreamSessions.named(trx, row, whom);
    const ended: typeof sessions = [];
    for (const session of sessions) {
      if (await endSessionOf(trx, session.sid, { sub: session.sub }, by, now)) ended.push(session);
    }
    for (const sub of new Set(ended.map((session) => session.sub))) {
      const sessions_ended = ended.filter((session) => session.sub === sub).length;
      await record(trx, { event: 'upstream_signed_out', sub, detail: { upstream: name, sessions_ended } }, by, now);
    }
  });
}

/** What a token says, once it is proven; or why it is not. */
async function claimsOf(
  { clientKeys, upstreams }: Needs,
  row: Upstream,
  logout_token: string,
  now: Date,
): Promise<LogoutClaims | string> {
  const expected = { issuer: row.issuer, client_id: row.client_id, now: numericDate(now) };
  try {
    // Unproven yet: strangers with anything at all do not make us ask the provider for its keys.
    const unproven = checkLogoutToken(decodeJwt(logout_token), expected);
    if (typeof unproven === 'string') return unproven;
    if (row.kind !== 'oidc') return 'the provider signs nothing';
    const { jwks_uri, trusted, algs } = await upstreams.jwksUri(row);
    const keys = clientKeys.keysOf({ jwks: null, jwks_uri, registered_by: trusted ? 'operator' : 'self' });
    const { payload, protectedHeader } = await jwtVerify(logout_token, keys, {
      algorithms: ASSERTION_ALGS.filter((alg) => algs.includes(alg)),
      // Times are checked with the rest, by our own leeway.
      clockTolerance: Number.MAX_SAFE_INTEGER,
      currentDate: now,
    });
    const { typ } = protectedHeader;
    if (!isLogoutTyp(typ, row.untyped_logout_tokens)) {
      return `typ ${typ} is not logout+jwt, and the provider has no untyped_logout_tokens`;
    }
    return checkLogoutToken(payload, expected);
  } catch (error) {
    return error instanceof UpstreamRefusal ? error.message : joseProblem(error);
  }
}

/** §2.8: 400, whatever it is. */
const refused = (received: string): OAuthError =>
  invalidRequest('the logout token was not accepted', {
    check: 'upstream_logout',
    expected: 'a logout token of a provider that is offered, which was not used before',
    received: received.slice(0, 500),
  });
