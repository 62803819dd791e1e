/** Replaces keys when their time has come. Which process does it does not matter: one of them does. */
import type { Deps } from '../deps.ts';
import { keepKeys } from '../keys/index.ts';
import type { Worker } from './worker.ts';

const BY = { actor: 'rotate-keys' };

export const rotateKeys = (deps: Pick<Deps, 'config' | 'db' | 'secrets' | 'keys' | 'carefulTime'>): Worker => ({
  where: 'once',
  every: 60,
  async run() {
    if (await keepKeys(deps, BY, await deps.carefulTime())) await deps.keys.reload();
  },
});
