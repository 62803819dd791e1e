/** A job of the process: run every so many seconds. */
export interface Worker {
  every: number;
  run(): Promise<void>;
}
