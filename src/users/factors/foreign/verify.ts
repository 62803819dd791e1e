/** Compares passwords with hashes of other systems, in a thread that is there while such people sign in. */
import { Worker } from 'node:worker_threads';
import { createIdleThread } from '../idle-thread.ts';

/** One of the forms of a password that gives the hash is enough. */
export interface Question {
  phc: string;
  passwords: readonly string[];
  secret: Uint8Array | undefined;
}

export type VerifyForeign = (question: Question) => Promise<boolean>;

const LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 };

/** Whoever asks has their turn to hash: few wait. */
export const createForeignVerifier = (): VerifyForeign =>
  createIdleThread<boolean>(
    () => new Worker(new URL('thread-main.ts', import.meta.url), { resourceLimits: LIMITS }),
    100,
    'signing in',
  );
