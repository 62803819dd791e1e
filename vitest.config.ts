import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Files share two cores with their Postgres; a third process only makes them wait for each other.
    maxWorkers: 2,
  },
});
