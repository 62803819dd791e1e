/**
 * Invitations: an operator makes an account, and its person chooses the first password behind a link, or makes a passkey and has no
 * password: either shows that the address is theirs. Only who cannot sign in yet is invited: for others it would be another way in.
 */
import type { Deps } from '../deps.ts';
import { record, type Actor, type Requester } from '../events/index.ts';
import { addressed, isMailOn, postMail } from '../mail/outbox.ts';
import { levelOf } from '../protocol/acr.ts';
import { pages } from '../protocol/endpoint.ts';
import { isReservedName } from '../protocol/names.ts';
import { keyMethod } from '../protocol/webauthn.ts';
import { invalid, notAllowed, unknownName } from '../protocol/write-error.ts';
import * as groups from '../store/groups.ts';
import * as passkeys from '../store/passkeys.ts';
import * as links from '../store/person-links.ts';
import { transactOrNothing, type Db, type Trx } from '../store/postgres/db.ts';
import * as upstreamLinks from '../store/upstream-links.ts';
import * as users from '../store/users.ts';
import { hashPassword, insertAccount, isAddress } from './accounts.ts';
import { knownDevices } from './device.ts';
import { endOfDrawn } from './drawn-password.ts';
import { firstCodes } from './enrolment.ts';
import { staleChallenge, type ChallengeBinding } from './factors/passkey.ts';
import { areAsked } from './factors/policy.ts';
import { verdictOn, type Verdict } from './factors/verdict.ts';
import { addMembers } from './groups.ts';
import { makeLink, openLink, useLink, voidLinks } from './links.ts';
import { askedToCreate, keepNewPasskey, verifyNewPasskey } from './passkeys.ts';
import type { SignedIn } from './sign-in.ts';
import { removeUnproven } from './unproven.ts';

const PURPOSE = 'invitation';

/** An invitation that was made; not for somebody who can sign in already. */
export interface Invitation {
  invited: boolean;
  mailed: boolean;
  expires_at?: Date | undefined;
  /** For whoever asked to hand it on themselves. */
  url?: string | undefined;
}

/**
 * Invites somebody to their account; what they were sent before is void. Without mail the link has to be asked for: nobody would get it
 * otherwise. Undefined when there is no such account. @throws WriteError where there is no address, or no mail
 */
export async function invite(
  trx: Trx,
  deps: Pick<Deps, 'config' | 'random' | 'secrets'>,
  { sub, link: wanted }: { sub: string; link: boolean },
  by: Actor,
  now: Date,
): Promise<Invitation | undefined> {
  const user = await users.findLocked(trx, sub);
  if (!user) return undefined;
  const { email } = user;
  if (email === null) throw notAllowed('the account has no e-mail address');
  if (user.disabled_at !== null) throw notAllowed('the account is disabled');
  if (await hasWayIn(trx, sub, now)) return { invited: false, mailed: false };
  if (!wanted && !isMailOn(deps.config))
    throw notAllowed('there is no mail (SMTP_URL): ask for the link to hand it on');
  await voidLinks(trx, sub, now, [PURPOSE]);
  const { token, expires_at, lifetime } = await makeLink(trx, deps, { purpose: PURPOSE, sub, email }, now);
  const url = `${deps.config.ISSUER}${pages.invitation}/${token}`;
  const { props, ...whom } = addressed(user);
  const mail = { template: PURPOSE, to: email, until: expires_at, props: { ...props, url, lifetime } } as const;
  const mailed = await postMail(trx, deps, { ...mail, ...whom }, now);
  await record(trx, { event: 'invited', sub, detail: { mailed, link_shown: wanted } }, by, now);
  return { invited: true, mailed, expires_at, url: wanted ? url : undefined };
}

/** Whom an operator wants, by their address. */
export interface Invitee {
  email: string;
  /** What a new account is called, instead of what stands before the `@`. */
  username?: string | undefined;
  /** The name of a new account. */
  name?: string | undefined;
  /** Groups by their names, which they are put into, new or not. */
  groups?: readonly string[] | undefined;
  link?: boolean | undefined;
}

/**
 * Invites whoever has this address: an account is made if there is none. Given again before they have come it makes another link of the
 * same account. Nothing is changed of who can sign in. @throws WriteError
 */
