/** A thread that begins with the first question, answers in order, and ends when nobody has asked for a minute. */
import type { Worker } from 'node:worker_threads';
import { temporarilyUnavailable } from '../../protocol/error.ts';

/** What the thread posts for each question. */
export type Reply<T> = { value: T } | { problem: string };

const IDLE_MS = 60_000;

/** @param what says in an error what could not be asked. @throws OAuthError temporarily_unavailable when too many wait */
export function createIdleThread<Answer>(
  start: () => Worker,
  max_waiting: number,
  what: string,
): (question: object) => Promise<Answer> {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  const pending: Array<PromiseWithResolvers<Answer>> = [];

  const begin = (): Worker => {
    const started = start();
    const end = (why: unknown): void => {
      if (worker !== started) return;
      worker = undefined;
      for (const { reject } of pending.splice(0)) reject(why);
    };
    started.on('error', end);
    started.on('exit', () => end(new Error(`the thread for this has ended: ${what}`)));
    started.on('message', (reply: Reply<Answer>) => {
      const { resolve, reject } = pending.shift()!;
      if (pending.length === 0) {
        // Only while it is asked something does it keep the process.
        started.unref();
        idle = setTimeout(() => {
          worker = undefined;
          void started.terminate();
        }, IDLE_MS).unref();
      }
      if ('problem' in reply) reject(new Error(reply.problem));
      else resolve(reply.value);
    });
    return started;
  };

  return async (question) => {
    if (pending.length >= max_waiting) {
      throw temporarilyUnavailable(`too many at once: ${what}`, { retry_after: 2, check: 'sign_in_queue' });
    }
    clearTimeout(idle);
    worker ??= begin();
    const one = Promise.withResolvers<Answer>();
    pending.push(one);
    worker.ref();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has that, a port does not
    worker.postMessage(question);
    return one.promise;
  };
}
