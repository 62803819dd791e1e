import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

/** `--sequence.shuffle.files` is there to find tests that count on an order. */
const isShuffled = process.argv.some((argument) => argument.includes('shuffle'));

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Most of a start is compiling: the tests' own processes do it once, and so do the servers and commands they start.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/postern-test') },
    globalSetup: 'test/support/global-setup.ts',
    // What waits for good is found out late, but what others hold up is no failure.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // Files share two cores with their Postgres; a third process only makes them wait for each other.
    maxWorkers: 2,
    // To load and build everything anew costs a file a second of processor time. What one changes, it puts back.
    isolate: false,
    sequence: isShuffled ? {} : { sequencer: LongestFirst },
  },
});
