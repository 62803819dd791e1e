/** The password of the fixtures, for which argon2 works once: whoever signs in with it is not what most tests are about. */
import type { PasswordHasher } from '../../src/users/factors/password.ts';
import { PASSWORD } from './fixtures.ts';

let known: Promise<string> | undefined;
let verified: Promise<boolean> | undefined;

/** The same hasher, that remembers the hash of PASSWORD, that it is a good one, and what comes of comparing the two. Everything else it does anew. */
export function knowingThePassword(hasher: PasswordHasher): PasswordHasher {
  return {
    ...hasher,
    get load() {
      return hasher.load;
    },
    strength: async (password, words) =>
      password === PASSWORD
        ? { common: false, score: 4, warning: null, suggestions: [] }
        : hasher.strength(password, words),
    hash: (password) => (password === PASSWORD ? (known ??= hasher.hash(password)) : hasher.hash(password)),
    async verify(phc, password, secretOf) {
      if (password !== PASSWORD || phc === null || phc !== (await known)) return hasher.verify(phc, password, secretOf);
      return (verified ??= hasher.verify(phc, password));
    },
  };
}
