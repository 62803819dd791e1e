/**
 * A change of address: asked for by the person, confirmed at the new address, and for a week taken back from the old one. Whether an
 * address has an account is told to nobody but those who read its mail.
 */
import type { Deps } from '../deps.ts';
import { record, type Requester } from '../events/index.ts';
import { languageOf } from '../mail/language.ts';
import { addressed, postMail, postNotice } from '../mail/outbox.ts';
import { askForMail, type Answer } from '../mail/requests.ts';
import { pages } from '../protocol/endpoint.ts';
import { isMailable } from '../protocol/mailbox.ts';
import { foldName } from '../protocol/names.ts';
import { DAY, secondsAfter } from '../protocol/numeric-date.ts';
import { WriteError } from '../protocol/write-error.ts';
import * as passkeys from '../store/passkeys.ts';
import { transact, type Db, type Trx } from '../store/postgres/db.ts';
import * as recoveryCodes from '../store/recovery-codes.ts';
import * as totp from '../store/totp-credentials.ts';
import * as upstreamLinks from '../store/upstream-links.ts';
import * as users from '../store/users.ts';
import { endAll } from './access.ts';
import { callOffDeletion } from './deletion.ts';
import { updateAccount } from './accounts.ts';
import { countRequest, guessCode } from './asking.ts';
import {
  drawRequest,
  makeLink,
  openLink,
  PURPOSES,
  useCode,
  useLink,
  voidLinks,
  voidUndoSince,
  type PersonLink,
  type Purpose,
} from './links.ts';
import type { AnswerNeeds } from './mail-answers.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'random' | 'secrets'>;

/** Why an address cannot be asked for. */
export type AddressProblem = 'no_address' | 'same';

/** Whose address it is, and how its transaction holds the account and the sign-in that asks. */
export interface HeldAccount {
  sub: string;
  hold(trx: Trx): Promise<users.User>;
}

/** What is asked for. */
export interface WantedAddress {
  address: string;
  lang: string;
  browser_hash: Buffer;
}

/**
 * Writes down that a person wants another address, or why not. The page of this browser that waits for the code is found by `request`.
 * @throws OAuthError too_many_requests, and what `hold` throws
 */
export async function askForAddress(
  deps: Pick<Needs, 'db' | 'random' | 'secrets'>,
  { hold }: HeldAccount,
  user: users.User,
  { address, lang, browser_hash }: WantedAddress,
  by: Requester,
  now: Date,
): Promise<AddressProblem | { request: string }> {
  if (address.length > 320 || !isMailable(address)) return 'no_address';
  const isSame = user.email !== null && foldName(user.email) === foldName(address);
  if (isSame && user.email_verified) return 'same';
  await countRequest(deps, 'change-email', user.sub, by, now);
  // Whoever has many accounts fills nobody's mailbox with them.
  await countRequest(deps, 'change-email to', address, by, now);
  const { handle: request } = drawRequest(deps, 'change-email', now);
  const page = { request, browser: browser_hash.toString('base64url') };
  const asked = { sub: user.sub, address, lang, at: now.toISOString(), ...page };
  await transact(deps.db, async (trx) => {
    await hold(trx);
    await askForMail(trx, deps, 'change-email', asked, now);
  });
  return { request };
}

/** Sends link and code to the new address; where somebody else has it, they are told instead, and the page waits for a code that nobody has. */
export const answerAddress: Answer<AnswerNeeds> = async (trx, deps, asked, now) => {
  const { sub = '', address = '', lang, at, request, browser } = asked;
  const user = await users.findLocked(trx, sub);
  if (!user || user.disabled_at !== null) return;
  // Whoever asked was signed out everywhere since then.
  if (at !== undefined && user.devices_reset_at && user.devices_reset_at > new Date(at)) return;
  const owner = await users.findByName(trx, address);
  const isTaken = owner !== undefined && owner.sub !== sub;
  await voidLinks(trx, sub, now, ['change-email']);
  const detail = { from: user.email ?? '' };
  const email = isTaken ? undefined : address;
  const page = request && browser ? { request, browser_hash: Buffer.from(browser, 'base64url') } : undefined;
  const link = await makeLink(trx, deps, { purpose: 'change-email', sub, email, detail, page }, now);
  if (isTaken) {
    const whom = addressed(owner);
    const to = owner.email ?? address;
    await postMail(
      trx,
      deps,
      { template: 'address-in-use', to, ...whom, props: { ...whom.props, url: loginUrl(deps) } },
      now,
    );
    return;
  }
  const { props, ...whom } = addressed(user);
  const url = `${deps.config.ISSUER}${pages.email_confirm}/${link.token}`;
  const mail = { template: 'confirm-email', to: address, until: link.expires_at } as const;
  const language = languageOf(user.claims['locale'], lang);
  await postMail(
    trx,
    deps,
    { ...mail, ...whom, lang: language, props: { ...props, url, code: link.code, lifetime: link.lifetime } },
    now,
  );
};

