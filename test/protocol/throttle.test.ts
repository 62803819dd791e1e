import { expect, test } from 'vitest';
import { CLIENT_SECRET_POLICY, delayAfter, PASSWORD_POLICY } from '../../src/protocol/throttle.ts';

test('NIST 800-63B-4 §3.2.2: five wrong passwords are free, then the delay doubles up to 15 minutes', () => {
  expect([0, 4, 5, 6, 7, 14, 15, 1_000_000].map((count) => delayAfter(count, PASSWORD_POLICY))).toEqual([
    0, 0, 1, 2, 4, 512, 900, 900,
  ]);
});

test('a client that probes with a first failure, or restarts, is not slowed down', () => {
  expect([1, 19, 20, 21, 25, 26, 99].map((count) => delayAfter(count, CLIENT_SECRET_POLICY))).toEqual([
    0, 0, 1, 2, 32, 60, 60,
  ]);
});
