import { join } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

/** They listen to every statement of their process, and so have one of their own. */
const ALONE = [
  'test/store/{lists,plans,statements}.test.ts',
  'test/store/postgres/pipeline.test.ts',
  'test/events/refusals.test.ts',
];

/** `--sequence.shuffle.files` is there to find tests that count on an order. */
const isShuffled = process.argv.some((argument) => argument.includes('shuffle'));

const project = (test: TestProjectInlineConfiguration['test']): TestProjectInlineConfiguration => ({
  test: {
    // What waits for good is found out late, but what others hold up is no failure.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // Most of a start is compiling: the tests' own processes do it once, and so do the servers and commands they start.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/postern-test') },
    // An application that is built for a file is garbage of the next: a quarter of the tests' time went into collecting it piecemeal.
    execArgv: ['--min-semi-space-size=64', '--max-semi-space-size=64'],
    ...test,
  },
});

export default defineConfig({
  test: {
    globalSetup: 'test/support/global-setup.ts',
    // Files share two cores with their Postgres; a third process only makes them wait for each other.
    maxWorkers: 2,
    sequence: isShuffled ? {} : { sequencer: LongestFirst },
    projects: [
      // To load and build everything anew costs a file a second of processor time. What one changes, it puts back.
      project({ name: 'together', include: ['test/**/*.test.ts'], exclude: ALONE, isolate: false }),
      project({ name: 'alone', include: ALONE }),
    ],
  },
});