export async function inviteAddress(
  trx: Trx,
  deps: Pick<Deps, 'config' | 'random' | 'secrets'>,
  { email, username, name, groups: wanted = [], link = false }: Invitee,
  by: Actor,
  now: Date,
): Promise<Invitation & { user: users.User; created: boolean }> {
  if (!isAddress(email)) throw invalid('email is not an e-mail address');
  // Of two at once for one address the other finds the account that the first made.
  await users.holdName(trx, email);
  const present = await users.findByName(trx, email);
  const account = {
    username: username ?? (await freeUsername(trx, deps, email)),
    email,
    ...(name !== undefined && { claims: { name } }),
  };
  const user = present ?? (await insertAccount(trx, deps, account, undefined, by, now));
  const made = (await invite(trx, deps, { sub: user.sub, link }, by, now))!;
  if (made.invited) await joinGroups(trx, user.sub, [...new Set(wanted)], by, now);
  return { ...made, user, created: !present };
}

/** What stands before the `@`, with something behind it where another has that name, or it speaks for the service. */
async function freeUsername(trx: Trx, { random }: Pick<Deps, 'random'>, email: string): Promise<string> {
  const word = email.split('@')[0] ?? '';
  const isFree = !isReservedName(word) && !(await users.findByName(trx, word));
  return isFree ? word : `${word}-${random(4).toString('hex')}`;
}

/** @throws WriteError for a group that there is not */
async function joinGroups(trx: Trx, sub: string, names: readonly string[], by: Actor, now: Date): Promise<void> {
  if (names.length === 0) return;
  const found = await groups.findNamed(trx, names);
  const missing = names.find((name) => !found.some((group) => group.name === name));
  if (missing !== undefined) throw unknownName('groups', `there is no group ${missing}`);
  for (const { group_id } of found) await addMembers(trx, group_id, [sub], by, now);
}

// By themselves: a mail to their address is no more than the invitation is.
const hasWayIn = async (db: Db | Trx, sub: string, now: Date): Promise<boolean> =>
  (await hasPassword(db, sub, now)) ||
  (await passkeys.countOf(db, sub)) > 0 ||
  (await upstreamLinks.ofPerson(db, sub)).some(({ works }) => works);

/** One that still opens the account: not one that was drawn, and has ended. */
async function hasPassword(db: Db | Trx, sub: string, now: Date): Promise<boolean> {
  const age = await users.passwordAge(db, sub);
  return age !== undefined && (!age.drawn || endOfDrawn(age.changed_at) > now);
}

/** Until when somebody is invited, who has not come yet. */
export async function invitedUntil(db: Db | Trx, user: users.User, now: Date): Promise<Date | undefined> {
  const link = await links.lastOf(db, user.sub, PURPOSE, now);
  return link && isStill(user, link.email) && !(await hasWayIn(db, user.sub, now)) ? link.expires_at : undefined;
}

// A link counts for the address that it was sent to.
const isStill = (user: users.User, email: string | null): boolean => user.disabled_at === null && user.email === email;

/** Who is invited by a link. Undefined where it is not good any more; looking changes nothing. */
export async function openInvitation(
  { db }: Pick<Deps, 'db'>,
  token: string,
  now: Date,
): Promise<users.User | undefined> {
  const link = await openLink(db, PURPOSE, token, now);
  const user = link?.sub ? await users.find(db, link.sub) : undefined;
  return user && isStill(user, link?.email ?? null) && !(await hasWayIn(db, user.sub, now)) ? user : undefined;
}

/** How an invitation is accepted: by a first password, or by a passkey that was made on its page, in this browser. */
export type Acceptance = { password: string } | { passkey: string | undefined; browser: string };

/** What a browser is asked for that makes a passkey behind an invitation. Looking at the page writes nothing. */
export async function askForPasskey(
  deps: Pick<Deps, 'config' | 'db' | 'random' | 'secrets'>,
  { user, token, browser }: { user: users.User; token: string; browser: string },
  now: Date,
) {
  const handle = await handleFor(deps, user.sub, token);
  return askedToCreate(deps, { user, handle, passkeys: [] }, challengeOf(token, browser, handle), now);
}

// The one they have; else one that each look at the page comes to anew, and that is kept with the passkey.
const handleFor = async ({ db, secrets }: Pick<Deps, 'db' | 'secrets'>, sub: string, token: string): Promise<Buffer> =>
  (await passkeys.findUserHandle(db, sub)) ?? secrets.mac('challenge', ['handle behind an invitation', token]);

