/** What commands reach others with, where there is nobody to reach. */
import type { Process } from '../../src/cli/index.ts';

export const nobody: Process['reach'] = {
  fetch: () => Promise.reject(new TypeError('nobody is to be asked')),
  random: (bytes) => Buffer.alloc(bytes, 7),
  now: () => new Date('2026-01-31T12:00:00Z'),
  wait: () => Promise.resolve(),
};
