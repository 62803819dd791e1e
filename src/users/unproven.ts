/**
 * What was made for an account before its address was ever confirmed: whoever made it may be another than the owner of the address, who
 * has just shown that it is theirs. It goes, whatever it is, so that nobody who was first keeps a way in.
 */
import type { Deps } from '../deps.ts';
import { record, type Actor } from '../events/index.ts';
import { postNotice } from '../mail/outbox.ts';
import * as consents from '../store/consents.ts';
import type { Trx } from '../store/postgres/db.ts';
import * as upstreamLinks from '../store/upstream-links.ts';
import type { User } from '../store/users.ts';
import { endAll } from './access.ts';
import { secondFactors } from './factors/index.ts';
import { voidLinks } from './links.ts';

/**
 * Takes away what could let somebody in who is not the owner of the address: passkeys, second factors, connections, sessions, grants,
 * what was agreed to, and links that were sent. Nothing where the address was confirmed before. The password is the caller's to
 * replace; the account is locked.
 */
export async function removeUnproven(
  trx: Trx,
  deps: Pick<Deps, 'config' | 'random' | 'secrets'>,
  { sub, email_verified }: Pick<User, 'sub' | 'email_verified'>,
  by: Actor,
  now: Date,
): Promise<void> {
  if (email_verified) return;
  const factors: string[] = [];
  for (const [name, { remove }] of secondFactors) if (await remove?.(trx, sub)) factors.push(name);
  if ((await upstreamLinks.removeAllOf(trx, sub)) > 0) factors.push('upstream');
  await consents.removeAllOf(trx, sub);
  await voidLinks(trx, sub, now);
  const ended = await endAll(trx, sub, 'password_change', now);
  if (factors.length === 0) return;
  await record(trx, { event: 'factors_reset', sub, detail: { factors, ...ended } }, by, now);
  await postNotice(trx, deps, { sub, notice: 'factors_reset' }, now);
}
