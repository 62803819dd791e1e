/**
 * Registration: somebody types an address and a password, and the account is made once they showed that the address is theirs. Whether
 * there is such an account already only its owner is told, by mail: page and work are the same.
 *
 * Whoever signs up with somebody else's address gets nothing by it: the password typed on the page counts in the browser
 * that typed it alone, by the code from the mail or by its link opened there. Whoever opens the link elsewhere chooses a password, and
 * that is the account's.
 */
import type { Deps } from '../deps.ts';
import { record, type Requester } from '../events/index.ts';
import { DEFAULT_LANGUAGE, isLanguage, type Language } from '../languages/index.ts';
import { addressed, postMail } from '../mail/outbox.ts';
import { askForMail, type Asked } from '../mail/requests.ts';
import { levelOf } from '../protocol/acr.ts';
import { pages } from '../protocol/endpoint.ts';
import { foldName } from '../protocol/names.ts';
import { isMailable } from '../protocol/mailbox.ts';
import { WriteError } from '../protocol/write-error.ts';
import { transact, type Trx } from '../store/postgres/db.ts';
import type { PersonLink } from '../store/person-links.ts';
import * as users from '../store/users.ts';
import * as waitingPages from '../store/waiting-pages.ts';
import { hashPassword, insertAccount, isAddress } from './accounts.ts';
import type { AnswerNeeds } from './mail-answers.ts';
import { countRequest, guessCode } from './asking.ts';
import { knownDevices } from './device.ts';
import { verdictOn, type Verdict } from './factors/verdict.ts';
import { makeLink, openLink, useCode, useLink } from './links.ts';
import { isDomainAllowed } from './sign-up-policy.ts';
import type { SignedIn } from './sign-in.ts';
import { findWaiting, openWaiting, startWaiting, waitingKey, type Typed, type Waiting } from './waiting.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'passwords' | 'secrets' | 'random' | 'clock'>;

/** Most characters of a name. */
const NAME_LENGTH = 128;

/** What somebody typed to make an account. */
export interface NewPerson {
  email: string;
  name: string;
  password: string;
  lang: Language;
  /** The interaction that goes on afterwards. */
  interaction?: string | undefined;
}

/** What is wrong with what was typed. It says nothing of whether there is an account. */
type SignUpProblem = 'email' | 'domain' | 'name';

/** What came of it: the page that waits, by its handle; or what has to be typed otherwise. */
export type SignUpOutcome = { request: string } | { problem: SignUpProblem } | { verdict: Verdict };

/** Is it an address that an account may have, and mail be sent to? */
const isUsable = (email: string): boolean => isAddress(email) && isMailable(email);

const isName = (name: string): boolean =>
  [...name].length <= NAME_LENGTH && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(name);

/** Takes what was typed to make an account. @throws OAuthError too_many_requests */
export async function askToSignUp(
  deps: Needs,
  { email, name, password, lang, interaction }: NewPerson,
  browser_hash: Buffer,
  by: Requester,
): Promise<SignUpOutcome> {
  if (!isUsable(email)) return { problem: 'email' };
  if (!isDomainAllowed(deps.config, email)) return { problem: 'domain' };
  if (!isName(name)) return { problem: 'name' };
  const verdict = await verdictOn(deps, password, { email, claims: { name } });
  if (verdict.refusal !== undefined) return { verdict };
  await countRequest(deps, 'sign-up', email, by, deps.clock());
  const phc = await hashPassword(deps, password);
  return { request: await wait(deps, { email, name, phc, lang, interaction }, browser_hash, by) };
}

/** Sends the mail again: for the same page, by another handle. Undefined where nothing waits. @throws OAuthError too_many_requests */
export async function askAgain(
  deps: Needs,
  request: string,
  browser_hash: Buffer,
  by: Requester,
): Promise<string | undefined> {
  const now = deps.clock();
  const waiting = await findWaiting(deps, 'verify-email', waitingKey(request), browser_hash, now);
  if (!waiting || waiting.row.done_at !== null) return undefined;
  await countRequest(deps, 'sign-up', waiting.typed.email, by, now);
  return wait(deps, waiting.typed, browser_hash, by);
}

