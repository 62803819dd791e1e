/** Notices keys that other processes made or retired. */
import type { Deps } from '../deps.ts';
import { NOTICED_WITHIN } from '../store/postgres/noticed.ts';
import type { Worker } from './worker.ts';

export const reloadKeys = ({ keys, log }: Pick<Deps, 'keys' | 'log'>): Worker => ({
  where: 'each',
  every: NOTICED_WITHIN.keys,
  async run() {
    const { unreadable } = await keys.reload();
    if (unreadable.length > 0)
      log.warn({ kids: unreadable }, 'keys were sealed under a key that is not in SECRET_KEYS');
  },
});
