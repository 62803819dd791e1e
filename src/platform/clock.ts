/** Time: the one place that reads a clock. */

/** The time now. Never steps back within a process. */
export type Clock = () => Date;

/** A clock that can be disciplined against another. */
export interface DisciplinedClock {
  now: Clock;
  /** Compares with the database's time and takes over the difference. */
  discipline(readTime: () => Promise<Date>): Promise<void>;
}

/**
 * Monotonic time plus an offset to the database's clock, so that replicas agree on every expiry. A correction backwards
 * makes time stand still until it has caught up, rather than revive what had expired.
 */
export function disciplinedClock(): DisciplinedClock {
  let offset = Date.now() - performance.now();
  let latest = 0;
  return {
    now: () => {
      latest = Math.max(latest, Math.floor(performance.now() + offset));
      return new Date(latest);
    },
    async discipline(readTime) {
      const before = performance.now();
      const at = await readTime();
      // The database read its clock somewhere between the two ends of the round trip.
      offset = at.getTime() - (before + performance.now()) / 2;
    },
  };
}
