import { test } from 'vitest';
import { expectLifecycle, OUTCOMES } from './run.ts';

test(
  'with a retry window of 30 s a lost answer is given again, and everything else is as strict',
  { timeout: 120_000 },
  () => expectLifecycle(30, [...OUTCOMES, 'retried']),
);
