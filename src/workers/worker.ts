/** A job: run every so many seconds. */
export interface Worker {
  /** In each process of a server, since it is about what that process holds; or in one of them, which is enough. */
  where: 'each' | 'once';
  every: number;
  run(): Promise<void>;
}
