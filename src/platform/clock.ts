/** Time: the one place that reads a clock. */
import { uptime } from 'node:os';

/** The time now. Within a process it steps back only where it had been wrong by more than a minute. */
type Clock = () => Date;

/** What a clock is made of, in milliseconds. Tests have their own. */
export interface ClockSources {
  /** What the machine says the time is. Anybody may set it. */
  machine(): number;
  /** Goes on evenly, but for the time that the machine sleeps. */
  monotonic(): number;
  /** Goes on evenly, also while the machine sleeps. */
  awake(): number;
}

const SYSTEM: ClockSources = {
  machine: () => Date.now(),
  monotonic: () => performance.now(),
  awake: () => uptime() * 1000,
};

/**
 * What came of comparing: the clocks agree; ours followed by seconds; the reading is not believed, and ours goes on alone;
 * ours was set anew, after everybody else had contradicted it for long enough.
 */
export type Outcome = 'agreed' | 'followed' | 'doubted' | 'set';

/** One comparison. */
export interface Reading {
  /** The time of the database. */
  at: Date;
  /** Seconds that this was ahead of ours. */
  ahead: number;
  outcome: Outcome;
}

/** A clock that can be disciplined against another. */
export interface DisciplinedClock {
  now: Clock;
  /** The same, but for a day after ours was set forward by a minute or more, the time it would have been else. */
  careful: Clock;
  /** Compares with the database's time, and takes over a difference that one can believe. */
  discipline(readTime: () => Promise<Date>): Promise<Reading>;
  /** Seconds that the database was ahead of ours when last read, where that is not to be believed; else undefined. */
  doubt(): number | undefined;
}

/** Milliseconds that a clock under NTP is never off. */
const REMARKABLE = 2000;
/** Milliseconds by which the database may move ours within an hour. What is more is wrong, one way or the other. */
const BELIEVED = 60_000;
const HOUR = 3_600_000;
/** Milliseconds for which database and machine have to agree against us. */
const CORROBORATED = 300_000;
const DAY = 86_400_000;

/**
 * Monotonic time plus an offset to the database's clock, so that replicas agree on every expiry. A correction backwards
 * makes time stand still until it has caught up, rather than revive what had expired.
 *
 * One reading is never believed alone: a Postgres that is days ahead for a minute would have everything expire that there is.
 * Beyond a minute ours goes on as it was (at the start: as the machine's) until the readings are sane again, or until
 * machine and database have agreed against us for minutes, as after a pause of a virtual machine.
 */
export function disciplinedClock({ machine, monotonic, awake }: ClockSources = SYSTEM): DisciplinedClock {
  let offset = machine() - monotonic();
  let latest = 0;
  /** The offset that an hour's corrections are measured by; undefined before the first that was believed. */
  let anchor: { offset: number; at: number } | undefined;
  let slept = awake() - monotonic();
  let doubted: number | undefined;
  let corroboratedSince: number | undefined;
  let before: { offset: number; until: number } | undefined;

  const later = (by: number): number => {
    latest = Math.max(latest, Math.floor(monotonic() + by));
    return latest;
  };
  /** Sets ours anew. Here alone time may step back: it would stand still for as long as it was wrong. */
  const set = (to: number): void => {
    if (Math.abs(to - offset) > BELIEVED) latest = 0;
    offset = to;
  };

  return {
    now: () => new Date(later(offset)),
    careful: () => {
      const at = later(offset);
      if (before === undefined || monotonic() > before.until) return new Date(at);
      return new Date(Math.min(at, Math.floor(monotonic() + before.offset)));
    },
    doubt: () => doubted,
    async discipline(readTime) {
      const begun = monotonic();
      const at = await readTime();
      const answered = monotonic();
      // The database read its clock somewhere between the two ends of the round trip.
      const theirs = at.getTime() - (begun + answered) / 2;
      const machines = machine() - monotonic();
      if (anchor === undefined) set(machines);
      const ahead = theirs - offset;
      const reading = (outcome: Outcome): Reading => ({ at, ahead: ahead / 1000, outcome });
      const believe = (outcome: Outcome): Reading => {
        const uncertain = Math.abs(ahead) <= (answered - begun) / 2 && anchor !== undefined;
        if (outcome === 'set') set(theirs);
        else if (!uncertain) offset = theirs;
        if (anchor === undefined || outcome === 'set' || answered - anchor.at > HOUR) anchor = { offset, at: answered };
        slept = awake() - monotonic();
        doubted = corroboratedSince = undefined;
        return reading(outcome);
      };

      const measure = anchor?.offset ?? offset;
      if (Math.abs(theirs - measure) <= BELIEVED) {
        return believe(Math.abs(ahead) <= REMARKABLE ? 'agreed' : 'followed');
      }
      const asleep = awake() - monotonic() - slept;
      if (asleep > REMARKABLE && Math.abs(theirs - measure - asleep) <= BELIEVED) return believe('set');
      corroboratedSince = Math.abs(theirs - machines) <= BELIEVED ? (corroboratedSince ?? answered) : undefined;
      if (corroboratedSince !== undefined && answered - corroboratedSince >= CORROBORATED) {
        if (theirs > offset) before = { offset, until: answered + DAY };
        return believe('set');
      }
      doubted = ahead / 1000;
      return reading('doubted');
    },
  };
}
