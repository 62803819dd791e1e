/** The outbox: whoever does something posts its mail in the same transaction, and a worker sends it after the commit. */
import type { Deps } from '../deps.ts';
import { drawId } from '../protocol/handle.ts';
import { DAY, secondsAfter } from '../protocol/numeric-date.ts';
import { typedName } from '../protocol/names.ts';
import { isLoopbackHost } from '../protocol/redirect-uri.ts';
import type { Trx } from '../store/postgres/db.ts';
import * as mails from '../store/mails.ts';
import * as users from '../store/users.ts';
import { languageOf } from './language.ts';
import type { Language } from '../languages/index.ts';
import type { NoticeName } from './notices.ts';
import type { MailProps, TemplateName } from './templates.ts';

/** Seconds for which it is known that a mail was sent, and those that were given up are kept. */
const KEPT = 14 * DAY;
/** Seconds after which news are none. */
const NEWS = 3 * DAY;

type Needs = Pick<Deps, 'config' | 'secrets' | 'random'>;
type Where = Pick<Deps['config'], 'mode' | 'ISSUER' | 'SMTP_URL'>;

/**
 * Development needs no mail server: every mail is in the log and at /dev/mail. A command works for the server that its issuer
 * tells of.
 */
export const isMailShown = ({ mode, ISSUER }: Where): boolean =>
  mode === 'dev' || (mode === 'command' && isLoopbackHost(new URL(ISSUER).hostname));

/** Can people be reached by mail? Where not, whatever needs it is off. */
export const isMailOn = (config: Where): boolean => config.SMTP_URL !== undefined || isMailShown(config);

/** A mail to be posted. */
export interface NewMail {
  template: TemplateName;
  to: string;
  /** Whose account it is about, if it is about one. */
  sub?: string | undefined;
  lang: Language;
  props: MailProps;
  /** When its link ends; without one it is news, and of use for some days. */
  until?: Date | undefined;
}

/** What the sealed contents of a mail are bound to. */
export const labelOf = (mail_id: string): string => `mail ${mail_id}`;

/** Posts a mail: it is sent once the transaction is committed. False where there is no mail. */
export async function postMail(
  trx: Trx,
  { config, secrets, random }: Needs,
  { template, to, sub, lang, props, until }: NewMail,
  now: Date,
): Promise<boolean> {
  // A command that was given no key can do without mail.
  if (!isMailOn(config) || config.SECRET_KEYS.length === 0) return false;
  const expires_at = secondsAfter(now, KEPT);
  const mail_id = drawId(random, expires_at);
  await mails.insert(trx, {
    expires_bucket: Math.floor(expires_at.getTime() / (DAY * 1000)),
    mail_id,
    template,
    recipient: to,
    sub: sub ?? null,
    lang,
    sealed: secrets.seal(Buffer.from(JSON.stringify(props)), labelOf(mail_id)),
    next_at: now,
    until: until ?? secondsAfter(now, NEWS),
    created_at: now,
  });
  return true;
}

/** Whom a mail is about, as it addresses them. */
export const addressed = (user: Pick<users.User, 'sub' | 'username' | 'email' | 'claims'>) => ({
  sub: user.sub,
  lang: languageOf(user.claims['locale']),
  props: { person: personOf(user), username: typedName(user) },
});

const personOf = ({ claims }: Pick<users.User, 'claims'>): string | undefined => {
  const name = claims['given_name'] ?? claims['name'];
  return typeof name === 'string' ? name : undefined;
};

/**
 * Tells a person by mail what happened to their account: for whoever changes a factor, in the same transaction. `name` is what it
 * happened to. `to` is another address than that of the account. False where there is no address, or no mail.
 */
export async function postNotice(
  trx: Trx,
  deps: Needs,
  { sub, notice, name, to }: { sub: string; notice: NoticeName; name?: string | undefined; to?: string | undefined },
  now: Date,
): Promise<boolean> {
  if (!isMailOn(deps.config)) return false;
  const user = await users.find(trx, sub);
  return user ? postNoticeTo(trx, deps, user, { notice, name, to }, now) : false;
}

/** The same, of a person in hand: also of one whose account is gone. */
async function postNoticeTo(
  trx: Trx,
  deps: Needs,
  user: Pick<users.User, 'sub' | 'username' | 'claims' | 'email'>,
  { notice, name, to }: { notice: NoticeName; name?: string | undefined; to?: string | undefined },
  now: Date,
): Promise<boolean> {
  const recipient = to ?? user.email;
  if (recipient === null) return false;
  const { props, ...whom } = addressed(user);
  const told = { ...props, notice, name, at: now.toISOString() };
  return postMail(trx, deps, { template: 'notice', to: recipient, ...whom, props: told }, now);
}
