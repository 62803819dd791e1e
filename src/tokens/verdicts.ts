/**
 * JWT access tokens of ours whose signature was found to be good, by their hash, so that one presented again costs no
 * verification. Only what never changes is kept: key, expiry, grant and session are checked each time, by presented-token.ts
 * and verify.ts.
 */
import { hash, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { PresentedToken } from './presented-token.ts';

/** A signature that is good under this key, and what it signs. */
interface Verdict {
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
/** Characters of all tokens together: a scope can be long. */
const MAX_SIZE = 16 * 1024 * 1024;

/** An empty memory. */
export function createVerdicts(): Verdicts {
  // By its hash: a token that stays in memory for minutes could be stolen from there.
  const nameOf = (token: string): string => hash('sha256', token, 'base64url');
  const kept = new LRUCache<string, Verdict>({ max: MAX_TOKENS, maxSize: MAX_SIZE });
  return {
    find: (token) => kept.get(nameOf(token)),
    // What was read of a token is not longer than the token.
    keep: (token, verdict) => void kept.set(nameOf(token), verdict, { size: token.length }),
    forget: (token) => void kept.delete(nameOf(token)),
  };
}
