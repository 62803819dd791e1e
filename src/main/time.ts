/** The clock of a process beside its database's: when they are compared, and what is logged of it. */
import type { Deps } from '../deps.ts';
import { disciplinedClock, type ClockSources, type Outcome, type Reading } from '../platform/clock.ts';
import { earlier } from '../protocol/numeric-date.ts';
import { databaseTime, type Db } from '../store/postgres/db.ts';

/** A clock that goes by the database's, as far as one can believe it. */
export interface FollowingClock {
  now: Deps['clock'];
  doubt: Deps['clockDoubt'];
  careful: Deps['carefulTime'];
  /** Compares the two. @throws what asking throws */
  compare(): Promise<void>;
}

const MESSAGES = {
  agreed: undefined,
  followed: 'the clock of the database was moved, and ours with it: keep both with NTP',
  doubted:
    'the clocks of the database and of this server are far apart: ours counts, nothing is deleted, and the server is not ready',
  set: 'the clock of this server was set by the database’s: it had stood still, or was wrong',
} as const satisfies Record<Outcome, string | undefined>;

/** Without a log nothing is logged. `readTime` and `sources` are for tests. */
export function followDatabase(
  db: Db,
  metrics: Pick<Deps['metrics'], 'compared'>,
  log?: Pick<Deps['log'], 'info' | 'warn' | 'error'>,
  readTime: () => Promise<Date> = () => databaseTime(db),
  sources?: ClockSources,
): FollowingClock {
  const clock = disciplinedClock(sources);

  async function compare(): Promise<Reading> {
    const before = clock.doubt();
    const reading = await clock.discipline(readTime);
    const { ahead, outcome } = reading;
    metrics.compared(Math.abs(ahead), outcome);
    const seconds_ahead = Math.round(ahead * 1000) / 1000;
    if (outcome === 'doubted') {
      // Once, not with every reading.
      if (before === undefined) log?.error({ seconds_ahead }, MESSAGES.doubted);
    } else {
      if (outcome !== 'agreed') log?.warn({ seconds_ahead }, MESSAGES[outcome]);
      if (before !== undefined) log?.warn('the clocks of the database and of this server agree again');
    }
    return reading;
  }

  return {
    now: clock.now,
    doubt: clock.doubt,
    async compare() {
      await compare();
    },
    async careful() {
      // Before ours follows.
      const ours = clock.careful();
      const { at } = await compare();
      const seconds = clock.doubt();
      if (seconds !== undefined) {
        const apart = `${Math.abs(Math.round(seconds))} s ${seconds < 0 ? 'behind' : 'ahead of'}`;
        throw new Error(`the clock of the database is ${apart} ours: nothing is deleted until they agree`);
      }
      return earlier(earlier(ours, clock.careful()), at);
    },
  };
}
