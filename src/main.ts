#!/usr/bin/env node
/** The process: what is asked for on the command line. A server and a database are loaded where they are needed. */
import { setTimeout as wait } from 'node:timers/promises';
import { run } from './cli/index.ts';
import { disciplinedClock } from './platform/clock.ts';
import { random } from './platform/random.ts';

// A reader that has seen enough (| head) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
process.exitCode = await run(process.argv.slice(2), {
  start: async (mode) => (await import('./main/process.ts')).start(mode),
  open: async (work, options) => (await import('./main/process.ts')).open(work, options),
  reach: { fetch, random, now: disciplinedClock().now, wait },
});
