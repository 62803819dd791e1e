/** Whose account a request is about: the person of its access token, by the same rules as on the pages of the account. */
import type { FastifyRequest } from 'fastify';
import type { Deps } from '../../deps.ts';
import type { Explanation } from '../../protocol/error.ts';
import { readHandle } from '../../protocol/handle.ts';
import { listOf } from '../../protocol/redaction.ts';
import { FRESH_FOR, isFresh } from '../../sessions/index.ts';
import * as accessTokens from '../../store/access-tokens.ts';
import * as users from '../../store/users.ts';
import { BUILT_IN_CLIENT } from '../../tokens/login-token.ts';
import { describePresented } from '../../tokens/unverified.ts';
import { verifyAccessToken } from '../../tokens/verify.ts';
import { owedBy } from '../../users/factors/policy.ts';
import { bearerOf, type Challenge } from '../bearer.ts';
import { Challenged } from '../problem.ts';
import type { Operation } from './operation.ts';

/** The person, and the sign-in that their token stands on. */
export interface Owner {
  user: users.User;
  sub: string;
  client_id: string;
  sid: string;
  auth_time: Date;
  amr: readonly string[];
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

/** @throws Problem unauthorized */
export async function requireOwner(
  deps: Deps,
  request: FastifyRequest,
  { fresh = false }: Pick<Operation, 'fresh'>,
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
  if (fresh && !isFresh(owner, now)) throw notFresh(owner);
  return owner;
}

async function findOwner(deps: Deps, request: FastifyRequest, now: Date): Promise<Owner> {
  const presented = bearerOf(request);
  if (presented === undefined) {
    // RFC 6750 §3.1: without any token, no error.
    throw unauthorized('send an access token as Bearer', {}, { check: 'bearer', received: 'none' });
  }
  if (presented === null) {
    const why = { check: 'bearer', received: 'another scheme, or no token after it' } as const;
    throw unauthorized('the Authorization header is not Bearer', { error: 'invalid_request' }, why);
  }
  const refuse = (why: Explanation): Challenged =>
    unauthorized('the access token is not valid here', { error: 'invalid_token' }, why);
  const token = await verifyAccessToken(deps, presented, now);
  if (!token) throw refuse({ check: 'access_token', received: describePresented(presented, now) });
  const { client_id, sub } = token;
  const key = client_id === BUILT_IN_CLIENT ? readHandle(presented) : undefined;
  const signIn = key && (await accessTokens.find(deps.db, key));
  if (!signIn || signIn.sid === null || signIn.auth_time === null) {
    const expected = 'a token of POST /login';
    throw refuse({ check: 'access_token_audience', expected, received: listOf(token.aud), client_id, sub });
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
  const { sid, auth_time, amr } = signIn;
  return { user, sub, client_id, sid, auth_time, amr: amr ?? [], second_factors };
}
