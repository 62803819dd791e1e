/** Erases accounts whose people asked for it, once the time in which they could come back is over. */
import type { Deps } from '../deps.ts';
import { eraseDue } from '../users/deletion.ts';
import type { Worker } from './worker.ts';

const BY = { actor: 'erase-accounts' };

export const eraseAccounts = (deps: Pick<Deps, 'db' | 'carefulTime'>): Worker => ({
  where: 'once',
  every: 600,
  async run() {
    const now = await deps.carefulTime();
    while ((await eraseDue(deps, BY, now)) > 0);
  },
});
