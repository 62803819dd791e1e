/**
 * The processes that answer requests, as the primary sees them: started together, replaced when one dies, and exchanged
 * one after the other on SIGHUP. The primary has the port and deals connections out; it answers none.
 */
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Failure } from '../cli/failure.ts';
import type { Config } from '../config.ts';
import type { Deps } from '../deps.ts';
import type { Snapshot } from '../platform/metrics.ts';
import { asReport, type Order, type Report, type Start } from './line.ts';
import { watchTransit } from './transit.ts';

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));
/** Milliseconds that a process may take beyond those it allows itself. */
const GRACE_MS = 1000;
/** Milliseconds without trouble after which the next process that dies is replaced at once. */
const CALM_MS = 60_000;
const LONGEST_PAUSE_MS = 30_000;
/** Milliseconds that a process has to say what it counted; else its last snapshot counts. */
const COUNT_MS = 1000;

/** The processes that answer requests. */
export interface Processes {
  /** Lets them start; settles when all listen. @throws Failure of the first that cannot */
  begin(start: Start): Promise<void>;
  /** Exchanges them for new ones, each only when its successor listens; nobody is refused meanwhile. */
  restart(): Promise<void>;
  /** What each of them counted. */
  counts(): Promise<Snapshot[]>;
  /** Lets them finish what is under way; one that has not begun ends at once. False when one of them did not finish. */
  close(): Promise<boolean>;
}

interface Child {
  worker: Worker;
  state: 'born' | 'here' | 'starting' | 'listening' | 'leaving';
  listening: PromiseWithResolvers<void>;
  ended: PromiseWithResolvers<{ well: boolean }>;
  counted: Snapshot;
  /** Called when it has counted. */
  onCounted: () => void;
  /** Closes what was dealt to it and did not arrive. */
  closeTransit: () => void;
}

