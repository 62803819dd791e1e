/** The secrets of a client, one by one: what lets a new one come before the old one goes. */
import type { Deps } from '../deps.ts';
import { record, type Actor } from '../events/index.ts';
import { usesSecret } from '../protocol/client.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import * as clients from '../store/clients.ts';
import type { Trx } from '../store/postgres/db.ts';
import { addSecret, identifiers, newSecret } from './register.ts';

/** The secret to add, instead of a random one; and how many seconds the others live on, where they are to end. */
export interface NewSecret {
  client_secret?: string | undefined;
  overlap?: number | undefined;
}

/** Adds a secret. Undefined when there is no such client, or it does not use any. @throws ZodError */
export async function addSecretTo(
  trx: Trx,
  deps: Pick<Deps, 'random'>,
  client_id: string,
  { client_secret = newSecret(deps), overlap }: NewSecret,
  by: Actor,
  now: Date,
): Promise<{ secret_id: string; client_secret: string } | undefined> {
  identifiers.parse({ client_secret });
  const client = await clients.findLocked(trx, client_id);
  if (!client || !usesSecret(client)) return undefined;
  if (overlap !== undefined) await clients.expireSecrets(trx, client_id, secondsAfter(now, overlap));
  // Who takes secrets away at once takes away what was got with them; with an overlap nobody is in a hurry.
  if (overlap === 0) await clients.endMachineTokens(trx, client_id, now);
  const secret_id = await addSecret(trx, deps, client_id, client_secret, now);
  await record(trx, { event: 'client_secret_added', client_id, detail: { secret_id } }, by, now);
  return { secret_id, client_secret };
}

/**
 * Deletes a secret: it works no more, and where it did until now, nothing does that the client got for itself until now, with
 * whichever secret. False when there is none such.
 */
export async function removeSecret(
  trx: Trx,
  client_id: string,
  secret_id: string,
  by: Actor,
  now: Date,
): Promise<boolean> {
  const secret = await clients.findSecret(trx, client_id, secret_id);
  if (!secret || !(await clients.deleteSecret(trx, client_id, secret_id))) return false;
  if (secret.expires_at === null || secret.expires_at > now) await clients.endMachineTokens(trx, client_id, now);
  await record(trx, { event: 'client_secret_deleted', client_id, detail: { secret_id } }, by, now);
  return true;
}
