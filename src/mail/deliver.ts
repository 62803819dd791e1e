/** Sending what is in the outbox: one attempt each, and what follows from it. */
import type { Deps } from '../deps.ts';
import { isMailable } from '../protocol/mailbox.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import * as mails from '../store/mails.ts';
import * as themes from '../store/themes.ts';
import { languageOf } from './language.ts';
import { isMailShown, labelOf } from './outbox.ts';
import { render, type Letter } from './render.ts';
import { isTemplate, type MailProps } from './templates.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'secrets' | 'mailer' | 'log' | 'metrics' | 'clock'>;

/** Seconds a process has for a mail before others may take it over: longer than any mail server may take to answer. */
const LEASE = 120;
/** Attempts until a mail is put aside. The last comes some four hours after the first. */
const ATTEMPTS = 12;
/** Mails under way at once, in one process. */
const LANES = 5;
/** How many the doctor opens. */
const LOOKED_AT = 100;
const FIRST_RETRY = 10;
const LONGEST_RETRY = 3600;

/** Seconds until the next try: 20, 40, 80, … */
const backOff = (attempts: number): number => Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** attempts);

/** Sends everything that is due. Returns how many were taken. Where nobody would read or take it, it stays. */
export async function deliverMails(deps: Needs): Promise<number> {
  if (!deps.mailer && !isMailShown(deps.config)) return 0;
  let taken = 0;
  // A server that is away is away for the next one as well: what is due waits for the next turn.
  let unreachable = false;
  const lane = async (): Promise<void> => {
    while (!unreachable) {
      const now = deps.clock();
      const mail = await mails.take(deps.db, secondsAfter(now, LEASE), now);
      if (!mail) return;
      taken += 1;
      const outcome = await deliver(deps, mail, deps.clock());
      if (outcome === 'unreachable') unreachable = true;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return taken;
}

/** A mail that can be read, or why it cannot. */
type Opened = { letter: Letter } | { problem: string; hopeless: boolean };

/** Opens what a mail says and writes it out. Throws only where the database is away. */
export async function openMail(
  { config, db, secrets }: Pick<Needs, 'config' | 'db' | 'secrets'>,
  mail: mails.Mail,
): Promise<Opened> {
  const { template, sealed, mail_id, lang } = mail;
  if (!isTemplate(template)) return { problem: `a newer version posted it: ${template}`, hopeless: false };
  if (sealed === null) return { problem: 'it says nothing any more', hopeless: true };
  let props: MailProps;
  try {
    props = JSON.parse(secrets.open(sealed, labelOf(mail_id)).toString()) as MailProps;
  } catch {
    return { problem: 'it was sealed under a key that is not in SECRET_KEYS', hopeless: true };
  }
  // Outside: where the database is away, that is no fault of the template.
  const product = (await themes.find(db, null))?.name ?? undefined;
  try {
    return { letter: await render(config, template, languageOf(lang), { ...props, product }) };
  } catch (error) {
    return { problem: `its template: ${(error as Error).message}`, hopeless: false };
  }
}

async function deliver(deps: Needs, mail: mails.Mail, now: Date): Promise<'unreachable' | undefined> {
  if (mail.until <= now) {
    // Its link leads nowhere any more: nobody is to have it, and an operator cannot send it either.
    await end(deps, mail, { problem: 'it could not be sent in time', sealed: null }, now);
    return undefined;
  }
  const opened = isMailable(mail.recipient)
    ? await openMail(deps, mail)
    : { problem: 'its recipient is no address that mail can be sent to', hopeless: true };
  if ('problem' in opened) {
    if (opened.hopeless) await end(deps, mail, opened, now);
    else await tryLater(deps, mail, opened.problem, now);
    return undefined;
  }
  try {
    await handOver(deps, mail, opened.letter);
  } catch (error) {
    const { message, permanent, unreachable } = error as Error & { permanent?: boolean; unreachable?: boolean };
    if (permanent === true) await end(deps, mail, { problem: message }, now);
    else await tryLater(deps, mail, message, now);
    return unreachable === true ? 'unreachable' : undefined;
  }
  // In development it can still be read.
  const erased = isMailShown(deps.config) ? {} : { sealed: null };
  await mails.settle(deps.db, mail, { state: 'sent', next_at: now, last_failure: null, done_at: now, ...erased });
  deps.metrics.mailed('sent');
  return undefined;
}

/** To the mail server, if there is one; in development to the log as well. */
async function handOver({ config, mailer, log }: Needs, mail: mails.Mail, letter: Letter): Promise<void> {
  const { subject, text, html, links } = letter;
  const message_id = `<${mail.mail_id}@${new URL(config.ISSUER).hostname}>`;
  await mailer?.send({ message_id, to: mail.recipient, subject, text, html });
  if (config.mode !== 'dev') return;
  log.info({ event: 'mail', to: mail.recipient, subject }, ['mail:', subject, ...links].join(' '));
}

async function tryLater(deps: Needs, mail: mails.Mail, problem: string, now: Date): Promise<void> {
  const next_at = secondsAfter(now, backOff(mail.attempts));
  if (mail.attempts >= ATTEMPTS || next_at >= mail.until) return end(deps, mail, { problem }, now);
  await mails.settle(deps.db, mail, { state: 'waiting', next_at, last_failure: problem, done_at: null });
  deps.metrics.mailed('postponed');
  deps.log.warn(
    { mail_id: mail.mail_id, template: mail.template, attempts: mail.attempts, problem },
    'a mail has to wait',
  );
}

async function end(deps: Needs, mail: mails.Mail, given: { problem: string; sealed?: null }, now: Date): Promise<void> {
  const { problem, sealed } = given;
  const erased = sealed === null && { sealed };
  await mails.settle(deps.db, mail, { state: 'dead', next_at: now, last_failure: problem, done_at: now, ...erased });
  deps.metrics.mailed('dead');
  const { mail_id, template, attempts } = mail;
  deps.log.warn({ mail_id, template, attempts, problem }, 'a mail was given up: see `postern mail list`');
}

/** How many of the first that wait cannot be opened with the keys there are. */
export async function unreadableMails({ db, secrets }: Pick<Needs, 'db' | 'secrets'>): Promise<number> {
  const waiting = await mails.firstWaiting(db, LOOKED_AT);
  return waiting.filter(({ sealed, mail_id }) => {
    try {
      if (sealed !== null) secrets.open(sealed, labelOf(mail_id));
      return false;
    } catch {
      return true;
    }
  }).length;
}