const loginUrl = ({ config }: Pick<Deps, 'config'>): string => `${config.ISSUER}${pages.login}`;

/** A link with the account that it is about. */
export interface OpenedAddress {
  user: users.User;
  /** The address that the account is to have. */
  address: string;
}

async function opened(
  db: Db,
  purpose: 'change-email' | 'undo-email',
  token: string,
  now: Date,
): Promise<OpenedAddress | undefined> {
  const link = await openLink(db, purpose, token, now);
  const user = link?.sub ? await users.find(db, link.sub) : undefined;
  return link?.email && user && isStill(user, link) ? { user, address: link.email } : undefined;
}

// What was asked for at another address, or before another change, counts no more.
const isStill = (user: users.User, { purpose, detail }: PersonLink): boolean =>
  user.disabled_at === null && (purpose === 'undo-email' || (user.email ?? '') === detail['from']);

/** What a link would change; looking at it changes nothing. */
export const openConfirmation = ({ db }: { db: Db }, token: string, now: Date): Promise<OpenedAddress | undefined> =>
  opened(db, 'change-email', token, now);
export const openUndo = ({ db }: { db: Db }, token: string, now: Date): Promise<OpenedAddress | undefined> =>
  opened(db, 'undo-email', token, now);

/** Uses a link in the account's transaction, or says that it is over: also where somebody else has the address by now. */
async function withLink(
  { db }: Pick<Needs, 'db'>,
  purpose: 'change-email' | 'undo-email',
  token: string,
  now: Date,
  hold: (trx: Trx, sub: string) => Promise<users.User | undefined>,
  work: (trx: Trx, user: users.User, link: PersonLink & { email: string }) => Promise<void>,
): Promise<'done' | 'over'> {
  const before = await opened(db, purpose, token, now);
  if (!before) return 'over';
  return orOver(() =>
    transact(db, async (trx) => {
      const user = await hold(trx, before.user.sub);
      const link = user && (await useLink(trx, purpose, token, now));
      if (!link || link.email === null || !isStill(user, link)) return 'over';
      await work(trx, user, { ...link, email: link.email });
      return 'done';
    }),
  );
}

/** Somebody else has the address by now: nothing is spent or changed. */
async function orOver<T>(work: () => Promise<T>): Promise<T | 'over'> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WriteError) return 'over';
    throw error;
  }
}

/** Gives the account its new address, by the link of the mail: as the person who asked, and nobody else. @throws what `hold` throws */
export const confirmAddress = (
  deps: Needs,
  { sub, hold }: HeldAccount,
  token: string,
  by: Requester,
  now: Date,
): Promise<'done' | 'over'> => {
  const held = async (trx: Trx, whose: string) => (whose === sub ? hold(trx) : undefined);
  return withLink(deps, 'change-email', token, now, held, (trx, user, link) =>
    giveAddress(trx, deps, user, link, by, now),
  );
};

/** A code as it was typed, on the page that waits for it. */
export interface TypedCode {
  request: string;
  browser_hash: Buffer;
  code: string;
}

/** The same by the code, typed on the page that asked. @throws OAuthError too_many_requests, and what `hold` throws */
export const confirmAddressByCode = (
  deps: Needs,
  { sub, hold }: HeldAccount,
  typed: TypedCode,
  by: Requester,
  now: Date,
): Promise<'done' | 'wrong' | 'over'> =>
  guessCode(deps, { kind: 'change-email', typed: sub, by, now }, () =>
    orOver(() =>
      transact(deps.db, async (trx) => {
        const user = await hold(trx);
        const link = await useCode(trx, deps, { purpose: 'change-email', ...typed }, now);
        if (typeof link === 'string') return link;
        // A code for an address that is somebody else's was guessed.
        if (link.sub !== sub || link.email === null || !isStill(user, link)) return 'over';
        await giveAddress(trx, deps, user, { email: link.email, created_at: link.created_at }, by, now);
        return 'done';
      }),
    ),
  );

