/** How other systems store passwords: a row each. A person who was imported signs in by it once, and is hashed anew then. */
import { argon2 } from './argon2.ts';
import { bcrypt } from './bcrypt.ts';
import { firebase } from './firebase.ts';
import { pbkdf2 } from './pbkdf2.ts';
import { HashProblem, type ForeignHash, type Given, type Scheme } from './scheme.ts';
import { scrypt } from './scrypt.ts';
import { sha512Crypt } from './sha512-crypt.ts';

/** By the name that docs/importing.md has. */
const schemes: Readonly<Record<string, Scheme>> = {
  argon2,
  bcrypt,
  'firebase-scrypt': firebase,
  pbkdf2,
  scrypt,
  'sha512-crypt': sha512Crypt,
};

/** Reads a hash that another system wrote, within bounds that no sign-in hurts by. @throws HashProblem */
export function readForeignHash(given: Given): ForeignHash {
  if (typeof given === 'string' && given.length > 2000) throw new HashProblem('is longer than 2000 characters');
  for (const scheme of Object.values(schemes)) {
    const hash = scheme.read(given);
    if (hash) return hash;
  }
  throw new HashProblem(
    `is of none of these: ${Object.values(schemes)
      .map(({ title }) => title)
      .join(', ')}`,
  );
}

/** The scheme of a text that `readForeignHash` made; undefined for argon2, which is ours, and for what is none. */
export const schemeOf = (phc: string): Scheme | undefined => Object.values(schemes).find(({ form }) => form?.test(phc));
