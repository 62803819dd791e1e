/** Whose account a request is about: the person of its access token, by the same rules as on the pages of the account. */
import type { FastifyRequest } from 'fastify';
import { Problem } from '../../admin/index.ts';
import type { SignInOver } from '../../authorize/standing.ts';
import type { Deps } from '../../deps.ts';
import { ACCOUNT_SCOPE, accountApiOf, isAccountApi } from '../../protocol/account-api.ts';
import type { Explanation } from '../../protocol/error.ts';
import { readHandle } from '../../protocol/handle.ts';
import { listOf } from '../../protocol/redaction.ts';
import { FRESH_FOR, isFresh } from '../../sessions/index.ts';
import * as accessTokens from '../../store/access-tokens.ts';
import * as grants from '../../store/grants.ts';
import * as sessions from '../../store/sessions.ts';
import * as users from '../../store/users.ts';
import { BUILT_IN_CLIENT } from '../../tokens/login-token.ts';
import { describePresented } from '../../tokens/unverified.ts';
import type { PresentedToken } from '../../tokens/presented-token.ts';
import { verifyPresented } from '../../tokens/verify.ts';
import { owedBy } from '../../users/factors/policy.ts';
import { presentationOf, type Challenge } from '../bearer.ts';
import { Challenged } from '../problem.ts';
import type { Operation } from './operation.ts';

/** The person, and the sign-in that their token stands on. */
export interface Owner {
  user: users.User;
  sub: string;
  client_id: string;
  /** Of an application's access token. */
  grant_id?: string | undefined;
  /** Is it a program of the service itself: by POST /login, or an application that needs no consent? */
  trusted: boolean;
  sid: string;
  auth_time: Date;
  amr: readonly string[];
  /** False where nobody says when the sign-in was: then it is never fresh. */
  vouched?: boolean;
  /** Does the session live? A grant with offline_access outlives it. */
  signed_in: boolean;
  second_factors: string[];
}

/** Who was found to ask; undefined before that. */
export const ownerOf = (request: FastifyRequest): Owner | undefined =>
  (request as { owner?: Owner | null }).owner ?? undefined;

const unauthorized = (detail: string, challenge: Challenge, why: Explanation): Challenged =>
  new Challenged('unauthorized', detail, challenge, why);

/** What a sign-in lacks (RFC 9470 §3): whoever brings it comes back with another token. */
const tooLittle = (detail: string, wanted: Challenge, why: Explanation): Challenged =>
  unauthorized(detail, { error: 'insufficient_user_authentication', error_description: detail, ...wanted }, why);

/** The refusal of a sign-in that is too old for what was asked. */
export function notFresh({ auth_time, sub, client_id }: Omit<Owner, 'user'>): Challenged {
  const why = { check: 'max_age', expected: `${FRESH_FOR} seconds`, received: auth_time.toISOString() } as const;
  const detail = 'a sign-in of the last five minutes is needed';
  return tooLittle(detail, { max_age: String(FRESH_FOR) }, { ...why, sub, client_id });
}

/** What a sign-in that is over by the moment of the change is answered with: as it would have been before. */
export function answerOver({ lack, explanation }: SignInOver, owner: Owner): Challenged {
  if (lack === 'stale') return notFresh(owner);
  if (lack === 'second_factor') return tooLittle('a second factor is needed', { acr_values: '2' }, explanation);
  return unauthorized('the access token is not valid here', { error: 'invalid_token' }, explanation);
}

/** @throws Problem unauthorized or forbidden */
export async function requireOwner(
  deps: Deps,
  request: FastifyRequest,
  { fresh = false, trusted = false }: Pick<Operation, 'fresh' | 'trusted'>,
): Promise<Owner> {
  const now = deps.clock();
  const owner = await findOwner(deps, request, now);
  const { sub, client_id, amr, second_factors } = owner;
  // A password alone opens nothing of somebody who has more.
  if (owedBy(deps.config, owner) !== 'nothing') {
    const why = { check: 'second_factor_missing', received: listOf(amr), sub, client_id } as const;
    const expected = second_factors.length > 0 ? listOf(second_factors) : 'a second factor';
    throw tooLittle('a second factor is needed', { acr_values: '2' }, { ...why, expected });
  }
  if (trusted && !owner.trusted) {
    const why = { check: 'access_token_scope', expected: 'a program of the service itself', sub, client_id } as const;
    throw new Problem('forbidden', 'applications of others do not do this: the pages of the account do', why);
  }
  if (fresh && !(isFresh(owner, now) && owner.signed_in)) throw notFresh(owner);
  return owner;
}

