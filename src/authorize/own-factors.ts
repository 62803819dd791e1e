/** What people do about their own second factors, in order: what is set up is shown at once, and so the session has it. */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import { levelOf } from '../protocol/acr.ts';
import { invalidRequest } from '../protocol/error.ts';
import { elevateSession, UsedBefore, type LiveSession } from '../sessions/index.ts';
import { transact, type Trx } from '../store/postgres/db.ts';
import { addTotp, removeFactor, renewCodes, type NewTotp } from '../users/enrolment.ts';
import { withSecond, type FactorName } from '../users/factors/index.ts';

type Needs = Pick<Deps, 'clock' | 'config' | 'db' | 'random' | 'secrets'>;

/** What setting up an authenticator app brings: a session that showed it, and recovery codes for who had none. */
export interface SetUp {
  handle: string;
  codes: string[] | undefined;
}

/**
 * Sets an authenticator app up, by a right code of it: which is also the second factor of this session.
 * @throws OAuthError access_denied when the session ended meanwhile, invalid_request when the person has one by now
 */
export async function setUpTotp(
  deps: Needs,
  session: LiveSession,
  totp: NewTotp,
  { browser, via }: { browser: string; via: string },
  by: Requester,
): Promise<SetUp> {
  let added: Awaited<ReturnType<typeof addTotp>>;
  const amr = withSecond(session.amr, ['otp']);
  const claim = async (trx: Trx, now: Date): Promise<boolean> => {
    added = await addTotp(trx, deps, session.sub, totp, by, now);
    return added !== undefined;
  };
  try {
    const { handle } = await elevateSession(
      deps,
      session,
      { amr, acr: levelOf(amr), via, claim },
      browser,
      by,
      deps.clock(),
    );
    return { handle, codes: added?.codes };
  } catch (error) {
    if (!(error instanceof UsedBefore)) throw error;
    throw invalidRequest('an authenticator app is set up already', { check: 'second_factor', sub: session.sub });
  }
}

/** Removes one of somebody's second factors; their other sessions end. False when they did not have it. */
export const removeOwnFactor = (
  deps: Needs,
  session: LiveSession,
  factor: FactorName,
  by: Requester,
  now: Date,
): Promise<boolean> => transact(deps.db, (trx) => removeFactor(trx, deps, session, factor, by, now));

/** Ten new recovery codes, to be shown once. Undefined for somebody who has no second factor to lose. */
export const renewOwnCodes = (
  deps: Needs,
  { sub }: LiveSession,
  by: Requester,
  now: Date,
): Promise<string[] | undefined> => transact(deps.db, (trx) => renewCodes(trx, deps, sub, by, now));
