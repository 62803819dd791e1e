/** Disabling a client: what it had ends, and nothing is given to it until it is enabled again. */
import { record, type Actor } from '../events/index.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import * as clients from '../store/clients.ts';
import type { Trx } from '../store/postgres/db.ts';
import * as grants from '../store/grants.ts';
import * as notices from '../store/logout-notices.ts';
import { CLOCK_SKEW } from './register.ts';

/**
 * Disables a client and ends everything it was granted: grants with their tokens, and tokens of its own, which are in no
 * table. Or enables it: what a server that had not noticed gave it meanwhile ends then. False when there is no such client.
 */
export async function setClientDisabled(
  trx: Trx,
  client_id: string,
  disabled: boolean,
  by: Actor,
  now: Date,
): Promise<boolean> {
  const present = await clients.findLocked(trx, client_id);
  if (!present) return false;
  if ((present.disabled_at !== null) === disabled) return true;
  const disabled_at = disabled ? now : null;
  // A token's iat is in whole seconds: those of this second were issued before.
  const since = secondsAfter(now, disabled ? 1 : -CLOCK_SKEW);
  const tokens_since = since > present.tokens_since ? since : present.tokens_since;
  await clients.update(trx, client_id, { disabled_at, tokens_since, updated_at: now });
  await grants.revokeAllOf(trx, { client_id }, 'client_disabled', now);
  if (disabled) await notices.forget(trx, client_id);
  await record(trx, { event: disabled ? 'client_disabled' : 'client_enabled', client_id }, by, now);
  return true;
}
