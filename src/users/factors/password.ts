/** Passwords: argon2id in PHC form, hashed off the event loop by few at a time. */
import argon2 from 'argon2';
import pLimit from 'p-limit';
import type { Deps } from '../../deps.ts';
import { temporarilyUnavailable } from '../../protocol/error.ts';

/** Parameters of new hashes (OWASP: at least 19 MiB, 2 passes, 1 lane). Older hashes are replaced at the next sign-in. */
const PARAMETERS = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

// argon2 and signatures share libuv's four threads: two stay free, so that no token waits behind a password.
const CONCURRENT = 2;
// At 20 ms each, the last in the queue waits about a second.
const MAX_WAITING = 100;

/** Most bytes a password may have: stated and refused, never cut. */
export const PASSWORD_MAX_BYTES = 1024;

export interface PasswordHasher {
  /** Runs work that will hash, when its turn comes. @throws OAuthError temporarily_unavailable when too many wait */
  turn<T>(work: () => Promise<T>): Promise<T>;
  /** How many have their turn, and how many wait for it. */
  readonly load: { hashing: number; waiting: number };
  hash(password: string): Promise<string>;
  /** Compares; without a hash it compares with a decoy, so that an unknown account takes as long as a known one. */
  verify(phc: string | null, password: string): Promise<boolean>;
  /** Is this hash weaker than today's? */
  isOutdated(phc: string): boolean;
}

/** @param queued is told when somebody begins to wait, and what it returns when that is over */
export function createPasswordHasher(queued: Deps['metrics']['queued'] = () => () => {}): PasswordHasher {
  const limit = pLimit(CONCURRENT);
  let decoy: Promise<string> | undefined;
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
    hash: (password) => argon2.hash(prepared(password), PARAMETERS),
    async verify(phc, password) {
      decoy ??= argon2.hash('nobody has this password', PARAMETERS);
      const matches = await argon2.verify(phc ?? (await decoy), prepared(password));
      return matches && phc !== null;
    },
    isOutdated: (phc) => argon2.needsRehash(phc, PARAMETERS),
  };
}

// NIST 800-63B-4 §3.1.1.2: the same text typed on another keyboard is the same password.
const prepared = (password: string): string => password.normalize('NFKC');

/** Why a password cannot be set, or undefined when it can. Length and the blocklist: no composition rules. */
export async function passwordProblem(
  password: string,
  min_length: number,
  names: readonly string[],
): Promise<string | undefined> {
  if ([...password].length < min_length) return `must have at least ${min_length} characters`;
  if (Buffer.byteLength(password) > PASSWORD_MAX_BYTES) return `must have at most ${PASSWORD_MAX_BYTES} bytes`;
  const folded = password.toLowerCase();
  if (names.some((name) => name.toLowerCase() === folded)) return 'must not be the name of the account';
  return (await isCommon(folded)) ? 'is one of the most common ones, and among the first to be tried' : undefined;
}

let common: ReadonlySet<string> | undefined;

/** NIST 800-63B-4 §3.1.1.2: is it on the list of breached and usual passwords? Loaded at the first question. */
async function isCommon(folded: string): Promise<boolean> {
  if (!common) {
    const { dictionary } = await import('@zxcvbn-ts/language-common');
    common = new Set(dictionary['passwords-common'] as readonly string[]);
  }
  return common.has(folded) || folded === 'postern';
}
