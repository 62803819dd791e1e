/** What runs in the thread that compares with hashes of other systems: as slowly as they want, at a lower priority. */
import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { Reply } from '../idle-thread.ts';
import { schemeOf } from './index.ts';
import type { Question } from './verify.ts';

// On Linux priorities are a thread's own; elsewhere this would slow the whole process down.
if (process.platform === 'linux') setPriority(0, Math.min(19, getPriority(0) + 10));

function answer({ phc, passwords, secret }: Question): Reply<boolean> {
  try {
    const scheme = schemeOf(phc);
    const matches = (password: string): boolean =>
      scheme?.verify(phc, Buffer.from(password), secret && Buffer.from(secret)) ?? false;
    return { value: passwords.some(matches) };
  } catch (error) {
    return { problem: String(error) };
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has that, a port does not
parentPort!.on('message', (question: Question) => parentPort!.postMessage(answer(question)));
