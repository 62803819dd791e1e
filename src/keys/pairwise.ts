/**
 * Pseudonyms: what a person, or a session, is called towards one sector (OpenID Connect Core §8.1). They are computed, so
 * that no token costs a read, from a salt that is drawn once and never rotates: a pseudonym stays the same for ever, and
 * without the salt nobody can tell of whom it is.
 */
import { createHash, createHmac, createSecretKey, generateKeySync, type KeyObject } from 'node:crypto';
import type { Db } from '../store/postgres/db.ts';
import * as salts from '../store/salts.ts';
import type { Secrets } from './secrets.ts';

const NAME = 'pairwise';
/** Bound into the sealing, and what a failure to open it says. */
const LABEL = 'the salt of pairwise subjects';

/** The salt as a process holds it. */
export interface LoadedSalt {
  fingerprint: Buffer;
  key: KeyObject;
}

/**
 * Makes the salt if there is none, and seals it under the first of SECRET_KEYS if another one sealed it. @throws when
 * none did
 */
export async function ensureSalt(db: Db, secrets: Secrets): Promise<void> {
  const present = await salts.find(db, NAME);
  if (present === undefined) return salts.insert(db, newSalt(secrets));
  // A salt that nobody was ever named with may be lost with its key.
  if (!isReadable(present, secrets) && !(await salts.isNeeded(db))) {
    return salts.replace(db, present, newSalt(secrets));
  }
  const sealed = secrets.reseal(present.sealed, LABEL);
  if (sealed !== undefined) await salts.replace(db, present, { ...present, sealed });
}

function newSalt(secrets: Secrets): salts.Salt {
  const value = generateKeySync('hmac', { length: 256 }).export();
  const fingerprint = createHash('sha256').update(value).digest().subarray(0, 8);
  return { name: NAME, fingerprint, sealed: secrets.seal(value, LABEL) };
}

/** Is there no salt, or one that SECRET_KEYS opens? */
export async function isSaltReadable(db: Db, secrets: Secrets): Promise<boolean> {
  const present = await salts.find(db, NAME);
  return present === undefined || isReadable(present, secrets);
}

function isReadable({ sealed }: salts.Salt, secrets: Secrets): boolean {
  try {
    secrets.open(sealed, LABEL);
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads the salt; undefined before a server was ever started. The one a process holds it keeps, though another may have
 * sealed it under a key that is not known here.
 * @throws when it does not open, and is not the one that is held
 */
export async function loadSalt(
  db: Db,
  secrets: Secrets,
  loaded: LoadedSalt | undefined,
): Promise<LoadedSalt | undefined> {
  const present = await salts.find(db, NAME);
  if (present === undefined || loaded?.fingerprint.equals(present.fingerprint)) return loaded;
  return { fingerprint: present.fingerprint, key: createSecretKey(secrets.open(present.sealed, LABEL)) };
}

/** The name of `value` in `sector`: 43 characters, 256 bits. What is named is bound in: no `sid` is ever a `sub`. */
export const pseudonymOf = (salt: LoadedSalt, kind: 'sub' | 'sid', sector: string, value: string): string =>
  // A host holds no control characters, so the parts cannot be read another way.
  createHmac('sha256', salt.key).update(`${kind}\0${sector}\0${value}`).digest('base64url');
