import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { nextTurn } from '../../src/http/turn.ts';

test('what arrives in one turn goes on side by side, each in its own name', async () => {
  const name = new AsyncLocalStorage<string>();
  const steps: string[] = [];
  const arrive = (who: string): Promise<void> =>
    name.run(who, async () => {
      steps.push(`${who} is read`);
      await nextTurn();
      steps.push(`${name.getStore()} begins`);
      await Promise.resolve();
      steps.push(`${name.getStore()} goes on`);
    });
  await Promise.all(['one', 'two'].map(arrive));
  expect(steps).toEqual(['one is read', 'two is read', 'one begins', 'two begins', 'one goes on', 'two goes on']);
});

test('what arrives later waits for a turn of its own', async () => {
  const first = nextTurn();
  expect(nextTurn()).toBe(first);
  await first;
  expect(nextTurn()).not.toBe(first);
});
