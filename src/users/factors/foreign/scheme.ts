/** What the schemes of other systems have in common. */

/** A hash of another system as we keep it: text that says its scheme, its cost and its salt. */
export interface ForeignHash {
  phc: string;
  /** A key of the other system that its hashes need besides. It is kept once, sealed; the text has its name. */
  secret?: { name: string; value: Buffer };
}

/** How another system stores passwords. */
export interface Scheme {
  /** As people know it. */
  readonly title: string;
  /** The form of the text that we keep; undefined where it is compared as our own. */
  readonly form: RegExp | undefined;
  /** Reads what the other system wrote; undefined when it is of no form of this scheme. @throws HashProblem */
  read(given: Given): ForeignHash | undefined;
  /** Does the password give the hash? `phc` is what `read` made. Called in a thread of its own. */
  verify(phc: string, password: Buffer, secret: Buffer | undefined): boolean;
}

/** A hash as a line of text, or as an object with the parts of it. */
export type Given = string | Readonly<Record<string, unknown>>;

/** Why a hash is not taken, as a sentence without a subject. Nothing of the hash is in it. */
export class HashProblem extends Error {
  override name = 'HashProblem';
}

/** Base64 with or without its padding, in either alphabet. @throws HashProblem */
export function bytesOf(text: string, what: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  const plain = text.replaceAll('-', '+').replaceAll('_', '/').replaceAll('.', '+').replace(/=+$/, '');
  if (bytes.toString('base64').replace(/=+$/, '') !== plain) throw new HashProblem(`its ${what} is not base64`);
  return bytes;
}

/** Base64 as PHC strings have it: without padding. */
export const text64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/** @throws HashProblem when a number is none, or not within its bounds */
export function within(value: unknown, what: string, min: number, max: number): number {
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < min) {
    throw new HashProblem(`its ${what} is not a number from ${min}`);
  }
  if (number > max) throw new HashProblem(`its ${what} is above ${max}: each sign-in would take seconds`);
  return number;
}
