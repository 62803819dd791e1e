/** Keys rotated and retired as operators do it: the new one is made first, then written in a transaction of its own. */
import type { Actor } from '../../src/events/index.ts';
import * as rotation from '../../src/keys/rotation.ts';
import type { Secrets } from '../../src/keys/secrets.ts';
import type { KeyAlg } from '../../src/protocol/key-alg.ts';
import { transact, type Db } from '../../src/store/postgres/db.ts';
import * as store from '../../src/store/keys.ts';

/** Makes a new key of this algorithm. */
export async function rotateKey(
  db: Db,
  secrets: Secrets,
  alg: KeyAlg,
  by: Actor,
  now: Date,
  options: { immediately?: boolean } = {},
): ReturnType<typeof rotation.rotateKey> {
  const made = await rotation.makeKey(secrets, alg, now);
  return transact(db, (trx) => rotation.rotateKey(trx, made, by, now, options));
}

/** Takes a key out of use; undefined when there is none such. */
export async function retireKey(
  db: Db,
  secrets: Secrets,
  kid: string,
  by: Actor,
  now: Date,
): ReturnType<typeof rotation.retireKey> {
  const present = (await store.all(db)).find((key) => key.kid === kid);
  if (!present) return undefined;
  const spare = await rotation.makeKey(secrets, present.alg, now);
  return transact(db, (trx) => rotation.retireKey(trx, kid, spare, by, now));
}
