/** Makes the partitions to come and drops those that are past. */
import type { Deps } from '../deps.ts';
import { DAY } from '../protocol/numeric-date.ts';
import { longestGrant } from '../store/clients.ts';
import { dropPast, makeAhead } from '../store/postgres/partitions.ts';
import type { Worker } from './worker.ts';

type Needs = Pick<Deps, 'carefulTime' | 'config' | 'db' | 'log'>;

/** Makes what is lacking; a server does so before its first request. Nothing waits for it: rows have a place without. */
export async function makePartitions(deps: Needs): Promise<void> {
  await makeFrom(deps, await deps.carefulTime());
}

async function makeFrom(deps: Needs, now: Date): Promise<void> {
  // One client's may live longer than others'.
  const grant = Math.max(deps.config.REFRESH_TOKEN_TTL, await longestGrant(deps.db)) / DAY;
  const left = await makeAhead(deps.db, grant, now);
  if (left.length > 0) deps.log.info({ tables: left }, 'partitions are made later: these tables are in use');
}

export const keepPartitions = (deps: Needs): Worker => ({
  every: 600,
  where: 'once',
  async run() {
    const now = await deps.carefulTime();
    await makeFrom(deps, now);
    const left = await dropPast(deps.db, now);
    if (left.length > 0) deps.log.info({ partitions: left }, 'these partitions are dropped later: they are in use');
  },
});
