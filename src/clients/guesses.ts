/** Throttles guesses of client secrets: failures are counted in the database, and cached here so that a success reads nothing. */
import { LRUCache } from 'lru-cache';
import { secondsAfter, secondsUntil } from '../protocol/numeric-date.ts';
import { blockedUntil, CLIENT_SECRET_POLICY, delayAfter, FADES_AFTER, type Failures } from '../protocol/throttle.ts';
import type { Db } from '../store/postgres/db.ts';
import * as failures from '../store/failures.ts';

/** How long a client and network that failed have to wait. */
export interface Guesses {
  /** Seconds this network has to wait before it may try this client again; 0 is not at all. */
  blocked(client_id: string, network: string, now: Date): number;
  /**
   * Counts a failure, before anything is awaited: whoever compares in the same turn as `blocked` was asked compares no more
   * than are free, however many come at once. Names that no client has are counted in memory only: anybody can think
   * of any number of them. Returns the seconds to wait where so many had failed meanwhile, at other processes, that nobody
   * may learn what came of this one; 0 otherwise.
   */
  failed(attempt: { client_id: string; network: string; known: boolean }, now: Date): Promise<number>;
}

const MAX_REMEMBERED = 10_000;

/** The count of a client and network in this process: as last read, and the failures being written now. */
interface Counter extends Failures {
  underWay: number;
}

/** Guesses over the database: their delays are those of all processes as far as this one has seen them. */
export function createGuesses(db: Db): Guesses {
  const counters = new LRUCache<string, Counter>({ max: MAX_REMEMBERED });
  const keyOf = (client_id: string, network: string): string => `client:${client_id.slice(0, 128)}:${network}`;

  const waitAfter = ({ count, last_at, underWay }: Counter, now: Date): number => {
    const faded = last_at <= secondsAfter(now, -FADES_AFTER);
    const end = secondsAfter(last_at, faded ? 0 : delayAfter(count, CLIENT_SECRET_POLICY));
    if (end > now) return Math.max(1, secondsUntil(end, now));
    return underWay > 0 && (faded ? 0 : count) + underWay >= CLIENT_SECRET_POLICY.free ? 1 : 0;
  };

  return {
    blocked(client_id, network, now) {
      const known = counters.get(keyOf(client_id, network));
      return known ? waitAfter(known, now) : 0;
    },
    async failed({ client_id, network, known }, now) {
      const key = keyOf(client_id, network);
      const since = secondsAfter(now, -FADES_AFTER);
      const entry = counters.get(key) ?? { count: 0, last_at: now, underWay: 0 };
      counters.set(key, entry);
      if (!known) {
        entry.count = entry.last_at > since ? entry.count + 1 : 1;
        entry.last_at = now;
        return 0;
      }
      entry.underWay += 1;
      try {
        const lane = { key, policy: CLIENT_SECRET_POLICY };
        const { granted, failed } = await failures.reserve(db, [lane], now, since);
        const row = failed.get(key);
        // Answers may overtake each other.
        if (row && (row.count > entry.count || row.last_at > entry.last_at)) Object.assign(entry, row);
        const until = granted ? undefined : blockedUntil(failed, [lane], now);
        return until === undefined ? 0 : Math.max(1, secondsUntil(until, now));
      } finally {
        entry.underWay -= 1;
      }
    },
  };
}
