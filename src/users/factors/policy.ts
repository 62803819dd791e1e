/**
 * What a sign-in still owes before it opens anything: the one place that decides it, for every door. A session of somebody who has a
 * second factor, and showed only the first, is a sign-in under way: it can be finished and ended, and nothing else.
 */
import type { Config } from '../../config.ts';
import { levelOf } from '../../protocol/acr.ts';

type Policy = Pick<Config, 'SECOND_FACTOR'>;

/** A sign-in, and the second factors that its person has. */
export interface SignInSoFar {
  amr: readonly string[];
  second_factors: readonly string[];
}

/** Nothing; a second factor that the person has; or one that they have yet to set up. */
export type Owed = 'nothing' | 'second_factor' | 'enrolment';

/**
 * Second factors that nobody is asked for merely because they have them. A passkey is a way to sign in of its own: making one closes no
 * other, since it may be lost and nothing was kept for that day. Where a second factor is asked for, it is one.
 */
const UNASKED: readonly string[] = ['passkey'];

/** What a sign-in owes, to this server, or to a client that requires more. */
export function owedBy(
  { SECOND_FACTOR }: Policy,
  { amr, second_factors }: SignInSoFar,
  client?: { require_second_factor: boolean },
): Owed {
  if (levelOf(amr) === '2') return 'nothing';
  const required = SECOND_FACTOR === 'required' || client?.require_second_factor === true;
  if (SECOND_FACTOR === 'off' && !required) return 'nothing';
  if (second_factors.some((name) => required || !UNASKED.includes(name))) return 'second_factor';
  return required ? 'enrolment' : 'nothing';
}

/** Are people asked for second factors here, and may they have any? */
export const areAsked = ({ SECOND_FACTOR }: Policy): boolean => SECOND_FACTOR !== 'off';
