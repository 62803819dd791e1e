/** The interface of metrics, and one that counts nothing. prometheus.ts is the real one. */

/**
 * Counters for those who run the server. Labels are words of our own and route templates, so that their number is bounded:
 * never a client, a person, an address, or anything else that was sent.
 */
export interface Metrics {
  /** A request was answered. */
  answered(method: string, route: string, status: number, seconds: number): void;
  /** A request was refused, with an error of the catalogue, by a check of its table (or one named like the error). */
  refused(error: string, check: string): void;
  /** A volume limit refused a request. */
  limited(route: string): void;
  /** Tokens were given for a grant. */
  issued(grant_type: string): void;
  /** Somebody waits for a turn to hash a password. The result is called when it comes. */
  queued(): () => void;
  /** Our clock was compared with the database's: by how many seconds they differed, and what came of it. */
  compared(seconds: number, outcome: string): void;
  /** A statement was given up whose outcome is not known: was the database told to stop it? */
  abandoned(outcome: 'cancelled' | 'unreachable'): void;
  /** A worker has had its turn: when it succeeded, or undefined. */
  worked(worker: string, succeeded_at: Date | undefined): void;
  /** A mail was sent, put off, or given up. */
  mailed(outcome: 'sent' | 'postponed' | 'dead'): void;
  /** What is read whenever somebody asks for the text. */
  watch(sources: Sources): void;
  /** Everything counted and read here, fit to be sent to another process. */
  snapshot(): Promise<Snapshot>;
  /** Has the text include what other processes counted. */
  join(others: () => Promise<readonly Snapshot[]>): void;
  /** What a process had counted that has ended: the text goes on including it, since counters never fall. */
  inherit(snapshot: Snapshot): void;
  /** Everything, in the text format of Prometheus. */
  text(): Promise<{ content_type: string; body: string }>;
}

/** What one process counted, as the library has it. */
export type Snapshot = readonly object[];

/** States that are read, not counted. */
export interface Sources {
  /** Connections to the database, and those who wait for one. */
  pool(): { total: number; idle: number; waiting: number };
  /** Who is hashing, and who waits for it. */
  passwords(): { hashing: number; waiting: number };
  /** The keys in use, and for how many seconds each has been. */
  keys(): ReadonlyArray<{ alg: string; use: string; seconds: number }>;
  /**
   * What is left to do in the database; undefined when that is away. Bounded in time, and never throws. Of the processes
   * of a server one reads it.
   */
  backlog?: (() => Promise<Backlog | undefined>) | undefined;
}

/** Work that lies in the database. */
interface Backlog {
  /** Notices of sign-outs not delivered yet. */
  logout_waiting: number;
  /** Seconds since the oldest of them. */
  logout_oldest: number;
  /** Those given up. */
  logout_dead: number;
  /** Mails not sent yet. */
  mail_waiting: number;
  /** Seconds since the oldest of them. */
  mail_oldest: number;
  /** Those given up. */
  mail_dead: number;
  /** Seconds by which the oldest row is past the day on which it was to be removed. */
  sweep_lag: number;
}

/** For commands: nobody asks them. */
export const silence: Metrics = {
  answered() {},
  refused() {},
  limited() {},
  issued() {},
  queued: () => () => {},
  compared() {},
  abandoned() {},
  worked() {},
  mailed() {},
  watch() {},
  snapshot: async () => [],
  join() {},
  inherit() {},
  text: async () => ({ content_type: 'text/plain', body: '' }),
};
