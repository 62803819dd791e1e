import { test } from 'vitest';
import { expectLifecycle } from './run.ts';

test(
  'RFC 9700 §4.14.2: whatever happens, every token lives and dies as the model says, and reuse ends the authorization',
  { timeout: 120_000 },
  () => expectLifecycle(0),
);
