/**
 * The address of an account that there is: a mail with a link, and the button behind it. It signs nobody in. Whoever made the account may
 * be another than reads the mail: only in a browser that is signed in to it does everything stay as it is.
 */
import type { Deps } from '../deps.ts';
import { record, type Actor, type Requester } from '../events/index.ts';
import { addressed, postMail } from '../mail/outbox.ts';
import { pages } from '../protocol/endpoint.ts';
import { notAllowed } from '../protocol/write-error.ts';
import { transact, type Trx } from '../store/postgres/db.ts';
import * as sessions from '../store/sessions.ts';
import * as users from '../store/users.ts';
import { hashPassword, storePassword } from './accounts.ts';
import { verdictOn, type Verdict } from './factors/verdict.ts';
import { makeLink, openLink, useLink, voidLinks } from './links.ts';
import { removeUnproven } from './unproven.ts';

/**
 * Sends a mail by which the address of an account is verified; links that were sent for it before are void. False where it is
 * verified already; undefined when there is no such account. @throws WriteError where there is no address, or no mail
 */
export async function sendVerification(
  trx: Trx,
  deps: Pick<Deps, 'config' | 'random' | 'secrets'>,
  sub: string,
  by: Actor,
  now: Date,
): Promise<boolean | undefined> {
  const user = await users.findLocked(trx, sub);
  if (!user) return undefined;
  const { email } = user;
  if (email === null) throw notAllowed('the account has no e-mail address');
  if (user.disabled_at !== null) throw notAllowed('the account is disabled');
  if (user.email_verified) return false;
  await voidLinks(trx, sub, now, ['verify-email']);
  const { token, lifetime, expires_at } = await makeLink(trx, deps, { purpose: 'verify-email', sub, email }, now);
  const { props, ...whom } = addressed(user);
  const told = { ...props, url: `${deps.config.ISSUER}${pages.verify}/${token}`, lifetime };
  const posted = await postMail(
    trx,
    deps,
    { template: 'verify-email', to: email, ...whom, props: told, until: expires_at },
    now,
  );
  if (!posted) throw notAllowed('there is no mail: set SMTP_URL');
  await record(trx, { event: 'verification_sent', sub }, by, now);
  return true;
}

/** Whose address a link verifies. Undefined where it is not good any more; looking changes nothing. */
export async function openVerification(
  { db }: Pick<Deps, 'db'>,
  token: string,
  now: Date,
): Promise<users.User | undefined> {
  const link = await openLink(db, 'verify-email', token, now);
  const user = link?.sub ? await users.find(db, link.sub) : undefined;
  return user && isStill(user, link?.email ?? null) ? user : undefined;
}

// A link counts for the address that it was sent to.
const isStill = (user: users.User, email: string | null): boolean => user.disabled_at === null && user.email === email;

/** How it was pressed: in a session of the account; or elsewhere, where its password is chosen anew. */
export type PressedIn = { sid: string } | { password: string };

/**
 * Verifies the address that a link was sent to. `over`: the link is not good any more. Elsewhere than in a session of the account
 * whatever was made for it before goes (unproven.ts), and the password is replaced.
 */
export async function verifyAddress(
  deps: Pick<Deps, 'clock' | 'config' | 'db' | 'passwords' | 'random' | 'secrets'>,
  token: string,
  pressed: PressedIn,
  by: Requester,
): Promise<'done' | 'over' | { verdict: Verdict }> {
  const before = await openVerification(deps, token, deps.clock());
  if (!before) return 'over';
  let phc: string | undefined;
  if ('password' in pressed) {
    const verdict = await verdictOn(deps, pressed.password, before);
    if (verdict.refusal !== undefined) return { verdict };
    phc = await hashPassword(deps, pressed.password);
  }
  const now = deps.clock();
  return transact(deps.db, async (trx) => {
    const user = await users.findLocked(trx, before.sub);
    if (!user || !isStill(user, before.email)) return 'over';
    // Decided again: the session may have ended while the page was read.
    const session = 'sid' in pressed ? await sessions.find(trx, pressed.sid) : undefined;
    if (phc === undefined && (session?.sub !== user.sub || session.ended_at !== null)) return 'over';
    const link = await useLink(trx, 'verify-email', token, now);
    if (link?.sub !== user.sub) return 'over';
    if (phc !== undefined) {
      await removeUnproven(trx, deps, user, by, now);
      await storePassword(trx, deps, user.sub, phc, by, now);
    }
    await users.update(trx, user.sub, { email_verified: true, updated_at: now });
    await record(trx, { event: 'address_verified', sub: user.sub }, by, now);
    return 'done';
  });
}
