/**
 * A forgotten password: whoever asks is answered without a look at the accounts; a link goes to the address that the account
 * has; behind it a new password is set, and nothing else. It signs nobody in: whatever a sign-in asks for is asked next.
 */
import type { Deps } from '../deps.ts';
import { record, type Requester } from '../events/index.ts';
import { addressed, postMail } from '../mail/outbox.ts';
import { askForMail, type Answer } from '../mail/requests.ts';
import { languageOf } from '../mail/language.ts';
import { pages } from '../protocol/endpoint.ts';
import { readHandle } from '../protocol/handle.ts';
import { transact, type Db } from '../store/postgres/db.ts';
import * as users from '../store/users.ts';
import { hashPassword, storePassword } from './accounts.ts';
import { countRequest } from './asking.ts';
import { verdictOn, type Verdict } from './factors/verdict.ts';
import { makeLink, openLink, useLink, voidLinks } from './links.ts';
import type { AnswerNeeds } from './mail-answers.ts';
import { removeUnproven } from './unproven.ts';

const PURPOSE = 'reset-password';

/** What somebody asked for. */
export interface ResetRequest {
  /** A username or an address, as it was typed. */
  name: string;
  /** The request in progress that they come from. */
  interaction?: string | undefined;
  /** The language of the page, for who has set none. */
  lang: string;
}

/** Writes down that somebody wants a new password. @throws OAuthError too_many_requests */
export async function askForReset(
  deps: Pick<Deps, 'db' | 'secrets' | 'random'>,
  { name, interaction, lang }: ResetRequest,
  by: Requester,
  now: Date,
): Promise<void> {
  await countRequest(deps, PURPOSE, name, by, now);
  const known = interaction !== undefined && readHandle(interaction) ? interaction : undefined;
  await askForMail(deps.db, deps, PURPOSE, { name, interaction: known, lang }, now);
}

/** Sends the link, if there is such an account and it has an address. */
export const answerReset: Answer<AnswerNeeds> = async (trx, deps, { name = '', interaction, lang }, now) => {
  const user = await users.findByName(trx, name);
  if (!user || user.email === null || user.disabled_at !== null) return;
  const { sub, email } = user;
  const { token, expires_at, lifetime } = await makeLink(trx, deps, { purpose: PURPOSE, sub, email }, now);
  const query = interaction === undefined ? '' : `?interaction=${encodeURIComponent(interaction)}`;
  const url = `${deps.config.ISSUER}${pages.reset_password}/${token}${query}`;
  const { props, ...whom } = addressed(user);
  const mail = { template: PURPOSE, to: email, until: expires_at, props: { ...props, url, lifetime } } as const;
  await postMail(trx, deps, { ...mail, ...whom, lang: languageOf(user.claims['locale'], lang) }, now);
};

/** Whose password a link is for. Undefined where it is not good any more; looking changes nothing. */
export async function openReset({ db }: { db: Db }, token: string, now: Date): Promise<users.User | undefined> {
  const link = await openLink(db, PURPOSE, token, now);
  const user = link?.sub ? await users.find(db, link.sub) : undefined;
  return user && isStill(user, link?.email ?? null) ? user : undefined;
}

// A link counts for the address that it was sent to.
const isStill = (user: users.User, email: string | null): boolean => user.disabled_at === null && user.email === email;

/** Of several at once one sets its password; `over`: the link is not good any more. */
export type ResetOutcome = 'done' | 'over' | { verdict: Verdict };

/**
 * Sets a new password by a link: every session and grant of before ends, other links that were sent are void, and the account is told.
 * The address has been proven by it. Second factors stay, and are asked for at the next sign-in; but for an address that was never
 * confirmed before, where they may be somebody else's (unproven.ts).
 */
export async function resetPassword(
  deps: Pick<Deps, 'config' | 'db' | 'passwords' | 'random' | 'secrets'>,
  token: string,
  password: string,
  by: Requester,
  now: Date,
): Promise<ResetOutcome> {
  const before = await openReset(deps, token, now);
  if (!before) return 'over';
  const verdict = await verdictOn(deps, password, before);
  if (verdict.refusal !== undefined) return { verdict };
  const phc = await hashPassword(deps, password);
  return transact(deps.db, async (trx) => {
    const user = await users.findLocked(trx, before.sub);
    if (!user || !isStill(user, before.email)) return 'over';
    const link = await useLink(trx, PURPOSE, token, now);
    if (link?.sub !== user.sub) return 'over';
    await removeUnproven(trx, deps, user, by, now);
    await storePassword(trx, deps, user.sub, phc, by, now);
    await voidLinks(trx, user.sub, now, ['reset-password', 'sign-in']);
    if (!user.email_verified) await users.update(trx, user.sub, { email_verified: true, updated_at: now });
    await record(
      trx,
      { event: 'password_reset', sub: user.sub, detail: { email_verified: !user.email_verified } },
      by,
      now,
    );
    return 'done';
  });
}