// Another handle than the browser was told would make a passkey that signs nobody in: then the challenge is no good either.
const challengeOf = (token: string, browser: string, handle: Buffer): ChallengeBinding => [
  'create',
  browser,
  `invitation ${token} ${handle.toString('base64url')}`,
];

/** Whoever accepted an invitation, and the recovery codes that came with a passkey: to be shown once. */
interface Accepted {
  person: SignedIn;
  codes?: string[] | undefined;
}

/**
 * Accepts an invitation by a first password or a passkey; of several at once one does. `over`: it is not good any more.
 * @throws OAuthError as `verifyNewPasskey` and `keepNewPasskey` do: then it is as good as before
 */
export async function acceptInvitation(
  deps: Pick<Deps, 'clock' | 'config' | 'db' | 'passwords' | 'random' | 'secrets'>,
  { token, device, ...how }: { token: string; device: string | undefined } & Acceptance,
  by: Requester,
): Promise<Accepted | { verdict: Verdict } | 'over'> {
  const before = await openInvitation(deps, token, deps.clock());
  if (!before) return 'over';
  const prepared = 'password' in how ? await prepare(deps, before, how) : await prepareKey(deps, before, token, how);
  if ('verdict' in prepared) return prepared;
  const now = deps.clock();
  // With a refusal of the passkey nothing stands, and the link stays good.
  return transactOrNothing(deps.db, async (trx) => {
    const user = await users.findLocked(trx, before.sub);
    if (!user || !isStill(user, before.email) || (await hasWayIn(trx, user.sub, now))) return 'over';
    const link = await useLink(trx, PURPOSE, token, now);
    if (link?.sub !== user.sub) return 'over';
    await removeUnproven(trx, deps, user, by, now);
    await users.update(trx, user.sub, { email_verified: true, updated_at: now });
    await voidLinks(trx, user.sub, now);
    await record(trx, { event: 'invitation_accepted', sub: user.sub }, by, now);
    const { sub, username, devices_reset_at } = user;
    const { codes, ...shown } = await prepared.keep(trx, by, now);
    const whose = { sub, password_changed_at: shown.password_changed_at, devices_reset_at };
    const cookie = knownDevices(deps.secrets, deps.random, device, whose, now);
    return { person: { sub, username, ...shown, acr: levelOf(shown.amr), device: cookie }, codes };
  });
}

/** What was chosen, ready to be kept: nothing slow is left to be done. */
interface Prepared {
  keep(
    trx: Trx,
    by: Requester,
    now: Date,
  ): Promise<
    Pick<SignedIn, 'amr' | 'password_changed_at' | 'credential_id' | 'second_factors'> & Pick<Accepted, 'codes'>
  >;
}

async function prepare(
  deps: Pick<Deps, 'config' | 'passwords'>,
  before: users.User,
  { password }: { password: string },
): Promise<Prepared | { verdict: Verdict }> {
  const verdict = await verdictOn(deps, password, before);
  if (verdict.refusal !== undefined) return { verdict };
  const phc = await hashPassword(deps, password);
  return {
    async keep(trx, _by, now) {
      await users.setPassword(trx, before.sub, phc, now);
      return { amr: ['pwd'], password_changed_at: now, second_factors: [] };
    },
  };
}

/** It was shown as it was made. Recovery codes come with it where anybody could be asked for one. */
async function prepareKey(
  deps: Pick<Deps, 'clock' | 'config' | 'db' | 'random' | 'secrets'>,
  { sub }: users.User,
  token: string,
  { passkey: answer, browser }: Exclude<Acceptance, { password: string }>,
): Promise<Prepared> {
  const handle = await handleFor(deps, sub, token);
  const creation = { sub, answer, challenge: challengeOf(token, browser, handle), name: '' };
  const verified = await verifyNewPasskey(deps, creation, deps.clock());
  return {
    async keep(trx, by, now) {
      const kept = await passkeys.userHandle(trx, sub, handle);
      if (!kept.equals(handle)) throw staleChallenge('a challenge for another handle than the person has by now');
      const { credential_id } = await keepNewPasskey(trx, deps, creation, verified, by, now);
      const codes = areAsked(deps.config) ? await firstCodes(trx, deps, sub, by, now) : undefined;
      const amr = [keyMethod(verified.made), 'user'];
      return { amr, password_changed_at: null, credential_id, second_factors: ['passkey'], codes };
    },
  };
}
