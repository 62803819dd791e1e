/** Tells clients of ended sessions. */
import { deliverNotices } from '../sessions/notices.ts';
import type { Worker } from './worker.ts';

export const backchannelLogout = (deps: Parameters<typeof deliverNotices>[0]): Worker => ({
  where: 'once',
  every: 1,
  async run() {
    while ((await deliverNotices(deps)) > 0);
  },
});