/** Starts the processes; they load what they need and wait for `begin`. `drain_ms` is what each allows itself to end. */
export function createProcesses(
  { mode, WORKERS }: Pick<Config, 'mode' | 'WORKERS'>,
  { log, metrics }: Pick<Deps, 'log' | 'metrics'>,
  drain_ms: number,
): Processes {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: CHILD, args: [mode] });
  const children = new Set<Child>();
  let start: Start | undefined;
  let closes = false;
  const closing = (): boolean => closes;
  let trouble = { at: 0, count: 0 };
  let restarting = false;
  /** A restart was asked for during another, which may have read files that are old by now. */
  let again = false;

  const send = ({ worker }: Child, order: Order): void => {
    // A process without a channel is about to exit, which is an event of its own.
    if (worker.isConnected()) worker.send(order, () => {});
  };
  const kill = ({ worker }: Child): void => void worker.process.kill('SIGKILL');
  const begin = (child: Child): void => {
    if (child.state !== 'here' || !start) return;
    child.state = 'starting';
    send(child, { postern: 'start', start });
  };

  const onReport: { [Name in Report['postern']]: (child: Child, report: Extract<Report, { postern: Name }>) => void } =
    {
      here(child) {
        if (child.state !== 'born') return;
        child.state = 'here';
        begin(child);
      },
      listening(child) {
        if (child.state === 'starting') child.state = 'listening';
        child.listening.resolve();
      },
      failed: (child, { error, problems }) => child.listening.reject(new Failure(error, ...problems)),
      counted(child, { snapshot }) {
        child.counted = snapshot;
        onSnapshot(child);
      },
      done(child, { snapshot }) {
        child.counted = snapshot;
        send(child, { postern: 'leave' });
      },
    };

  function onSnapshot(child: Child): void {
    const { onCounted } = child;
    child.onCounted = () => {};
    onCounted();
  }

  function fork(): Child {
    // What was compiled is kept where main.ts keeps it.
    const cache = getCompileCacheDir();
    const worker = cluster.fork(cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) });
    const [listening, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<{ well: boolean }>()];
    const own = { onCounted: () => {}, closeTransit: watchTransit(worker) };
    const child: Child = { worker, state: 'born', listening, ended, counted: [], ...own };
    // It may fail before anybody waits for it.
    listening.promise.catch(() => {});
    children.add(child);
    worker.on('message', (message: unknown) => {
      const report = asReport(message);
      if (report) (onReport[report.postern] as (child: Child, report: Report) => void)(child, report);
    });
    worker.once('error', (error) => onEnd(child, error.message, false));
    worker.once('exit', (code: number | null, signal: string | null) =>
      onEnd(child, signal ?? `exit code ${code}`, code === 0),
    );
    return child;
  }

  function onEnd(child: Child, how: string, well: boolean): void {
    if (!children.delete(child)) return;
    child.closeTransit();
    metrics.inherit(child.counted);
    onSnapshot(child);
    child.listening.reject(new Failure('failed', `a process ended while it started (${how})`));
    child.ended.resolve({ well });
    if (child.state !== 'listening' || closing()) return;
    log.error({ ended: child.worker.process.pid, how }, 'a process ended unexpectedly; another takes its place');
    void replace();
  }

  /** Milliseconds to wait before the next try: none in calm times, then 1000, 2000, 4000 … */
  function pauseFor(): number {
    const at = performance.now();
    const count = at - trouble.at > CALM_MS ? 0 : trouble.count;
    trouble = { at, count: count + 1 };
    return count === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, 1000 * 2 ** (count - 1));
  }

  /** Goes on trying: what keeps a process from starting now, such as a database that is away, did not before. */
  async function replace(): Promise<void> {
    while (!closing()) {
      await sleep(pauseFor(), undefined, { ref: false });
      if (closing()) return;
      try {
        return await fork().listening.promise;
      } catch (error) {
        if (!closing()) log.error({ err: error }, 'a process could not start; it is tried again');
      }
    }
  }

  async function dismiss(child: Child, postern: 'retire' | 'stop'): Promise<boolean> {
    const idle = child.state !== 'listening' && child.state !== 'leaving';
    if (idle) kill(child);
    else send(child, { postern });
    child.state = 'leaving';
    const late = setTimeout(() => kill(child), drain_ms + GRACE_MS);
    const { well } = await child.ended.promise;
    clearTimeout(late);
    return idle || well;
  }

  async function exchange(): Promise<void> {
    for (const old of [...children].filter(({ state }) => state === 'listening')) {
      if (closing()) return;
      // It died, and has been replaced by what is on the disk now.
      if (!children.has(old)) continue;
      try {
        await fork().listening.promise;
      } catch (error) {
        if (!closing())
          log.error({ err: error }, 'the restart has ended early: a new process could not start, those there go on');
        return;
      }
      if (!(await dismiss(old, 'retire'))) log.warn('a process did not finish in time what was under way');
    }
    log.info({ processes: children.size }, 'the processes were restarted');
  }

  async function count(child: Child): Promise<Snapshot> {
    const answer = Promise.withResolvers<void>();
    const { onCounted } = child;
    // Two may ask at once, and the first answer is good for both.
    child.onCounted = () => {
      onCounted();
      answer.resolve();
    };
    send(child, { postern: 'count' });
    await Promise.race([answer.promise, sleep(COUNT_MS, undefined, { ref: false })]);
    return child.counted;
  }

  for (let n = 0; n < WORKERS; n += 1) fork();
  return {
    async begin(given) {
      start = given;
      const all = [...children];
      for (const child of all) begin(child);
      // One that is gone already is in none of these.
      if (all.length < WORKERS) throw new Failure('failed', 'a process ended while it started');
      await Promise.all(all.map((child) => child.listening.promise));
    },
    async restart() {
      again = true;
      if (restarting) return;
      restarting = true;
      while (again && !closing()) {
        again = false;
        log.info('restarting the processes, one after the other');
        await exchange();
      }
      restarting = false;
    },
    counts: () =>
      Promise.all([...children].filter(({ state }) => state === 'listening' || state === 'leaving').map(count)),
    async close() {
      closes = true;
      const ends = await Promise.all([...children].map((child) => dismiss(child, 'stop')));
      return ends.every(Boolean);
    },
  };
}
