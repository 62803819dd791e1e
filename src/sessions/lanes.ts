/**
 * Lanes of deliveries: which clients may be notified next, beside those under way. A client that is slow, or failed, is in nobody's way but
 * its own. What is known of clients is this process' alone, and only about when to try.
 */
import { LRUCache } from 'lru-cache';
import { secondsAfter } from '../protocol/numeric-date.ts';

/** Deliveries at once to clients that answer at once. */
const QUICK = 10;
/** Deliveries at once that take longer: room for that many clients that do not answer, before anybody else notices. */
const SLOW = 50;
/** How many one client has; while it is slow or fails, one. */
const OF_ONE = 2;
/** Longest rest of a client that fails, in seconds, before new notices are tried again. */
const LONGEST_REST = 600;
const MAX_REMEMBERED = 1000;

/** What the seconds until the next try are doubled from. */
export const FIRST_RETRY = 10;
/** Seconds until the next try: 20, 40, 80, … */
export const backOff = (attempts: number): number => FIRST_RETRY * 2 ** attempts;

/** One delivery under way. */
interface Delivery {
  client_id: string;
  /** In a lane of those that take long. */
  slow: boolean;
  /** Took long. */
  late: boolean;
}

interface Condition {
  slow: boolean;
  failures: number;
  rests_until: Date | undefined;
}
const WELL: Condition = { slow: false, failures: 0, rests_until: undefined };

export interface Lanes {
  readonly underWay: ReadonlySet<Delivery>;
  /** Clients that no delivery may start to; undefined when none may to anybody. */
  busy(now: Date): string[] | undefined;
  start(client_id: string): Delivery;
  /** It takes long: it goes on in a lane of those that do. */
  delayed(delivery: Delivery): void;
  /** It is over. `rest`: the client did not answer, or said that it cannot; it is left alone for a time. */
  done(delivery: Delivery, outcome: { rest: boolean }, now: Date): void;
}

/** Lanes that are empty, and clients of which nothing is known. */
export function createLanes(): Lanes {
  const underWay = new Set<Delivery>();
  const conditions = new LRUCache<string, Condition>({ max: MAX_REMEMBERED });
  const conditionOf = (client_id: string): Condition => conditions.get(client_id) ?? WELL;
  const isUnwell = ({ slow, failures }: Condition): boolean => slow || failures > 0;
  const slowOnes = (): number => [...underWay].filter(({ slow }) => slow).length;
  const isFull = (client_id: string, lanes: number): boolean =>
    lanes >= (isUnwell(conditionOf(client_id)) ? 1 : OF_ONE);

  return {
    underWay,
    busy(now) {
      const slow = slowOnes();
      if (underWay.size - slow >= QUICK) return undefined;
      const held = [...Map.groupBy(underWay, ({ client_id }) => client_id)]
        .filter(([client_id, deliveries]) => isFull(client_id, deliveries.length))
        .map(([client_id]) => client_id);
      const waiting = [...conditions.entries()]
        .filter(([, condition]) => {
          const { rests_until } = condition;
          return (rests_until !== undefined && rests_until > now) || (slow >= SLOW && isUnwell(condition));
        })
        .map(([client_id]) => client_id);
      return [...new Set([...held, ...waiting])];
    },
    start(client_id) {
      const delivery = { client_id, slow: isUnwell(conditionOf(client_id)), late: false };
      underWay.add(delivery);
      return delivery;
    },
    delayed(delivery) {
      delivery.late = true;
      conditions.set(delivery.client_id, { ...conditionOf(delivery.client_id), slow: true });
      delivery.slow ||= slowOnes() < SLOW;
    },
    done(delivery, { rest }, now) {
      underWay.delete(delivery);
      const { client_id } = delivery;
      const slow = delivery.late;
      const before = conditionOf(client_id);
      // Of several under way the first that fails is the one that counts.
      const again = before.rests_until !== undefined && before.rests_until > now;
      const failures = rest ? before.failures + (again ? 0 : 1) : 0;
      const rests_until = rest ? secondsAfter(now, Math.min(LONGEST_REST, backOff(failures))) : undefined;
      if (slow || rest) conditions.set(client_id, { slow, failures, rests_until });
      else conditions.delete(client_id);
    },
  };
}
