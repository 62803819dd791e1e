/** The password of the fixtures, for which argon2 works once: whoever signs in with it is not what most tests are about. */
import type { PasswordHasher } from '../../src/users/factors/password.ts';
import { PASSWORD } from './fixtures.ts';

let known: Promise<string> | undefined;
let verified: Promise<boolean> | undefined;

/** The same hasher, that remembers the hash of PASSWORD and what comes of comparing the two. Everything else it does anew. */
export function knowingThePassword(hasher: PasswordHasher): PasswordHasher {
  return {
    ...hasher,
    get load() {
      return hasher.load;
    },
    hash: (password) => (password === PASSWORD ? (known ??= hasher.hash(password)) : hasher.hash(password)),
    async verify(phc, password) {
      if (password !== PASSWORD || phc === null || phc !== (await known)) return hasher.verify(phc, password);
      return (verified ??= hasher.verify(phc, password));
    },
  };
}