async function findOwner(deps: Deps, request: FastifyRequest, now: Date): Promise<Owner> {
  const presented = presentationOf(deps, request);
  if (presented === undefined) {
    // RFC 6750 §3.1: without any token, no error.
    throw unauthorized('send an access token as Bearer or DPoP', {}, { check: 'bearer', received: 'none' });
  }
  if (presented === null) {
    const why = { check: 'bearer', received: 'another scheme, or no token after it' } as const;
    throw unauthorized('the Authorization header is not Bearer or DPoP', { error: 'invalid_request' }, why);
  }
  const refuse = (why: Explanation): Challenged =>
    unauthorized('the access token is not valid here', { error: 'invalid_token' }, why);
  const token = await verifyPresented(deps, presented, now);
  if (!token) throw refuse({ check: 'access_token', received: describePresented(presented.access_token, now) });
  const { client_id, sub } = token;
  const signIn =
    client_id === BUILT_IN_CLIENT ? await byLogin(deps, presented.access_token) : await byGrant(deps, token, now);
  if (!signIn) {
    const expected = `a token of POST /login, or one with resource=${accountApiOf(deps.config.ISSUER)} alone`;
    throw refuse({ check: 'access_token_audience', expected, received: listOf(token.aud), client_id, sub });
  }
  // RFC 6750 §3.1.
  if (client_id !== BUILT_IN_CLIENT && !token.scope.includes(ACCOUNT_SCOPE)) {
    const detail = `the access token lacks ${ACCOUNT_SCOPE}`;
    const why = { check: 'access_token_scope', expected: ACCOUNT_SCOPE, received: listOf(token.scope), client_id, sub };
    throw new Challenged(
      'forbidden',
      detail,
      { error: 'insufficient_scope', scope: ACCOUNT_SCOPE },
      why as Explanation,
    );
  }
  const [user, second_factors] = await Promise.all([
    users.find(deps.db, sub),
    users.secondFactorsOfPerson(deps.db, sub),
  ]);
  // All access ended with either of these, at this moment.
  if (!user || user.disabled_at !== null || user.erase_after !== null) {
    const received = 'the token of an account that is disabled, or waits to be erased';
    throw refuse({ check: 'access_token', received, client_id, sub });
  }
  return { user, sub, client_id, ...signIn, second_factors };
}

type SignIn = Pick<Owner, 'sid' | 'auth_time' | 'amr' | 'grant_id' | 'trusted' | 'signed_in' | 'vouched'>;

/** What a token of POST /login stands on: it lives as long as its session. */
async function byLogin({ db }: Pick<Deps, 'db'>, presented: string): Promise<SignIn | undefined> {
  const key = readHandle(presented);
  const row = key && (await accessTokens.find(db, key));
  if (!row || row.sid === null || row.auth_time === null) return undefined;
  const { sid, auth_time, amr } = row;
  return { sid, auth_time, amr: amr ?? [], trusted: true, signed_in: true };
}

/** What the token of an application stands on, which is for this API alone: one that others are sent too would let each act here. */
async function byGrant(
  { config, db, directory }: Deps,
  { client_id, gid, aud }: PresentedToken,
  now: Date,
): Promise<SignIn | undefined> {
  if (gid === undefined || !isAccountApi(aud, config.ISSUER)) return undefined;
  const [grant, client] = await Promise.all([grants.find(db, gid), directory.client(client_id)]);
  if (!grant || !client) return undefined;
  const { sid, auth_time, amr } = grant;
  const session = await sessions.find(db, sid);
  const signed_in = session !== undefined && session.ended_at === null && session.expires_at > now;
  // Its auth_time is that of the session, of which nobody may say when it was.
  const vouched = await sessions.isVouched(db, sid);
  return { grant_id: gid, sid, auth_time, amr, signed_in, vouched, trusted: client.skip_consent };
}
