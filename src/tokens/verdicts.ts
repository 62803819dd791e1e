/**
 * JWT access tokens of ours whose signature was found to be good, by their hash, so that one presented again costs no
 * verification. Kept is only what never changes: whether its key still counts, whether it has expired and whether what it
 * stands on is alive is looked at each time, by `verify.ts`.
 */
import { hash, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { PresentedToken } from './verify.ts';

/** A signature that is good under this key, and what it signs. */
export interface Verdict {
  kid: string;
  key: KeyObject;
  token: Readonly<PresentedToken>;
}

export interface Verdicts {
  find(token: string): Verdict | undefined;
  /** Only good ones: what anybody can make up must not push others out. */
  keep(token: string, verdict: Verdict): void;
  forget(token: string): void;
}

const MAX_TOKENS = 10_000;
/** Characters of all that are kept: a scope can be long. */
const MAX_SIZE = 16 * 1024 * 1024;

/** An empty memory. */
export function createVerdicts(): Verdicts {
  // By its hash: what is kept for minutes must not be usable.
  const nameOf = (token: string): string => hash('sha256', token, 'base64url');
  const kept = new LRUCache<string, Verdict>({ max: MAX_TOKENS, maxSize: MAX_SIZE });
  return {
    find: (token) => kept.get(nameOf(token)),
    // What was read of a token is not longer than the token.
    keep: (token, verdict) => void kept.set(nameOf(token), verdict, { size: token.length }),
    forget: (token) => void kept.delete(nameOf(token)),
  };
}
