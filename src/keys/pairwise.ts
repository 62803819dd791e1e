/**
 * Pseudonyms: what a person, or a session, is called towards one sector (OpenID Connect Core §8.1). They are computed, so
 * that no token costs a read, from a salt that is drawn once and never rotates: a pseudonym stays the same for ever, and
 * without the salt nobody can tell of whom it is.
 */
import { createHmac, generateKeySync } from 'node:crypto';
import type { Db } from '../store/db.ts';
import * as salts from '../store/salts.ts';
import type { Secrets } from './secrets.ts';

const NAME = 'pairwise';
/** Bound into the sealing, and what a failure to open it says. */
const LABEL = 'the salt of pairwise subjects';

/** Makes the salt if there is none, and seals it under the first of SECRET_KEYS if another one sealed it. @throws when none did */
export async function ensureSalt(db: Db, secrets: Secrets): Promise<void> {
  const present = await salts.find(db, NAME);
  if (present === undefined) return salts.insert(db, NAME, newSalt(secrets));
  // A salt that nobody was ever named with may be lost with its key.
  const lost = !isReadable(present, secrets) && !(await salts.isNeeded(db));
  const resealed = lost ? newSalt(secrets) : secrets.reseal(present, LABEL);
  if (resealed !== undefined) await salts.replace(db, NAME, present, resealed);
}

const newSalt = (secrets: Secrets): Buffer => secrets.seal(generateKeySync('hmac', { length: 256 }).export(), LABEL);

/** Is there no salt, or one that SECRET_KEYS opens? */
export async function isSaltReadable(db: Db, secrets: Secrets): Promise<boolean> {
  const sealed = await salts.find(db, NAME);
  return sealed === undefined || isReadable(sealed, secrets);
}

function isReadable(sealed: Buffer, secrets: Secrets): boolean {
  try {
    secrets.open(sealed, LABEL);
    return true;
  } catch {
    return false;
  }
}

/** Reads the salt; undefined before a server was ever started. @throws when it does not open, if `strict` */
export async function loadSalt(db: Db, secrets: Secrets, strict: boolean): Promise<Buffer | undefined> {
  const sealed = await salts.find(db, NAME);
  if (sealed === undefined || (!strict && !isReadable(sealed, secrets))) return undefined;
  return secrets.open(sealed, LABEL);
}

/** The name of `value` in `sector`: 43 characters, 256 bits. What is named is bound in: no `sid` is ever a `sub`. */
export const pseudonymOf = (salt: Buffer, kind: 'sub' | 'sid', sector: string, value: string): string =>
  // A host holds no control characters, so the parts cannot be read another way.
  createHmac('sha256', salt).update(`${kind}\0${sector}\0${value}`).digest('base64url');