async function wait(deps: Needs, typed: Typed, browser_hash: Buffer, by: Requester): Promise<string> {
  const now = deps.clock();
  return transact(deps.db, async (trx) => {
    const request = await startWaiting(trx, deps, 'verify-email', browser_hash, typed, now);
    const asked = { email: typed.email, lang: typed.lang, request, browser: browser_hash.toString('base64url') };
    await askForMail(trx, deps, 'sign-up', asked, now);
    // Nobody's account: who asked is in the row, the address is not.
    await record(trx, { event: 'registration_asked', sub: null, detail: {} }, by, now);
    return request;
  });
}

/**
 * Answers whoever signed up, by mail. The owner of an account is told that there is one; their page waits for a code as any
 * other does, which nobody has.
 */
export async function answerSignUp(trx: Trx, deps: AnswerNeeds, asked: Asked, now: Date): Promise<void> {
  const { email = '', request = '', browser = '' } = asked;
  const lang = isLanguage(asked['lang']) ? asked['lang'] : DEFAULT_LANGUAGE;
  const page = { request, browser_hash: Buffer.from(browser, 'base64url') };
  const user = await users.findByName(trx, email);
  const { token, code, lifetime, expires_at } = await makeLink(
    trx,
    deps,
    { purpose: 'verify-email', email: user ? undefined : email, page },
    now,
  );
  const { ISSUER } = deps.config;
  if (!user) {
    const props = { url: `${ISSUER}${pages.verify}/${token}`, code, lifetime };
    await postMail(trx, deps, { template: 'verify-email', to: email, lang, props, until: expires_at }, now);
  } else if (user.email !== null) {
    const { props, ...whom } = addressed(user);
    const told = { ...props, url: `${ISSUER}${pages.login}` };
    await postMail(trx, deps, { template: 'already-registered', to: user.email, ...whom, props: told }, now);
  }
}

/** The page that waits, as its browser sees it. */
export const waitingRegistration = (
  deps: Pick<Deps, 'db' | 'secrets'>,
  request: string | undefined,
  browser_hash: Buffer,
  now: Date,
): Promise<Waiting | undefined> => findWaiting(deps, 'verify-email', waitingKey(request), browser_hash, now);

/** Somebody whose account was made just now, and the interaction that goes on. */
interface Registered {
  person: SignedIn;
  interaction: string | undefined;
}
/** What came of a code or a link; `taken`: somebody made an account with the address meanwhile. */
export type Confirmation = Registered | 'wrong' | 'over' | 'taken';

/** Takes the code that was typed in the browser that signed up. @throws OAuthError too_many_requests */
export async function confirmByCode(
  deps: Needs,
  {
    request,
    code,
    browser_hash,
    device,
  }: { request: string; code: string; browser_hash: Buffer; device: string | undefined },
  by: Requester,
): Promise<Confirmation> {
  const now = deps.clock();
  const waiting = await waitingRegistration(deps, request, browser_hash, now);
  if (!waiting || waiting.row.done_at !== null) return 'over';
  return guessCode(deps, { kind: 'sign-up', typed: waiting.typed.email, by, now }, () =>
    taking(async () =>
      transact(deps.db, async (trx) => {
        const link = await useCode(trx, deps, { purpose: 'verify-email', request, browser_hash, code }, now);
        if (link === 'wrong' || link === 'over') return link;
        return open(trx, deps, { link, waiting, phc: waiting.typed.phc, device, via: 'code' }, by, now);
      }),
    ),
  );
}

/** A link for a registration, as its page sees it. */
export interface OpenedLink {
  link: PersonLink;
  waiting: Waiting;
  /** Is it opened in the browser that signed up? Whoever opens it elsewhere chooses the password. */
  here: boolean;
}

