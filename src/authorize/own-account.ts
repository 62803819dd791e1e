/** What people change of their account itself: the address that it has, and its end. Each in a sign-in that bears it at that moment. */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import { requestDeletion } from '../users/deletion.ts';
import {
  askForAddress,
  confirmAddress,
  confirmAddressByCode,
  type AddressProblem,
  type HeldAccount,
  type TypedCode,
  type WantedAddress,
} from '../users/email-change.ts';
import type * as users from '../store/users.ts';
import type { Trx } from '../store/postgres/db.ts';
import { changeIn, holdStanding, type Standing } from './standing.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'random' | 'secrets'>;

/** The account that a change is about, held in its sign-in by the transaction that makes it. */
const heldIn = (deps: Needs, standing: Standing, fresh: boolean, now: Date): HeldAccount => ({
  sub: standing.sub,
  hold: (trx: Trx) => holdStanding(trx, deps, standing, { fresh }, now),
});

/** Has the account of whoever this sign-in is of erased in a week: everything ends now. @throws SignInOver */
export const requestOwnDeletion = (deps: Needs, standing: Standing, by: Requester, now: Date): Promise<Date> =>
  changeIn(deps, standing, { fresh: true, now }, (trx, user) => requestDeletion(trx, deps, user, by, now));

/** Asks for another address. @throws SignInOver, and as `askForAddress` */
export const askForOwnAddress = (
  deps: Needs,
  standing: Standing,
  user: users.User,
  wanted: WantedAddress,
  by: Requester,
  now: Date,
): Promise<AddressProblem | { request: string }> =>
  askForAddress(deps, heldIn(deps, standing, true, now), user, wanted, by, now);

/**
 * Confirms it by the link of the mail, as the person who asked: whoever else reads the mail would give an address of theirs to somebody
 * else's account. Mail takes its time, so the sign-in need not be fresh. @throws SignInOver
 */
export const confirmOwnAddress = (
  deps: Needs,
  standing: Standing,
  token: string,
  by: Requester,
  now: Date,
): Promise<'done' | 'over'> => confirmAddress(deps, heldIn(deps, standing, false, now), token, by, now);

/** Confirms it by the code of the mail, on the page that asked. @throws SignInOver, OAuthError too_many_requests */
export const confirmOwnAddressByCode = (
  deps: Needs,
  standing: Standing,
  typed: TypedCode,
  by: Requester,
  now: Date,
): Promise<'done' | 'wrong' | 'over'> => confirmAddressByCode(deps, heldIn(deps, standing, false, now), typed, by, now);
