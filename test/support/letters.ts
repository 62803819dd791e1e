/** The mails that an application has in its outbox, as their reader has them. */
import { openMail } from '../../src/mail/deliver.ts';
import { answerMailRequests } from '../../src/mail/requests.ts';
import * as mails from '../../src/store/mails.ts';
import { mailAnswers } from '../../src/users/mail-answers.ts';
import type { TestApp } from './app.ts';

/** A mail, with what people take out of it. */
export interface ALetter {
  to: string;
  template: string;
  subject: string;
  text: string;
  /** The path of its link. */
  link: string;
  /** Six digits; empty where it has none. */
  code: string;
}

/** Lets the worker answer whoever asked for mail, and returns what this address was sent, newest first. */
export async function lettersTo({ deps }: Pick<TestApp, 'deps'>, address: string): Promise<ALetter[]> {
  await answerMailRequests(deps, mailAnswers);
  const sent = (await mails.latest(deps.db, 500)).filter(({ recipient }) => recipient === address);
  return Promise.all(
    sent.map(async (mail) => {
      const opened = await openMail(deps, mail);
      if ('problem' in opened) throw new Error(opened.problem);
      const { subject, text, links } = opened.letter;
      const code = /^\s*(\d{6})\s*$/m.exec(text)?.[1] ?? '';
      return { to: address, template: mail.template, subject, text, link: links[0] ?? '', code };
    }),
  );
}
