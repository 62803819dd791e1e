#!/usr/bin/env node
/** The process: what is asked for on the command line. A server and a database are loaded where they are needed. */
import { enableCompileCache } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

// What was compiled is kept beside the packages: whoever can write there can change the code itself, which is not so of the
// temporary directory that Node would choose. Where it cannot be written, every start compiles. Nothing of ours is loaded before.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/postern', import.meta.url)));
const [{ run }, { disciplinedClock }, { random }] = await Promise.all([
  import('./cli/index.ts'),
  import('./platform/clock.ts'),
  import('./platform/random.ts'),
]);

// A reader that has seen enough (| head) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
process.exitCode = await run(process.argv.slice(2), {
  start: async (mode) => (await import('./main/process.ts')).start(mode),
  open: async (work, options) => (await import('./main/process.ts')).open(work, options),
  reach: { fetch, random, now: disciplinedClock().now, wait },
});
