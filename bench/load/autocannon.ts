/** Load by autocannon, in a process of its own: where wrk is missing. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Fire, Fired } from './index.ts';

export const fireAutocannon: Fire = async (origin, load, amount) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'autocannon-main.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify({ origin, load, amount }));
  return JSON.parse(await text(child.stdout)) as Fired;
};
