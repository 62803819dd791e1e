/** Guessing client secrets: failures are counted in the database, and remembered here so that a success reads nothing. */
import { LRUCache } from 'lru-cache';
import { secondsAfter, secondsUntil } from '../protocol/numeric-date.ts';
import { CLIENT_SECRET_POLICY, delayAfter, FADES_AFTER } from '../protocol/throttle.ts';
import type { Db } from '../store/db.ts';
import * as failures from '../store/failures.ts';

/** How long a client and network that failed have to wait. */
export interface Guesses {
  /** Seconds this network has to wait before it may try this client again; 0 is not at all. */
  blocked(client_id: string, network: string, now: Date): number;
  /** Counts a failure. Names that no client has are counted in memory only: anybody can think of any number of them. */
  failed(attempt: { client_id: string; network: string; known: boolean }, now: Date): Promise<void>;
}

const MAX_REMEMBERED = 10_000;

/** Guesses over the database: their delays are those of all processes as far as this one has seen them. */
export function createGuesses(db: Db): Guesses {
  const until = new LRUCache<string, Date>({ max: MAX_REMEMBERED });
  const unknown = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  const keyOf = (client_id: string, network: string): string => `client:${client_id.slice(0, 128)}:${network}`;

  const countKnown = async (key: string, now: Date): Promise<number> =>
    (await failures.count(db, [key], now, secondsAfter(now, -FADES_AFTER))).get(key) ?? 1;
  const countUnknown = (key: string): number => {
    const count = (unknown.get(key) ?? 0) + 1;
    unknown.set(key, count);
    return count;
  };

  return {
    blocked(client_id, network, now) {
      const end = until.get(keyOf(client_id, network));
      return end === undefined || end <= now ? 0 : Math.max(1, secondsUntil(end, now));
    },
    async failed({ client_id, network, known }, now) {
      const key = keyOf(client_id, network);
      const delay = delayAfter(known ? await countKnown(key, now) : countUnknown(key), CLIENT_SECRET_POLICY);
      if (delay > 0) until.set(key, secondsAfter(now, delay));
    },
  };
}
