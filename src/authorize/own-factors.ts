/** What people do about their own second factors, in order: what is set up is shown at once, and so the session has it. */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import { levelOf } from '../protocol/acr.ts';
import { invalidRequest } from '../protocol/error.ts';
import { keyMethod } from '../protocol/webauthn.ts';
import { elevateSession, UsedBefore, type LiveSession } from '../sessions/index.ts';
import type { Trx } from '../store/postgres/db.ts';
import * as users from '../store/users.ts';
import { addTotp, firstCodes, removeFactor, renewCodes, type NewTotp } from '../users/enrolment.ts';
import { keepNewPasskey, verifyNewPasskey, type Creation } from '../users/passkeys.ts';
import { withSecond, type FactorName } from '../users/factors/index.ts';
import { changeIn, holdStanding, type Standing } from './standing.ts';

type Needs = Pick<Deps, 'clock' | 'config' | 'db' | 'random' | 'secrets'>;

/** What setting up an authenticator app brings: a session that showed it, and recovery codes for who had none. */
export interface SetUp {
  handle: string;
  codes: string[] | undefined;
}

/**
 * Sets an authenticator app up, by a right code of it: which is also the second factor of this session. `fresh`: the sign-in has to
 * be so at this moment, and not only when the secret was shown.
 * @throws SignInOver, OAuthError access_denied when the session ended meanwhile, invalid_request when the person has one by now
 */
export async function setUpTotp(
  deps: Needs,
  session: LiveSession,
  totp: NewTotp,
  { browser, via, fresh }: { browser: string; via: string; fresh: boolean },
  by: Requester,
): Promise<SetUp> {
  const now = deps.clock();
  const hold = (trx: Trx): Promise<unknown> => holdStanding(trx, deps, session, { fresh }, now);
  let added: Awaited<ReturnType<typeof addTotp>>;
  const amr = withSecond(session.amr, ['otp']);
  const claim = async (trx: Trx): Promise<boolean> => {
    added = await addTotp(trx, deps, session.sub, totp, by, now);
    return added !== undefined;
  };
  try {
    const elevation = { amr, acr: levelOf(amr), via, hold, claim };
    const { handle } = await elevateSession(deps, session, elevation, browser, by, now);
    return { handle, codes: added?.codes };
  } catch (error) {
    if (!(error instanceof UsedBefore)) throw error;
    throw invalidRequest('an authenticator app is set up already', { check: 'second_factor', sub: session.sub });
  }
}

/**
 * Sets one up for somebody who came with a token: whatever was given for a password alone ends, that token too, and the next sign-in
 * shows it. Undefined for who has one by now. @throws SignInOver
 */
export const addOwnTotp = (
  deps: Needs,
  standing: Standing,
  totp: NewTotp,
  by: Requester,
  now: Date,
): ReturnType<typeof addTotp> =>
  changeIn(deps, standing, { fresh: true, now }, (trx) => addTotp(trx, deps, standing.sub, totp, by, now));

/**
 * Makes a passkey the second factor of somebody who has none, on the way: it was shown as it was made. Recovery codes come with it, since
 * it is owed from then on. @throws OAuthError as `createPasskey`; access_denied when the session ended meanwhile, invalid_request when the
 * person has a second factor by now, which this session did not show
 */
export async function setUpPasskey(
  deps: Needs,
  session: LiveSession,
  creation: Omit<Creation, 'hold'>,
  { browser, via }: { browser: string; via: string },
  by: Requester,
): Promise<SetUp> {
  const now = deps.clock();
  const verified = await verifyNewPasskey(deps, creation, now);
  const amr = withSecond(session.amr, [keyMethod(verified.made)]);
  // Whoever has a second factor by now owes that one, and this session did not show it.
  const hold = (trx: Trx): Promise<unknown> => holdStanding(trx, deps, session, { fresh: false }, now);
  let codes: string[] | undefined;
  const claim = async (trx: Trx): Promise<boolean> => {
    if ((await users.secondFactorsOfPerson(trx, session.sub)).length > 0) return false;
    await keepNewPasskey(trx, deps, creation, verified, by, now);
    codes = await firstCodes(trx, deps, session.sub, by, now);
    return true;
  };
  try {
    const elevation = { amr, acr: levelOf(amr), via, hold, claim };
    const { handle } = await elevateSession(deps, session, elevation, browser, by, now);
    return { handle, codes };
  } catch (error) {
    if (!(error instanceof UsedBefore)) throw error;
    throw invalidRequest('a second factor is set up already', { check: 'second_factor', sub: session.sub });
  }
}

/** Removes one of somebody's second factors; their other sessions end. False when they did not have it. @throws SignInOver */
export const removeOwnFactor = (
  deps: Needs,
  standing: Standing,
  factor: FactorName,
  by: Requester,
  now: Date,
): Promise<boolean> =>
  changeIn(deps, standing, { fresh: true, now }, (trx) => removeFactor(trx, deps, standing, factor, by, now));

/** Ten new recovery codes, to be shown once. Undefined for somebody who has no second factor to lose. @throws SignInOver */
export const renewOwnCodes = (
  deps: Needs,
  standing: Standing,
  by: Requester,
  now: Date,
): Promise<string[] | undefined> =>
  changeIn(deps, standing, { fresh: true, now }, (trx) => renewCodes(trx, deps, standing.sub, by, now));
