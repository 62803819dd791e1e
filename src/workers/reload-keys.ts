/** Notices keys that other processes made or retired. */
import type { Deps } from '../deps.ts';
import type { Worker } from './worker.ts';

export const reloadKeys = ({ keys }: Pick<Deps, 'keys'>): Worker => ({ every: 5, run: () => keys.reload() });
