/** Who asked for mail by a name, and what they are sent if there is such an account: one row a kind of request. */
import type { Deps } from '../deps.ts';
import { answerAddress } from './email-change.ts';
import { answerReset } from './recovery.ts';
import { answerSignIn } from './email-sign-in.ts';
import { answerSignUp } from './registration.ts';
import { answerSuspicion, SUSPICION } from './suspicion.ts';
import type { Answer } from '../mail/requests.ts';

export type AnswerNeeds = Pick<Deps, 'config' | 'db' | 'secrets' | 'random' | 'clock' | 'log'>;

export const mailAnswers: Readonly<Record<string, Answer<AnswerNeeds>>> = {
  'reset-password': answerReset,
  'sign-up': answerSignUp,
  'sign-in': answerSignIn,
  'change-email': answerAddress,
  [SUSPICION]: answerSuspicion,
};
