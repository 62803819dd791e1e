/** Writes why requests were refused. */
import type { Deps } from '../deps.ts';
import type { Worker } from './worker.ts';

export const keepRefusals = ({ refusals, clock }: Pick<Deps, 'refusals' | 'clock'>): Worker => ({
  where: 'each',
  every: 1,
  async run() {
    await refusals.flush(clock());
  },
});
