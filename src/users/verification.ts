/** The address of an account that there is: a mail with a link, and the button behind it. It signs nobody in. */
import type { Deps } from '../deps.ts';
import { record, type Actor, type Requester } from '../events/index.ts';
import { addressed, postMail } from '../mail/outbox.ts';
import { pages } from '../protocol/endpoint.ts';
import { notAllowed } from '../protocol/write-error.ts';
import { transact, type Trx } from '../store/postgres/db.ts';
import * as users from '../store/users.ts';
import { makeLink, openLink, useLink, voidLinks } from './links.ts';

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

/** Verifies the address that a link was sent to. False where the link is not good any more. */
export async function verifyAddress(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  token: string,
  by: Requester,
): Promise<boolean> {
  const now = clock();
  const before = await openVerification({ db }, token, now);
  if (!before) return false;
  return transact(db, async (trx) => {
    const user = await users.findLocked(trx, before.sub);
    if (!user || !isStill(user, before.email)) return false;
    const link = await useLink(trx, 'verify-email', token, now);
    if (link?.sub !== user.sub) return false;
    await users.update(trx, user.sub, { email_verified: true, updated_at: now });
    await record(trx, { event: 'address_verified', sub: user.sub }, by, now);
    return true;
  });
}
