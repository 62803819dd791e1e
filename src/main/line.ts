/**
 * What the primary and the processes that answer requests say to each other. Nothing of it is in an environment or on a
 * command line, where secrets could be read.
 */
import type { Failure } from '../cli/failure.ts';
import type { Snapshot } from '../platform/metrics.ts';
import type { Connection } from '../store/postgres/db.ts';

/** What a process needs beside its environment: the secrets may be from a file, the database the primary's own. */
export interface Start {
  SECRET_KEYS: readonly string[];
  connection: Connection;
}

/** To a process. */
export type Order =
  | { postern: 'start'; start: Start }
  /** Another one has taken its place. */
  | { postern: 'retire' }
  /** The whole server ends. */
  | { postern: 'stop' }
  | { postern: 'count' }
  /** No connection is on its way to it any more. */
  | { postern: 'leave' };

/** To the primary. */
export type Report =
  /** It is loaded, and waits for `start`. */
  | { postern: 'here' }
  | { postern: 'listening' }
  | { postern: 'failed'; error: Failure['error']; problems: readonly string[] }
  | { postern: 'counted'; snapshot: Snapshot }
  /** It listens no more, and has nothing left to do. */
  | { postern: 'done'; snapshot: Snapshot };

const isOurs = (message: unknown): boolean => typeof message === 'object' && message !== null && 'postern' in message;

/** An order, if it is one: others may use the same line. */
export const asOrder = (message: unknown): Order | undefined => (isOurs(message) ? (message as Order) : undefined);

/** A report, if it is one. */
export const asReport = (message: unknown): Report | undefined => (isOurs(message) ? (message as Report) : undefined);
