/**
 * Handles: the opaque strings we give out (codes, tokens, session ids) and what is kept of them, which is a hash.
 * A handle is `<bucket>_<random>`. The bucket, the day its row expires, leads to the row's partition.
 */
import { hash } from 'node:crypto';

/** Draws n random bytes. */
export type Random = (bytes: number) => Buffer;

/** Where a row is. `hash` is SHA-256 of the whole handle: 256 random bits need no slow hash. */
export interface HandleKey {
  expires_bucket: number;
  hash: Buffer;
}

/** A handle as its holder has it, with the key of its row. */
export interface Handle extends HandleKey {
  /** The secret itself: for its owner, never for the store. */
  handle: string;
}

const DAY_MS = 86_400_000;
const HANDLE = /^([0-9a-z]{1,6})_([A-Za-z0-9_-]{43})$/;

/** What is stored of a secret with enough entropy of its own. */
export const sha256 = (text: string | Buffer): Buffer => hash('sha256', text, 'buffer');

/** Days since the epoch. A row of bucket b has expired by the end of day b. */
export const bucketOf = (expires_at: Date): number => Math.floor(expires_at.getTime() / DAY_MS);

/** When the rows of a bucket have all expired. */
export const endOfBucket = (bucket: number): Date => new Date((bucket + 1) * DAY_MS);

/** A new handle with 256 random bits for a row that expires at `expires_at`. */
export const drawHandle = (random: Random, expires_at: Date): Handle => handleFrom(bucketOf(expires_at), random(32));

/** A handle with given randomness, for rows that share another row's bucket or derive their secret. */
export function handleFrom(expires_bucket: number, secret: Buffer): Handle {
  const handle = `${expires_bucket.toString(36)}_${secret.toString('base64url')}`;
  return { handle, expires_bucket, hash: sha256(handle) };
}

/** Reads a presented handle; undefined when it cannot be one of ours. */
export function readHandle(text: string): HandleKey | undefined {
  const match = HANDLE.exec(text);
  if (!match) return undefined;
  const expires_bucket = Number.parseInt(match[1]!, 36);
  // A bucket that Postgres' integer cannot hold is nobody's.
  return expires_bucket <= 0x7fff_ffff ? { expires_bucket, hash: sha256(text) } : undefined;
}

/** A random identifier, for people to paste: never with a `-` in front, which a command line takes for an option. */
export function newId(random: Random, bytes: number): string {
  const id = random(bytes).toString('base64url');
  return isPasteable(id) ? id : newId(random, bytes);
}

/** Can it stand on a command line as it is? */
export const isPasteable = (id: string): boolean => !id.startsWith('-');

/** An identifier that is no secret but leads to its partition too: grant ids, jti. */
export const drawId = (random: Random, expires_at: Date): string => idInBucket(random, bucketOf(expires_at));

/** The same, in a given bucket. */
export const idInBucket = (random: Random, expires_bucket: number): string =>
  `${expires_bucket.toString(36)}_${random(16).toString('base64url')}`;

/** The bucket of an identifier made by `drawId`, or undefined. */
export function bucketOfId(id: string): number | undefined {
  const match = /^([0-9a-z]{1,6})_[A-Za-z0-9_-]{22}$/.exec(id);
  const bucket = match ? Number.parseInt(match[1]!, 36) : Number.NaN;
  return bucket <= 0x7fff_ffff ? bucket : undefined;
}
