/** The schedule of keys: successors are made in time, keys of unused algorithms are withdrawn, private halves erased. */
import type { Config } from '../config.ts';
import { record, type Actor } from '../events/index.ts';
import type { KeyAlg } from '../protocol/key-alg.ts';
import { DAY, secondsAfter } from '../protocol/numeric-date.ts';
import { transact, type Db } from '../store/postgres/db.ts';
import * as store from '../store/keys.ts';
import { makeKey } from './rotation.ts';
import type { Secrets } from './secrets.ts';
import { isForgettable, isValid, place, PUBLISH_BEFORE_USE, stateOf } from './state.ts';

/** Seconds that an algorithm goes on after it was taken out of the configuration: older servers may still have it. */
const WITHDRAWN_AFTER = DAY;

/** The algorithms that keys are needed for. */
interface KeyDemand {
  configured: readonly KeyAlg[];
  /** Those of clients and resources: these are served, whatever the configuration says. */
  in_use: readonly KeyAlg[];
  /** Seconds a key is used; 0 is for good. */
  interval: number;
}

/** What is due: algorithms that need a new key, and the ids of keys to withdraw, erase or delete. */
interface Plan {
  make: KeyAlg[];
  withdraw: string[];
  restore: string[];
  erase: string[];
  remove: string[];
}

/** Finds what is due. */
function plan(rows: readonly store.KeyRow[], { configured, in_use, interval }: KeyDemand, now: Date): Plan {
  const keys = place(rows);
  const kids = (matches: (key: (typeof keys)[number]) => boolean): string[] =>
    keys.filter(matches).map(({ row }) => row.kid);
  const needed = new Set([...configured, ...in_use]);
  const make = [...needed].filter((alg) => {
    const newest = keys.findLast((key) => key.row.alg === alg && stateOf(key, now) !== 'retired');
    // A configured one without a key is made when a server starts; one that is in use has to be there.
    if (newest === undefined) return in_use.includes(alg);
    // Published early enough to take over on time.
    return interval > 0 && secondsAfter(newest.row.activates_at, interval - PUBLISH_BEFORE_USE) <= now;
  });
  const remove = kids((key) => isForgettable(key, now));
  return {
    make,
    withdraw: kids(
      (key) => !needed.has(key.row.alg) && key.row.withdrawn_at === null && stateOf(key, now) !== 'retired',
    ),
    restore: kids(
      (key) => in_use.includes(key.row.alg) && key.row.withdrawn_at !== null && stateOf(key, now) !== 'retired',
    ),
    erase: kids((key) => key.row.sealed_private_key !== null && !isValid(key, now) && !isForgettable(key, now)),
    remove,
  };
}

interface Needs {
  db: Db;
  secrets: Secrets;
  config: Pick<Config, 'SIGNING_ALGS' | 'ENCRYPTION_ALGS' | 'KEY_ROTATION_INTERVAL'>;
}

/**
 * Does what is due, once, however many processes try together: whoever comes second finds nothing left.
 * @returns whether anything was done
 */
export async function keepKeys({ db, secrets, config }: Needs, by: Actor, now: Date): Promise<boolean> {
  const configured: KeyAlg[] = [...config.SIGNING_ALGS, ...config.ENCRYPTION_ALGS];
  const due = async (from: Db): Promise<Plan> => {
    const rows = await store.all(from);
    // Only keys beyond the configuration raise the question who uses them.
    const others = rows.some(({ alg }) => !configured.includes(alg));
    const in_use = others ? await store.algsInUse(from) : [];
    return plan(rows, { configured, in_use, interval: config.KEY_ROTATION_INTERVAL }, now);
  };
  const before = await due(db);
  if (Object.values(before).every((list) => list.length === 0)) return false;
  // Outside the transaction, since an RSA key takes a while.
  const made = await Promise.all(before.make.map((alg) => makeKey(secrets, alg, now)));
  return transact(db, async (trx) => {
    await store.lock(trx);
    const { make, withdraw, restore, erase, remove } = await due(trx);
    const insert = made.filter(({ alg }) => make.includes(alg));
    for (const key of insert) {
      await store.insert(trx, { ...key, activates_at: secondsAfter(now, PUBLISH_BEFORE_USE) });
      await record(trx, { event: 'key_rotated', detail: { kid: key.kid, alg: key.alg } }, by, now);
    }
    const changes = [
      ['key_withdrawn', withdraw, () => store.withdraw(trx, withdraw, secondsAfter(now, WITHDRAWN_AFTER))],
      ['key_restored', restore, () => store.withdraw(trx, restore, null)],
      ['key_erased', erase, () => store.erase(trx, erase)],
      ['key_removed', remove, () => store.remove(trx, remove)],
    ] as const;
    for (const [event, kids, change] of changes) {
      if (kids.length > 0) await change();
      for (const kid of kids) await record(trx, { event, detail: { kid } }, by, now);
    }
    return insert.length + changes.reduce((count, [, kids]) => count + kids.length, 0) > 0;
  });
}
