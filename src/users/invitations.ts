/**
 * Invitations: an operator makes an account, and its person chooses the first password behind a link, which shows that the address is
 * theirs. Only who cannot sign in yet is invited: for others it would be another way to a new password.
 */
import type { Deps } from '../deps.ts';
import { record, type Actor, type Requester } from '../events/index.ts';
import { addressed, isMailOn, postMail } from '../mail/outbox.ts';
import { levelOf } from '../protocol/acr.ts';
import { pages } from '../protocol/endpoint.ts';
import { notAllowed } from '../protocol/write-error.ts';
import * as passkeys from '../store/passkeys.ts';
import { transact, type Db, type Trx } from '../store/postgres/db.ts';
import * as upstreamLinks from '../store/upstream-links.ts';
import * as users from '../store/users.ts';
import { hashPassword } from './accounts.ts';
import { knownDevices } from './device.ts';
import { verdictOn, type Verdict } from './factors/verdict.ts';
import { makeLink, openLink, useLink, voidLinks } from './links.ts';
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
  if (await hasWayIn(trx, sub)) return { invited: false, mailed: false };
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

// By themselves: a mail to their address is no more than the invitation is.
const hasWayIn = async (db: Db | Trx, sub: string): Promise<boolean> =>
  (await users.passwordChangedAt(db, sub)) !== undefined ||
  (await passkeys.countOf(db, sub)) > 0 ||
  (await upstreamLinks.ofPerson(db, sub)).some(({ works }) => works);

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
  return user && isStill(user, link?.email ?? null) && !(await hasWayIn(db, user.sub)) ? user : undefined;
}

/** Sets the first password by an invitation; of several at once one does. `over`: it is not good any more. */
export async function acceptInvitation(
  deps: Pick<Deps, 'clock' | 'config' | 'db' | 'passwords' | 'random' | 'secrets'>,
  { token, password, device }: { token: string; password: string; device: string | undefined },
  by: Requester,
): Promise<SignedIn | { verdict: Verdict } | 'over'> {
  const before = await openInvitation(deps, token, deps.clock());
  if (!before) return 'over';
  const verdict = await verdictOn(deps, password, before);
  if (verdict.refusal !== undefined) return { verdict };
  const phc = await hashPassword(deps, password);
  const now = deps.clock();
  return transact(deps.db, async (trx) => {
    const user = await users.findLocked(trx, before.sub);
    if (!user || !isStill(user, before.email) || (await hasWayIn(trx, user.sub))) return 'over';
    const link = await useLink(trx, PURPOSE, token, now);
    if (link?.sub !== user.sub) return 'over';
    await removeUnproven(trx, deps, user, by, now);
    await users.setPassword(trx, user.sub, phc, now);
    await users.update(trx, user.sub, { email_verified: true, updated_at: now });
    await voidLinks(trx, user.sub, now);
    await record(trx, { event: 'invitation_accepted', sub: user.sub }, by, now);
    const { sub, username, devices_reset_at } = user;
    const amr = ['pwd'];
    const cookie = knownDevices(
      deps.secrets,
      deps.random,
      device,
      { sub, password_changed_at: now, devices_reset_at },
      now,
    );
    return { sub, username, amr, acr: levelOf(amr), password_changed_at: now, device: cookie, second_factors: [] };
  });
}
