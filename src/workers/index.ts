/**
 * Workers: what happens beside requests. One row a job; each runs alone, never twice at once, and a failure waits for
 * the next turn.
 */
import type { Deps } from '../deps.ts';
import type { Changed } from '../store/postgres/changes.ts';
import { backchannelLogout } from './backchannel-logout.ts';
import { clientLogos } from './client-logos.ts';
import { eraseAccounts } from './erase-accounts.ts';
import { importUsers } from './import-users.ts';
import { keepPartitions } from './keep-partitions.ts';
import { keepRefusals } from './keep-refusals.ts';
import { reapClients } from './reap-clients.ts';
import { reloadKeys } from './reload-keys.ts';
import { rotateKeys } from './rotate-keys.ts';
import { sendMail } from './send-mail.ts';
import { sweepExpired } from './sweep-expired.ts';
import type { Worker } from './worker.ts';

type Needs = Pick<
  Deps,
  | 'carefulTime'
  | 'clientKeys'
  | 'clock'
  | 'config'
  | 'db'
  | 'directory'
  | 'fetch'
  | 'keys'
  | 'log'
  | 'mailer'
  | 'metrics'
  | 'random'
  | 'refusals'
  | 'secrets'
>;
type Make = (deps: Needs) => Worker;

export const workers = {
  'backchannel-logout': backchannelLogout,
  'client-logos': clientLogos,
  'erase-accounts': eraseAccounts,
  'import-users': importUsers,
  'keep-partitions': keepPartitions,
  'keep-refusals': keepRefusals,
  'reap-clients': reapClients,
  'reload-keys': reloadKeys,
  'rotate-keys': rotateKeys,
  'send-mail': sendMail,
  'sweep-expired': sweepExpired,
} as const satisfies Record<string, Make>;

/** Jobs that are under way. */
export interface Started {
  /** Something changed: jobs that wait for that run now, and once more where they are running. */
  onChange(what: Changed): void;
  /** Stops them and waits for those running. */
  stop(): Promise<void>;
}

/**
 * Starts every job, and those that come with the process: all of them, or where other processes answer requests beside
 * the first, only those of `each`.
 */
export function startWorkers(
  deps: Needs,
  more: Readonly<Record<string, Worker>> = {},
  here: ReadonlyArray<Worker['where']> = ['each', 'once'],
): Started {
  const running = new Set<Promise<void>>();
  const timers: NodeJS.Timeout[] = [];
  const hurries: Array<[after: Changed, hurry: () => void]> = [];
  let stopped = false;
  const jobs = { ...Object.fromEntries(Object.entries(workers).map(([name, make]) => [name, make(deps)])), ...more };
  for (const [name, { where, every, after, run }] of Object.entries(jobs)) {
    if (!here.includes(where)) continue;
    let busy = false;
    // A change that came while it ran it may have missed.
    let again = false;
    const turn = async (): Promise<void> => {
      if (busy) return;
      busy = true;
      try {
        do {
          again = false;
          await run();
        } while (again);
        deps.metrics.worked(name, deps.clock());
      } catch (error) {
        deps.metrics.worked(name, undefined);
        deps.log.warn({ err: error, worker: name }, 'a worker failed; it will try again');
      } finally {
        busy = false;
      }
    };
    const begin = (): void => {
      const done = turn().finally(() => running.delete(done));
      running.add(done);
    };
    const timer = setInterval(begin, every * 1000);
    timer.unref();
    timers.push(timer);
    const hurry = (): void => {
      again = true;
      begin();
    };
    if (after !== undefined) hurries.push([after, hurry]);
  }
  return {
    onChange(what) {
      if (stopped) return;
      for (const [after, hurry] of hurries) if (after === what) hurry();
    },
    async stop() {
      stopped = true;
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running);
    },
  };
}
