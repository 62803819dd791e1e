/** Clocks that a test moves: a machine's, and a database's beside it. */
import type { ClockSources } from '../../src/platform/clock.ts';

/** A machine and a database whose clocks agree until they are told otherwise. */
export interface Clocks {
  sources: ClockSources;
  /** For `discipline`. */
  readTime: () => Promise<Date>;
  /** What the time really is. */
  truth(): Date;
  /** Seconds go by, everywhere. */
  pass(seconds: number): void;
  /** Moves the clock of one of them. */
  move(whose: 'database' | 'machine', seconds: number): void;
  /** The machine sleeps, and nothing of its process goes on; the others do. `known`: the system says so afterwards. */
  sleep(seconds: number, how: { known: boolean }): void;
  /** Seconds that the database takes from now on to answer. */
  slow(seconds: number): void;
}

export function aMachineAndADatabase(start = new Date('2030-01-01T12:00:00Z')): Clocks {
  const off = { database: 0, machine: 0 };
  let [time, monotonic, awake, delay] = [start.getTime(), 5000, 900_000, 0];
  const pass = (seconds: number): void => {
    time += seconds * 1000;
    monotonic += seconds * 1000;
    awake += seconds * 1000;
  };
  return {
    sources: { machine: () => time + off.machine, monotonic: () => monotonic, awake: () => awake },
    async readTime() {
      const at = new Date(time + off.database);
      pass(delay);
      return at;
    },
    truth: () => new Date(time),
    pass,
    move: (whose, seconds) => void (off[whose] += seconds * 1000),
    sleep(seconds, { known }) {
      time += seconds * 1000;
      if (known) awake += seconds * 1000;
    },
    slow: (seconds) => void (delay = seconds),
  };
}
