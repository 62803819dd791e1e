/** Guessing client secrets: failures are counted in the database, and remembered here so that a success reads nothing. */
import { LRUCache } from 'lru-cache';
import { secondsAfter, secondsUntil } from '../protocol/numeric-date.ts';
import { CLIENT_SECRET_POLICY, delayAfter, FADES_AFTER } from '../protocol/throttle.ts';
import type { Db } from '../store/db.ts';
import * as failures from '../store/failures.ts';

export interface Guesses {
  /** Seconds this network has to wait before it may try this client again; 0 is not at all. */
  blocked(client_id: string, network: string, now: Date): number;
  failed(client_id: string, network: string, now: Date): Promise<void>;
}

const MAX_REMEMBERED = 10_000;

export function createGuesses(db: Db): Guesses {
  const until = new LRUCache<string, Date>({ max: MAX_REMEMBERED });
  const keyOf = (client_id: string, network: string): string => `client:${client_id.slice(0, 128)}:${network}`;
  return {
    blocked(client_id, network, now) {
      const end = until.get(keyOf(client_id, network));
      return end === undefined || end <= now ? 0 : Math.max(1, secondsUntil(end, now));
    },
    async failed(client_id, network, now) {
      const key = keyOf(client_id, network);
      const counts = await failures.count(db, [key], now, secondsAfter(now, -FADES_AFTER));
      const delay = delayAfter(counts.get(key) ?? 1, CLIENT_SECRET_POLICY);
      if (delay > 0) until.set(key, secondsAfter(now, delay));
    },
  };
}
