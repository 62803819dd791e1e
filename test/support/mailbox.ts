/** The mail of an application under test: what its worker would have sent by now. */
import { answerMailRequests } from '../../src/mail/requests.ts';
import { openMail } from '../../src/mail/deliver.ts';
import type { Letter } from '../../src/mail/render.ts';
import type { TemplateName } from '../../src/mail/templates.ts';
import { mailAnswers } from '../../src/users/mail-answers.ts';
import type { TestApp } from './app.ts';

/** A mail as it would be read. */
export interface ReadMail extends Letter {
  to: string;
  template: TemplateName;
  sub: string | null;
  lang: string;
}

/** Answers who asked for mail, and reads what was posted to an address (to anybody), the latest first. */
export async function mailTo({ deps }: Pick<TestApp, 'deps'>, recipient?: string): Promise<ReadMail[]> {
  await answerMailRequests(deps, mailAnswers);
  const rows = await deps.db.selectFrom('mails').selectAll().orderBy('created_at', 'desc').execute();
  const read: ReadMail[] = [];
  for (const mail of rows) {
    if (recipient !== undefined && mail.recipient !== recipient) continue;
    const opened = await openMail(deps, mail);
    if ('problem' in opened) throw new Error(opened.problem);
    const { recipient: to, template, sub, lang } = mail;
    read.push({ to, template: template as TemplateName, sub, lang, ...opened.letter });
  }
  return read;
}

/** The link of the latest mail of a kind to somebody. */
export async function linkIn(test: Pick<TestApp, 'deps'>, recipient: string, template: TemplateName): Promise<string> {
  const mail = (await mailTo(test, recipient)).find((one) => one.template === template);
  const [link] = mail?.links ?? [];
  if (link === undefined) throw new Error(`no ${template} for ${recipient}`);
  return link;
}
