/** Passwords: argon2id in PHC form, hashed off the event loop by few at a time. */
import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import type { Deps } from '../../deps.ts';
import { temporarilyUnavailable } from '../../protocol/error.ts';
import { DECOY, isOutdated, isPhc, loadArgon2, type Argon2 } from './argon2.ts';
import { createStrength, type JudgeStrength } from './strength.ts';
import { schemeOf } from './foreign/index.ts';
import { signerKeyOf } from './foreign/firebase.ts';
import { createForeignVerifier } from './foreign/verify.ts';
import { PASSWORD_MAX_BYTES, prepared } from './verdict.ts';

/**
 * How many hash at once in a server: two, and of two processors one, since the memory that argon2 goes through slows down
 * whatever runs beside it. In libuv's pool, where signatures of RSA are made, too, half of its threads stay free: no token waits
 * behind a password.
 */
export const CONCURRENT = availableParallelism() > 2 ? 2 : 1;
// At 10 to 20 ms each, the last in the queue waits for one second or two.
const MAX_WAITING = 100;

/** Reads the key that hashes of another system need besides; undefined when it cannot be had. */
type SecretOf = (name: string) => Promise<Buffer | undefined>;

export interface PasswordHasher {
  /** Runs work that will hash, when its turn comes. @throws OAuthError temporarily_unavailable when too many wait */
  turn<T>(work: () => Promise<T>): Promise<T>;
  /** How many have their turn, and how many wait for it. */
  readonly load: { hashing: number; waiting: number };
  hash(password: string): Promise<string>;
  /**
   * Compares; without a hash it compares with a decoy, so that an unknown account takes as long as a known one. That of
   * another system takes the time that it takes there, and no less than ours.
   */
  verify(phc: string | null, password: string, secretOf?: SecretOf): Promise<boolean>;
  /** Is this hash weaker than today's? */
  isOutdated(phc: string): boolean;
  /** How hard one is to guess: for `verdictOn`, which has the last word. */
  strength: JudgeStrength;
}

/**
 * @param queued is told when somebody begins to wait, and what it returns when that is over
 * @param load finds what does the work, when the first password is there
 * @param concurrent how many hash at once
 */
export function createPasswordHasher(
  queued: Deps['metrics']['queued'] = () => () => {},
  load: () => Promise<Argon2> = loadArgon2,
  concurrent = 2,
): PasswordHasher {
  const limit = pLimit(concurrent);
  let loading: Promise<Argon2> | undefined;
  const argon2 = (): Promise<Argon2> => (loading ??= load());
  const foreign = createForeignVerifier();
  return {
    turn(work) {
      if (limit.pendingCount >= MAX_WAITING) {
        throw temporarilyUnavailable('too many people are signing in at once', {
          retry_after: 2,
          check: 'sign_in_queue',
        });
      }
      const waited = queued();
      return limit(() => {
        waited();
        return work();
      });
    },
    get load() {
      return { hashing: limit.activeCount, waiting: limit.pendingCount };
    },
    hash: async (password) => (await argon2()).hash(prepared(password)),
    async verify(phc, password, secretOf) {
      const passwords = formsOf(password);
      if (phc !== null && schemeOf(phc)) {
        // No password of more bytes was ever set, and some schemes take time by its square.
        const fitting = passwords.filter((form) => Buffer.byteLength(form) <= PASSWORD_MAX_BYTES);
        const name = signerKeyOf(phc);
        const secret = name === undefined ? undefined : await secretOf?.(name);
        // Beside it the decoy: a hash that is quicker to compare than ours does not tell that it is another's.
        const { verify } = await argon2();
        const [matches] = await Promise.all([
          foreign({ phc, passwords: fitting, secret }),
          verify(DECOY, passwords[0]),
        ]);
        return matches;
      }
      const { verify } = await argon2();
      if (phc === null || !isPhc(phc)) {
        await verify(DECOY, passwords[0]);
        return false;
      }
      // oxlint-disable-next-line no-await-in-loop -- one after the other: it is rare that there are two
      for (const form of passwords) if (await verify(phc, form)) return true;
      return false;
    },
    isOutdated,
    strength: createStrength(),
  };
}

/** As we hash it, and where that differs as it was typed: other systems hashed that. */
const formsOf = (password: string): [string, ...string[]] => {
  const first = prepared(password);
  return first === password ? [first] : [first, password];
};
