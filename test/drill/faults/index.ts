/** Every fault there is, by the name on the command line. */
import type { Fault } from '../fault.ts';
import { fullDisk } from './disk.ts';
import { failover, failoverAsynchronous, failoverStalled } from './failover.ts';
import { blockedMigration } from './migration.ts';
import { cut, swallowed } from './network.ts';
import { patroniFaults } from './patroni.ts';
import { cancelled, hung, killed, locked, stalledCommit } from './postgres.ts';
import { killedServer, rolled } from './servers.ts';

export const faults = {
  killed,
  hung,
  'stalled-commit': stalledCommit,
  locked,
  cancelled,
  'blocked-migration': blockedMigration,
  'full-disk': fullDisk,
  cut,
  swallowed,
  'killed-server': killedServer,
  rolled,
  failover,
  'failover-stalled': failoverStalled,
  'failover-asynchronous': failoverAsynchronous,
  ...patroniFaults,
} as const satisfies Record<string, Fault>;
