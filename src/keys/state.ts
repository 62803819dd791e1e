/** The state of a key: it follows from its times, and from those of the keys that came after it. Pure. */
import { MAX_TOKEN_TTL } from '../protocol/client-metadata.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import type { SigningAlg } from '../protocol/signing-alg.ts';
import type { SigningKeyRow } from '../store/keys.ts';

/** Seconds a key stays published after another took over. */
const PUBLISH_AFTER_USE = MAX_TOKEN_TTL + 60;

/** `next` until it activates, `active` until another of its algorithm does, then `retired`. */
export type KeyState = 'next' | 'active' | 'retired';

/** Is it in the JWKS? Every row of the table is needed to tell. */
export function isPublished(row: SigningKeyRow, all: readonly SigningKeyRow[], now: Date): boolean {
  if (row.retired_at !== null) return false;
  const successor = successorOf(row, all);
  return successor === undefined || now < secondsAfter(successor.activates_at, PUBLISH_AFTER_USE);
}

/** The key that took over, or will. One that was retired counts if it ever signed: no key comes back into use. */
const successorOf = (row: SigningKeyRow, all: readonly SigningKeyRow[]): SigningKeyRow | undefined =>
  all.find(
    (other) =>
      other.alg === row.alg &&
      other.activates_at > row.activates_at &&
      (other.retired_at === null || other.retired_at > other.activates_at),
  );

/** The state of each key, as `keys list` shows it. */
export function keyStates(
  rows: readonly SigningKeyRow[],
  now: Date,
): Array<{ kid: string; alg: SigningAlg; state: KeyState; published: boolean; created_at: Date; activates_at: Date }> {
  return rows.map((row) => {
    const { kid, alg, created_at, activates_at } = row;
    const successor = successorOf(row, rows);
    const superseded = successor !== undefined && successor.activates_at <= now;
    const state = row.retired_at !== null || superseded ? 'retired' : activates_at > now ? 'next' : 'active';
    return { kid, alg, state, published: isPublished(row, rows, now), created_at, activates_at };
  });
}
