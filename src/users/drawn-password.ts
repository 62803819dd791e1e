/**
 * Passwords that nobody chose: an operator has one drawn, and hands it on. It is good for a first sign-in, which goes no further before
 * its person has chosen one of their own, and for some days (ASVS 5.0 V6.4.1).
 */
import { DAY, secondsAfter } from '../protocol/numeric-date.ts';

/** Seconds for which one can be used. */
const DRAWN_FOR = 3 * DAY;

/** When one that was drawn then ends. */
export const endOfDrawn = (changed_at: Date): Date => secondsAfter(changed_at, DRAWN_FOR);

/** A sign-in, and whether the password that the account has now was drawn. */
interface SignInWithPassword {
  amr: readonly string[];
  password_drawn: boolean;
}

/** Does somebody who signed in with it have to choose another before anything else? */
export const owesPassword = ({ amr, password_drawn }: SignInWithPassword): boolean =>
  password_drawn && amr.includes('pwd');