/** The old address gets a link that takes this back, and what was sent there before is void. */
async function giveAddress(
  trx: Trx,
  deps: Needs,
  user: users.User,
  { email, created_at: asked_at }: { email: string; created_at: Date },
  by: Requester,
  now: Date,
): Promise<void> {
  const { sub, email: old } = user;
  await updateAccount(trx, sub, { email, email_verified: true }, by, now);
  await voidLinks(trx, sub, now, ['reset-password', 'sign-in', 'verify-email', 'change-email']);
  await record(trx, { event: 'email_changed', sub }, by, now);
  if (old === null || foldName(old) === foldName(email)) return;
  // Nobody has shown that whoever reads an unconfirmed address is this person: it gets no power over the account.
  if (!user.email_verified) {
    await postNotice(trx, deps, { sub, notice: 'email_changed' }, now);
    return;
  }
  const detail = { since: secondsAfter(asked_at, -BEFOREHAND).toISOString() };
  const undo = await makeLink(trx, deps, { purpose: 'undo-email', sub, email: old, detail }, now);
  const { props, ...whom } = addressed(user);
  const url = `${deps.config.ISSUER}${pages.email_undo}/${undo.token}`;
  const told = { ...props, name: email, url, lifetime: undo.lifetime };
  await postMail(trx, deps, { template: 'email-changed', to: old, until: undo.expires_at, ...whom, props: told }, now);
  await postNotice(trx, deps, { sub, notice: 'email_changed' }, now);
}

/**
 * Seconds before a change of address was asked for that whoever takes it back doubts as well: somebody who breaks in makes sure of coming
 * back first. More than a fresh sign-in lasts, and less than costs honest people much.
 */
const BEFOREHAND = DAY;

/**
 * Gives the account its old address back, to whoever reads that, and to nobody else: everybody is signed out and every grant ends, and
 * so does each way in that may be known to whoever changed it. The password goes, whenever it was set; passkeys, authenticator app, recovery
 * codes and connections go that were added since a day before the change was asked for; links that were sent are void, and a deletion that
 * was asked for is called off. The person sets a new password by mail.
 */
export const undoAddress = (deps: Needs, token: string, by: Requester, now: Date): Promise<'done' | 'over'> =>
  withLink(deps, 'undo-email', token, now, users.findLocked, async (trx, user, link) => {
    const { sub } = user;
    await updateAccount(trx, sub, { email: link.email, email_verified: true }, by, now);
    // But not a link to an address that was there before: whoever changed it twice has the later one, and takes nothing back with it.
    await voidLinks(trx, sub, now, OF_BEFORE);
    await voidUndoSince(trx, sub, link.created_at, now);
    // A link that a server of the version before made does not say since when.
    const since = new Date(link.detail['since'] ?? secondsAfter(link.created_at, -BEFOREHAND));
    await removeAddedSince(trx, sub, since, by, now);
    await callOffDeletion(trx, deps, user, by, now);
    await endAll(trx, sub, 'password_change', now);
    await record(trx, { event: 'email_restored', sub }, by, now);
    await postNotice(trx, deps, { sub, notice: 'email_restored' }, now);
  });

/** Every purpose but the one that takes a change back. */
const OF_BEFORE = (Object.keys(PURPOSES) as Purpose[]).filter((purpose) => purpose !== 'undo-email');

/** Takes the password away, and what else was added since then. */
async function removeAddedSince(trx: Trx, sub: string, since: Date, by: Requester, now: Date): Promise<void> {
  // Whoever asked for the change may know it, however old it is.
  if (await users.removePassword(trx, sub)) await record(trx, { event: 'password_deleted', sub }, by, now);
  for (const { passkey_id, created_at } of await passkeys.allOf(trx, sub))
    if (created_at >= since && (await passkeys.remove(trx, sub, passkey_id)))
      await record(trx, { event: 'factor_removed', sub, detail: { factor: 'passkey' } }, by, now);
  const app = await totp.find(trx, sub);
  if (app && app.created_at >= since && (await totp.remove(trx, sub)))
    await record(trx, { event: 'factor_removed', sub, detail: { factor: 'totp' } }, by, now);
  const codes = await recoveryCodes.count(trx, sub);
  if (codes && codes.created_at >= since) await recoveryCodes.removeAll(trx, sub);
  for (const { upstream, upstream_sub, created_at } of await upstreamLinks.ofPerson(trx, sub))
    if (created_at >= since && (await upstreamLinks.remove(trx, sub, { upstream, upstream_sub })))
      await record(trx, { event: 'upstream_unlinked', sub, detail: { upstream } }, by, now);
}
