/** The state of a key: it follows from its times, and from those of the key that came after it. Pure. */
import { MAX_GRANT_TTL, MAX_TOKEN_TTL } from '../protocol/client-metadata.ts';
import { useOf, type KeyAlg } from '../protocol/key-alg.ts';
import { earlier, secondsAfter } from '../protocol/numeric-date.ts';
import type { KeyRow } from '../store/keys.ts';

/** Seconds that others may keep our JWKS. */
export const JWKS_MAX_AGE = 300;
/** Seconds between publishing a key and using it: every cache and every process has it by then. */
export const PUBLISH_BEFORE_USE = JWKS_MAX_AGE + 60;
/**
 * Seconds a key goes on being good after another took over: until all that it signed has expired, and until those who
 * encrypt to us have fetched the JWKS again.
 */
const VALID_AFTER_USE = MAX_TOKEN_TTL + 60;
/** Seconds that the public half is kept beyond that: a hint may be an ID token as old as a grant can get. */
const KEEP_PUBLIC_FOR = MAX_GRANT_TTL;

/** `next` until it activates, `active` until another of its algorithm does or it is withdrawn, then `retired`. */
export type KeyState = 'next' | 'active' | 'retired';

/** A key, and when its time is over; null while nothing follows it. */
export interface PlacedKey {
  row: KeyRow;
  ends_at: Date | null;
}

/**
 * Finds the end of each key. Every row there is must be given, in the store's order. One that was retired ends the key
 * before it if it ever signed: no key comes back into use.
 */
export function place(rows: readonly KeyRow[]): PlacedKey[] {
  const successors = new Map<KeyAlg, KeyRow>();
  return rows
    .toReversed()
    .map((row) => {
      const successor = successors.get(row.alg);
      if (row.retired_at === null || row.retired_at > row.activates_at) successors.set(row.alg, row);
      return { row, ends_at: earliest(row.withdrawn_at, successor?.activates_at ?? null) };
    })
    .toReversed();
}

const earliest = (a: Date | null, b: Date | null): Date | null => (a && b ? earlier(a, b) : (a ?? b));

export function stateOf({ row, ends_at }: PlacedKey, now: Date): KeyState {
  if (row.retired_at !== null || (ends_at !== null && ends_at <= now)) return 'retired';
  return row.activates_at > now ? 'next' : 'active';
}

/** Is what it signed still accepted, or what was encrypted to it still opened? */
export const isValid = ({ row, ends_at }: PlacedKey, now: Date): boolean =>
  row.retired_at === null && (ends_at === null || now < secondsAfter(ends_at, VALID_AFTER_USE));

/** Is it in the JWKS? Nobody is to encrypt to a key whose time is over, so that one leaves at once. */
export const isPublished = (key: PlacedKey, now: Date): boolean =>
  isValid(key, now) && (useOf(key.row.alg) === 'sig' || stateOf(key, now) !== 'retired');

/** Is it of no use even to read what is old? */
export function isForgettable({ row, ends_at }: PlacedKey, now: Date): boolean {
  const over = row.retired_at ?? (ends_at && secondsAfter(ends_at, VALID_AFTER_USE));
  return over !== null && secondsAfter(over, KEEP_PUBLIC_FOR) <= now;
}

/**
 * The key of `keys` that signs `alg`: the last that activated, else the one that will. The latter only where an algorithm
 * is new, and nobody can have tokens of it yet: better a key that some cache may lack than none. Among those that one
 * process can open the last may be an older one, which is as good for a while.
 */
export function signerOf<T extends PlacedKey>(keys: readonly T[], alg: KeyAlg, now: Date): T | undefined {
  const ofAlg = keys.filter(({ row }) => row.alg === alg && (row.withdrawn_at === null || row.withdrawn_at > now));
  return (
    ofAlg.findLast((key) => key.row.activates_at <= now && isValid(key, now)) ??
    ofAlg.find((key) => stateOf(key, now) === 'next')
  );
}

/** The next moment at which the state of any of these keys changes; undefined: never. */
export function nextChange(keys: readonly PlacedKey[], now: Date): Date | undefined {
  return keys
    .flatMap(({ row, ends_at }) => [
      row.activates_at,
      row.withdrawn_at,
      ends_at,
      ends_at && secondsAfter(ends_at, VALID_AFTER_USE),
    ])
    .filter((at) => at !== null)
    .filter((at) => at > now)
    .reduce<Date | undefined>((first, at) => (first ? earlier(first, at) : at), undefined);
}

/** The state of each key, as `keys list` shows it. */
export function keyStates(
  rows: readonly KeyRow[],
  now: Date,
): Array<{
  kid: string;
  use: 'sig' | 'enc';
  alg: KeyAlg;
  state: KeyState;
  published: boolean;
  created_at: Date;
  activates_at: Date;
  ends_at: Date | null;
}> {
  return place(rows).map((key) => {
    const { kid, alg, created_at, activates_at } = key.row;
    return {
      kid,
      use: useOf(alg),
      alg,
      state: stateOf(key, now),
      published: isPublished(key, now),
      created_at,
      activates_at,
      ends_at: key.row.retired_at ?? key.ends_at,
    };
  });
}
