/** Answers who asked for mail, and sends what is in the outbox. */
import type { Deps } from '../deps.ts';
import { deliverMails } from '../mail/deliver.ts';
import { answerMailRequests } from '../mail/requests.ts';
import { mailAnswers } from '../users/mail-answers.ts';
import type { Worker } from './worker.ts';

type Needs = Parameters<typeof deliverMails>[0] & Pick<Deps, 'random'>;

export const sendMail = (deps: Needs): Worker => ({
  where: 'once',
  every: 5,
  // Whoever asked for it looks into their mailbox next.
  after: 'mails',
  async run() {
    await answerMailRequests(deps, mailAnswers);
    await deliverMails(deps);
  },
});
