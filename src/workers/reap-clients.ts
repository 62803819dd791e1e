/** Removes clients that registered themselves and were never used. */
import { reapUnused } from '../clients/dynamic.ts';
import type { Deps } from '../deps.ts';
import type { Worker } from './worker.ts';

const BY = { actor: 'reap-clients' };

export const reapClients = (deps: Pick<Deps, 'db' | 'carefulTime'>): Worker => ({
  where: 'once',
  every: 3600,
  async run() {
    const now = await deps.carefulTime();
    while ((await reapUnused(deps, BY, now)) > 0);
  },
});
