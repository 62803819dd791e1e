/** Removes clients that registered themselves and were never used. */
import type { Deps } from '../deps.ts';
import { secondsAfter } from '../protocol/numeric-date.ts';
import { removeUnused } from '../store/clients.ts';
import type { Worker } from './worker.ts';

/** Seconds a client has to be used for the first time. */
const PATIENCE = 7 * 86_400;

export const reapClients = ({ db, clock }: Pick<Deps, 'db' | 'clock'>): Worker => ({
  every: 3600,
  async run() {
    const now = clock();
    while ((await removeUnused(db, secondsAfter(now, -PATIENCE), now)) > 0);
  },
});
