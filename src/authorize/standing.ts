/**
 * In which sign-in people change their own ways in. Between the page, or the token, and the change passes time, and another process may
 * end the sign-in in it: so that is asked again in the transaction of the change, here for all of them.
 */
import type { Deps } from '../deps.ts';
import { OAuthError } from '../protocol/error.ts';
import { isFresh } from '../sessions/index.ts';
import * as grants from '../store/grants.ts';
import { transact, type Trx } from '../store/postgres/db.ts';
import * as sessions from '../store/sessions.ts';
import * as users from '../store/users.ts';
import { owedBy } from '../users/factors/policy.ts';

/** The sign-in in which something is asked for: a browser's session, or that of an access token. */
export interface Standing {
  sub: string;
  sid: string;
  auth_time: Date;
  amr: readonly string[];
  /** False where nobody says when the sign-in was (sessions.ts): then it is never fresh. */
  vouched?: boolean;
  /** The grant of an application's access token: it has to live as well. */
  grant_id?: string | undefined;
}

/** What a sign-in lacks by now: it ended, is older than five minutes, or its person has a second factor that it did not show. */
export type Lack = 'ended' | 'stale' | 'second_factor';

/** The sign-in in which something was asked for does not bear it any more. Nothing was changed. */
export class SignInOver extends OAuthError {
  readonly lack: Lack;
  constructor(lack: Lack, sub: string) {
    super('access_denied', 'the sign-in has ended, or is not enough any more', {
      check: 'standing',
      received: `a sign-in that lacks something meanwhile: ${lack}`,
      sub,
    });
    this.lack = lack;
  }
}

/**
 * Holds the account and all its sessions until the transaction ends: whoever ends this sign-in did so before, or waits. First in its
 * transaction, so that a refusal leaves nothing. `fresh` wants a sign-in that is not older than five minutes.
 * @throws SignInOver
 */
export async function holdStanding(
  trx: Trx,
  { config }: Pick<Deps, 'config'>,
  standing: Standing,
  { fresh }: { fresh: boolean },
  now: Date,
): Promise<users.User> {
  const { sub, sid, amr, grant_id } = standing;
  const user = await users.findLocked(trx, sub);
  await sessions.lockAllOf(trx, sub);
  const session = await sessions.find(trx, sid);
  const grant = grant_id === undefined ? undefined : await grants.find(trx, grant_id);
  const lives =
    session?.sub === sub &&
    session.ended_at === null &&
    session.expires_at > now &&
    (grant_id === undefined || (grant?.sub === sub && grant.revoked_at === null && grant.expires_at > now));
  if (!user || user.disabled_at !== null || !lives) throw new SignInOver('ended', sub);
  if (fresh && !isFresh(standing, now)) throw new SignInOver('stale', sub);
  const second_factors = await users.secondFactorsOfPerson(trx, sub);
  if (owedBy(config, { amr, second_factors }) === 'second_factor') {
    throw new SignInOver('second_factor', sub);
  }
  return user;
}

/** Makes a change in a transaction that holds the sign-in it was asked for in. @throws SignInOver, and what `work` throws */
export const changeIn = <T>(
  deps: Pick<Deps, 'config' | 'db'>,
  standing: Standing,
  { fresh, now }: { fresh: boolean; now: Date },
  work: (trx: Trx, user: users.User) => Promise<T>,
): Promise<T> => transact(deps.db, async (trx) => work(trx, await holdStanding(trx, deps, standing, { fresh }, now)));
