/** The change of one's own password: by the present one, or by a passkey that was just used; and what ends with it. */
import type { Deps } from '../deps.ts';
import { record, type Requester } from '../events/index.ts';
import { postNotice } from '../mail/outbox.ts';
import { OAuthError } from '../protocol/error.ts';
import { isFresh } from '../sessions/index.ts';
import { endOtherSessions } from '../sessions/of-person.ts';
import * as grants from '../store/grants.ts';
import * as users from '../store/users.ts';
import { hashPassword } from '../users/accounts.ts';
import { owesPassword } from '../users/drawn-password.ts';
import { verdictOn, type Verdict } from '../users/factors/verdict.ts';
import { voidLinks } from '../users/links.ts';
import { signIn } from '../users/sign-in.ts';
import { changeIn, type Standing } from './standing.ts';

type Needs = Pick<Deps, 'clock' | 'config' | 'db' | 'log' | 'passwords' | 'random' | 'secrets'>;

/** What a change asks for. */
export interface PasswordChange {
  /** Undefined where it is not asked for. */
  current: string | undefined;
  password: string;
  end_others: boolean;
  /** The device cookie: a browser that is known is throttled by itself. */
  device: string | undefined;
}

export type ChangeOutcome = 'done' | 'wrong_current' | 'stale' | 'meanwhile' | Verdict;

const PASSKEY = new Set(['hwk', 'swk']);

/** What somebody has to show before their password is changed. */
export interface Proof {
  has_password: boolean;
  /** It was drawn for them, and they signed in with it. */
  drawn: boolean;
  /** The present password; else a sign-in of just now, which was by passkey where there is a password. */
  asks_current: boolean;
}

export async function proofFor({ db }: Pick<Deps, 'db'>, session: Standing, now: Date): Promise<Proof> {
  const has_password = (await users.passwordChangedAt(db, session.sub)) !== undefined;
  const drawn = owesPassword({ amr: session.amr, password_drawn: await users.isPasswordDrawn(db, session.sub) });
  // Whoever has just typed a password that ends with this sign-in does not type it again.
  const proven = isFresh(session, now) && (drawn || session.amr.some((method) => PASSKEY.has(method)));
  return { has_password, drawn, asks_current: has_password && !proven };
}

/**
 * Changes or sets the password of whoever is signed in. Of their grants those without offline_access end, those of this session too;
 * other sessions do unless they want to keep them. They are told by mail.
 * @throws OAuthError too_many_requests, temporarily_unavailable; SignInOver
 */
export async function changeOwnPassword(
  deps: Needs,
  session: Standing,
  user: users.User,
  { current, password, end_others, device }: PasswordChange,
  by: Requester,
): Promise<ChangeOutcome> {
  const { sub } = session;
  const now = deps.clock();
  const { has_password, asks_current, drawn } = await proofFor(deps, session, now);
  if (!has_password && !isFresh(session, now)) return 'stale';
  const before = await users.passwordHashOf(deps.db, sub);
  // As a sign-in is: whoever sits at somebody's open session may not guess here without end either.
  if (asks_current && !(await isPresent(deps, user, current ?? '', device, by))) return 'wrong_current';
  const verdict = await verdictOn(deps, password, user);
  if (verdict.refusal !== undefined) return verdict;
  // What was drawn is not to stay (ASVS 5.0 V6.4.1).
  if (drawn && before && (await deps.passwords.turn(() => deps.passwords.verify(before, password)))) {
    return { ...verdict, refusal: 'drawn' };
  }
  const phc = await hashPassword(deps, password);
  // What stood in for the present password has to be fresh still.
  return changeIn(deps, session, { fresh: !asks_current, now: deps.clock() }, async (trx) => {
    // Of two who change it at once one does: the other knew a password that is none any more.
    if ((await users.passwordHashOf(trx, sub)) !== before) return 'meanwhile';
    const at = deps.clock();
    await users.setPassword(trx, sub, phc, at);
    // Somebody may have asked for a way past the password of before.
    await voidLinks(trx, sub, at, ['reset-password', 'sign-in', 'change-email']);
    if (end_others) await endOtherSessions(trx, session, by, at);
    await grants.revokeOfSessions(trx, { sub }, 'password_change', at);
    await record(trx, { event: 'password_changed', sub }, by, at);
    await postNotice(trx, deps, { sub, notice: 'password_changed' }, at);
    return 'done';
  });
}

async function isPresent(
  deps: Needs,
  { sub, username }: users.User,
  password: string,
  device: string | undefined,
  by: Requester,
): Promise<boolean> {
  try {
    return (await signIn(deps, { username, password, device }, by)).sub === sub;
  } catch (error) {
    if (error instanceof OAuthError && error.error === 'invalid_credentials') return false;
    throw error;
  }
}
