/** Removes clients that registered themselves and were never used. */
import { reapUnused } from '../clients/dynamic.ts';
import type { Deps } from '../deps.ts';
import type { Worker } from './worker.ts';

const BY = { actor: 'reap-clients' };

export const reapClients = (deps: Pick<Deps, 'db' | 'clock'>): Worker => ({
  where: 'once',
  every: 3600,
  async run() {
    while ((await reapUnused(deps, BY, deps.clock())) > 0);
  },
});
