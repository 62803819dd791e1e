/** Tells clients of ended sessions. */
import { createLanes } from '../sessions/lanes.ts';
import { deliverNotices } from '../sessions/notices.ts';
import type { Worker } from './worker.ts';

export function backchannelLogout(deps: Parameters<typeof deliverNotices>[0]): Worker {
  const lanes = createLanes();
  return {
    where: 'once',
    every: 1,
    async run() {
      while ((await deliverNotices(deps, lanes)) > 0);
    },
  };
}
