/**
 * Sign-ins that look like an attack (ASVS 5.0 V6.3.5): whoever guesses so long that they are slowed down is noted, whether or not there is
 * such an account; a worker looks whose it is, and the person hears of it.
 */
import type { Deps } from '../deps.ts';
import { record, type Requester } from '../events/index.ts';
import type { NoticeName } from '../mail/notices.ts';
import { postNotice } from '../mail/outbox.ts';
import { askForMail, type Answer } from '../mail/requests.ts';
import { DAY, secondsAfter } from '../protocol/numeric-date.ts';
import { usedUp, type Failures, type Lane } from '../protocol/throttle.ts';
import * as failures from '../store/failures.ts';
import * as users from '../store/users.ts';
import type { AnswerNeeds } from './mail-answers.ts';

/** How a request to look at guesses is called among those for mail. */
export const SUSPICION = 'suspicion';

/** What was guessed, with what the log calls that and what the mail says. Codes are worse: who types them knows the password. */
const GUESSED = {
  password: { event: 'passwords_guessed', notice: 'account_suspected' },
  second_factor: { event: 'second_factors_guessed', notice: 'password_suspected' },
} as const satisfies Record<string, { event: string; notice: NoticeName }>;

/** What was guessed: a password, for a name as it was typed, or a second factor, of somebody who is known by their password. */
type Guess = { of: 'password'; name: string } | { of: 'second_factor'; sub: string };

/** Notes a wrong guess, where it was the one that used up what is free. It is the same for a name that nobody has. */
export async function noteGuess(
  deps: Pick<Deps, 'db' | 'secrets' | 'random'>,
  guess: Guess,
  { failed, lanes }: { failed: ReadonlyMap<string, Failures>; lanes: readonly Lane[] },
  { ip, network, request_id }: Requester,
  now: Date,
): Promise<void> {
  if (usedUp(failed, lanes)) await askForMail(deps.db, deps, SUSPICION, { ...guess, ip, network, request_id }, now);
}

/** Records the guesses and tells whose account it is, of each kind once a day. */
export const answerSuspicion: Answer<AnswerNeeds> = async (trx, deps, asked, now) => {
  const { of, name = '', sub: known, ip = '', network = '', request_id = '' } = asked;
  const user = known === undefined ? await users.findByName(trx, name) : await users.find(trx, known);
  if (!user || user.disabled_at !== null || (of !== 'password' && of !== 'second_factor')) return;
  const { sub } = user;
  const { event, notice } = GUESSED[of];
  const once: Lane = { key: `told:${notice}:${sub}`, policy: { free: 1, first: DAY, longest: DAY } };
  const { granted } = await failures.reserve(trx, [once], now, secondsAfter(now, -DAY));
  if (!granted) return;
  await record(trx, { event, sub }, { ip, network, request_id }, now);
  await postNotice(trx, deps, { sub, notice }, now);
};
