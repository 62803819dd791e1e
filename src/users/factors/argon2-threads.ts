/**
 * Argon2id in threads of their own, for servers; where the package for it is missing, as everywhere else. libuv's pool has no
 * priorities, and two threads that hash leave little of two processors. Here those who answer requests go first.
 */
import { Worker } from 'node:worker_threads';
import type * as package_ from '@node-rs/argon2';
import { ENGINES, HASHING, loadArgon2, type Argon2 } from './argon2.ts';

/** What a thread is asked: to compare if there is something to compare with, else to hash. */
interface Job {
  password: string;
  phc?: string;
}

/** Its answers, in the order of the questions. */
type Done = { value: string | boolean } | { problem: string };

// They hold a few strings.
const LIMITS = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 };

/**
 * What runs in a thread. It is given to it as text, so it refers to nothing outside: from a file, TypeScript's compiler would
 * be loaded into each thread, which takes 9 MiB.
 */
function work(from: string, options: typeof HASHING): void {
  const { createRequire } = process.getBuiltinModule('node:module');
  const { getPriority, setPriority } = process.getBuiltinModule('node:os');
  const { parentPort } = process.getBuiltinModule('node:worker_threads');
  const { hashSync, verifySync } = createRequire(from)('@node-rs/argon2') as typeof package_;
  // On Linux priorities are a thread's own; elsewhere this would slow the whole process down.
  if (process.platform === 'linux') setPriority(0, Math.min(19, getPriority(0) + 10));
  const done = ({ password, phc }: Job): Done => {
    try {
      return { value: phc === undefined ? hashSync(password, options) : verifySync(phc, password) };
    } catch (error) {
      return { problem: String(error) };
    }
  };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has that, a port does not
  parentPort!.on('message', (job: Job) => parentPort!.postMessage(done(job)));
}

const WORK = `(${work.toString()})(${JSON.stringify(import.meta.url)}, ${JSON.stringify(HASHING)})`;

interface Thread {
  ask(job: Job): Promise<string | boolean>;
  /** How many questions it has not answered. */
  readonly load: number;
}

/** Starts a thread. `onEnd`: it will answer no more, and what it was asked has failed. */
function startThread(onEnd: () => void): Thread {
  const worker = new Worker(WORK, { eval: true, resourceLimits: LIMITS });
  const pending: Array<PromiseWithResolvers<string | boolean>> = [];
  const end = (why: unknown): void => {
    onEnd();
    for (const { reject } of pending.splice(0)) reject(why);
  };
  worker.on('error', end);
  worker.on('exit', () => end(new Error('the thread that hashes has ended')));
  worker.on('message', (done: Done) => {
    const { resolve, reject } = pending.shift()!;
    // Only while it is asked something does it keep the process.
    if (pending.length === 0) worker.unref();
    if ('problem' in done) reject(new Error(done.problem));
    else resolve(done.value);
  });
  return {
    ask(job) {
      const one = Promise.withResolvers<string | boolean>();
      pending.push(one);
      worker.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- as above
      worker.postMessage(job);
      return one.promise;
    },
    get load() {
      return pending.length;
    },
  };
}

/** Loads what hashes in up to so many threads, each started when those before are busy. */
export async function loadArgon2Threads(count: number): Promise<Argon2> {
  try {
    await ENGINES['@node-rs/argon2']();
  } catch {
    return loadArgon2();
  }
  const threads: Thread[] = [];
  const start = (): Thread => {
    const thread = startThread(() => {
      const index = threads.indexOf(thread);
      if (index >= 0) threads.splice(index, 1);
    });
    threads.push(thread);
    return thread;
  };
  const ask = (job: Job): Promise<string | boolean> => {
    const [idlest] = threads.toSorted((a, b) => a.load - b.load);
    return (idlest && (idlest.load === 0 || threads.length === count) ? idlest : start()).ask(job);
  };
  return {
    hash: async (password) => (await ask({ password })) as string,
    verify: async (phc, password) => (await ask({ password, phc })) as boolean,
  };
}