/** Opens the link of a mail; this changes nothing. Undefined for one that is not good any more, or is for an account that there is. */
export async function openRegistration(
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  token: string,
  browser_hash: Buffer,
  now: Date,
): Promise<OpenedLink | undefined> {
  const link = await openLink(db, 'verify-email', token, now);
  if (!link?.request_hash || link.email === null) return undefined;
  const key = { expires_bucket: link.expires_bucket, hash: link.request_hash };
  const waiting = await openWaiting(db, secrets, 'verify-email', key, now);
  return waiting && { link, waiting, here: waiting.row.browser_hash.equals(browser_hash) };
}

/**
 * Takes the link of a mail: with the password of the page in the browser that signed up, with another one that was chosen now
 * elsewhere.
 */
export async function confirmByLink(
  deps: Needs,
  {
    link: { token, opened },
    password,
    device,
  }: { link: { token: string; opened: OpenedLink }; password: string; device: string | undefined },
  by: Requester,
): Promise<Confirmation | { verdict: Verdict }> {
  const { waiting, here } = opened;
  let { phc } = waiting.typed;
  if (!here) {
    const { email, name } = waiting.typed;
    const verdict = await verdictOn(deps, password, { email, claims: { name } });
    if (verdict.refusal !== undefined) return { verdict };
    phc = await hashPassword(deps, password);
  }
  const now = deps.clock();
  return taking(() =>
    transact(deps.db, async (trx) => {
      const link = await useLink(trx, 'verify-email', token, now);
      return link
        ? open(trx, deps, { link, waiting, phc, device, via: here ? 'link' : 'link elsewhere' }, by, now)
        : 'over';
    }),
  );
}

/** Another account with the address: what was used up is not, and says the same again. */
async function taking<T>(work: () => Promise<T>): Promise<T | 'taken'> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WriteError && error.reason === 'conflict') return 'taken';
    throw error;
  }
}

/** What an account is made of. */
interface Opening {
  link: PersonLink;
  waiting: Waiting;
  phc: string | undefined;
  device: string | undefined;
  via: 'code' | 'link' | 'link elsewhere';
}

/** Makes the account, in the transaction that used the link up. */
async function open(
  trx: Trx,
  deps: Needs,
  { link, waiting: { row, typed }, phc, device, via }: Opening,
  by: Requester,
  now: Date,
): Promise<Registered | 'over'> {
  // Decided again: what an operator allows may be less by now. A code for an account that there is was guessed.
  if (link.email === null || phc === undefined || !isDomainAllowed(deps.config, link.email)) return 'over';
  const name = typed.name?.trim();
  const claims = { ...(name && { name }), locale: typed.lang };
  const account = { username: usernameFor(link.email, deps.random), email: link.email, email_verified: true, claims };
  const user = await insertAccount(trx, deps, account, phc, by, now);
  if (!(await waitingPages.finish(trx, row, user.sub, now)))
    throw new Error('a link was used for a page that was done');
  const { sub, username } = user;
  await record(trx, { event: 'registered', sub, detail: { via } }, by, now);
  const amr = ['pwd'];
  const whose = { sub, password_changed_at: now, devices_reset_at: null };
  const cookie = knownDevices(deps.secrets, deps.random, device, whose, now);
  const person = {
    sub,
    username,
    amr,
    acr: levelOf(amr),
    password_changed_at: now,
    device: cookie,
    second_factors: [],
  };
  return { person, interaction: typed.interaction };
}

/** Letters and digits that look like no other. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';

/**
 * What the account is called beside its address. Never the bare word before the `@`: nobody is called admin by having a mailbox of that
 * name, and nobody learns which names there are.
 */
function usernameFor(email: string, random: Deps['random']): string {
  const word = foldName(email.split('@')[0] ?? '')
    .replaceAll(/[^a-z0-9._-]+/g, '')
    .slice(0, 32);
  const letters = [...random(6)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return `${word === '' ? 'user' : word}-${letters}`;
}
