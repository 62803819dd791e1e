import type { Changed } from '../store/postgres/changes.ts';

/** A job: run every so many seconds. */
export interface Worker {
  /** In each process of a server, since it is about what that process holds; or in one of them, which is enough. */
  where: 'each' | 'once';
  every: number;
  /** The change after which there may be something to do at once. */
  after?: Changed;
  run(): Promise<void>;
}
