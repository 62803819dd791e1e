/**
 * Sign-in by mail: a link and a code for the page that asked. Neither is of use in another browser: whoever is talked into pressing a
 * button in a mail signs nobody else in. It is one factor, and what a sign-in owes beside it is asked next.
 */
import type { Deps } from '../deps.ts';
import { record, type Requester } from '../events/index.ts';
import { addressed, postMail } from '../mail/outbox.ts';
import { languageOf } from '../mail/language.ts';
import { askForMail, type Asked } from '../mail/requests.ts';
import { levelOf } from '../protocol/acr.ts';
import { pages } from '../protocol/endpoint.ts';
import { transact, type Trx } from '../store/postgres/db.ts';
import type { PersonLink } from '../store/person-links.ts';
import * as users from '../store/users.ts';
import * as waitingPages from '../store/waiting-pages.ts';
import { countRequest, guessCode } from './asking.ts';
import { knownDevices } from './device.ts';
import { makeLink, openLink, useCode, useLink } from './links.ts';
import type { AnswerNeeds } from './mail-answers.ts';
import type { SignedIn } from './sign-in.ts';
import { findWaiting, openWaiting, startWaiting, waitingKey, type Typed, type Waiting } from './waiting.ts';

const PURPOSE = 'sign-in';

type Needs = Pick<Deps, 'clock' | 'db' | 'random' | 'secrets'>;

/** Takes an address; returns the handle of the page that waits, whether or not there is such an account. @throws OAuthError too_many_requests */
export async function askForSignIn(deps: Needs, typed: Typed, browser_hash: Buffer, by: Requester): Promise<string> {
  const now = deps.clock();
  await countRequest(deps, PURPOSE, typed.email, by, now);
  return transact(deps.db, async (trx) => {
    const request = await startWaiting(trx, deps, PURPOSE, browser_hash, typed, now);
    const asked = { email: typed.email, lang: typed.lang, request, browser: browser_hash.toString('base64url') };
    await askForMail(trx, deps, PURPOSE, asked, now);
    await record(trx, { event: 'email_sign_in_asked', sub: null, detail: {} }, by, now);
    return request;
  });
}

/** Answers by mail, where an account has the address and showed that it is theirs. Other pages wait for a code that nobody has. */
export async function answerSignIn(trx: Trx, deps: AnswerNeeds, asked: Asked, now: Date): Promise<void> {
  const { email = '', request = '', browser = '', lang } = asked;
  const page = { request, browser_hash: Buffer.from(browser, 'base64url') };
  // An address alone: whoever types a username gets no mail.
  const found = email.includes('@') ? await users.findByName(trx, email) : undefined;
  const user = found && maySignInByMail(found) ? found : undefined;
  const whose = user && { sub: user.sub, email: user.email ?? undefined };
  const { token, code, lifetime, expires_at } = await makeLink(trx, deps, { purpose: PURPOSE, ...whose, page }, now);
  if (!user || user.email === null) return;
  const { props, ...whom } = addressed(user);
  const told = { ...props, url: `${deps.config.ISSUER}${pages.login_link}/${token}`, code, lifetime };
  const mail = { template: PURPOSE, to: user.email, until: expires_at, props: told } as const;
  await postMail(trx, deps, { ...mail, ...whom, lang: languageOf(user.claims['locale'], lang) }, now);
}

/** Does an account have an address that showed to be its person's? */
export const maySignInByMail = (user: users.User): boolean =>
  user.disabled_at === null && user.email !== null && user.email_verified;

/** The page that waits, as its browser sees it. */
export const waitingSignIn = (
  deps: Pick<Deps, 'db' | 'secrets'>,
  request: string | undefined,
  browser_hash: Buffer,
  now: Date,
): Promise<Waiting | undefined> => findWaiting(deps, PURPOSE, waitingKey(request), browser_hash, now);

/** Somebody who showed that they read the mail, and the interaction that goes on. */
export interface SignedInByMail {
  person: SignedIn;
  interaction: string | undefined;
}

/** Takes the code that was typed in the browser that asked. @throws OAuthError too_many_requests */
export async function signInByCode(
  deps: Needs,
  {
    request,
    code,
    browser_hash,
    device,
  }: { request: string; code: string; browser_hash: Buffer; device?: string | undefined },
  by: Requester,
): Promise<SignedInByMail | 'wrong' | 'over'> {
  const now = deps.clock();
  const waiting = await waitingSignIn(deps, request, browser_hash, now);
  if (!waiting || waiting.row.done_at !== null) return 'over';
  return guessCode(deps, { kind: PURPOSE, typed: waiting.typed.email, by, now }, () =>
    transact(deps.db, async (trx) => {
      const link = await useCode(trx, deps, { purpose: PURPOSE, request, browser_hash, code }, now);
      return link === 'wrong' || link === 'over' ? link : finish(trx, deps, { link, waiting, device }, now);
    }),
  );
}

/** Opens the link of a mail; this changes nothing. `here`: it is the browser that asked. Undefined for one that is not good any more. */
export async function openSignIn(
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  token: string,
  browser_hash: Buffer,
  now: Date,
): Promise<{ waiting: Waiting; here: boolean } | undefined> {
  const link = await openLink(db, PURPOSE, token, now);
  if (!link?.request_hash || link.sub === null) return undefined;
  const key = { expires_bucket: link.expires_bucket, hash: link.request_hash };
  const waiting = await openWaiting(db, secrets, PURPOSE, key, now);
  return waiting && { waiting, here: waiting.row.browser_hash.equals(browser_hash) };
}

/** Takes the link, in the browser that asked. */
export async function signInByLink(
  deps: Needs,
  { token, browser_hash, device }: { token: string; browser_hash: Buffer; device?: string | undefined },
): Promise<SignedInByMail | 'over'> {
  const now = deps.clock();
  const opened = await openSignIn(deps, token, browser_hash, now);
  if (!opened?.here) return 'over';
  return transact(deps.db, async (trx) => {
    const link = await useLink(trx, PURPOSE, token, now);
    return link ? finish(trx, deps, { link, waiting: opened.waiting, device }, now) : 'over';
  });
}

/** Decided again: the account has to have the address still that the mail went to. */
async function finish(
  trx: Trx,
  deps: Needs,
  { link, waiting: { row, typed }, device }: { link: PersonLink; waiting: Waiting; device: string | undefined },
  now: Date,
): Promise<SignedInByMail | 'over'> {
  const user = link.email === null ? undefined : await users.findForSignIn(trx, link.email);
  if (!user || link.email === null || user.sub !== link.sub || user.email !== link.email || !maySignInByMail(user))
    return 'over';
  await waitingPages.finish(trx, row, user.sub, now);
  const amr = ['otp'];
  const { sub, username, second_factors } = user;
  const cookie = knownDevices(deps.secrets, deps.random, device, user, now);
  const shown = { amr, acr: levelOf(amr), password_changed_at: null, email: link.email };
  const person = { sub, username, ...shown, device: cookie, second_factors };
  return { person, interaction: typed.interaction };
}
