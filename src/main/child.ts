/**
 * A process that answers requests, where WORKERS is above 1: config -> deps -> app -> listen, with the database that the
 * primary has prepared. It listens to the primary alone; without it, it ends (node:cluster sees to that).
 */
import closeWithGrace from 'close-with-grace';
import { failureOf } from '../cli/failure.ts';
import { configWith, connectionsOf, loadConfig, type Config, type Mode } from '../config.ts';
import type { Deps } from '../deps.ts';
import { tuneHeap } from '../platform/heap.ts';
import { createLog } from '../platform/log.ts';
import { isUnavailable } from '../store/postgres/db.ts';
import { startWorkers } from '../workers/index.ts';
import { followChanges } from './changes.ts';
import { closingTimeOf, openDeps, settle, startWatching } from './deps.ts';
import { openDoor, type Door } from './door.ts';
import { asOrder, type Order, type Report, type Start } from './line.ts';

const mode = process.argv[2] as Exclude<Mode, 'command'>;
const report = (message: Report, then: () => void = () => {}): void =>
  void process.send?.(message, undefined, {}, then);

/** A server that runs, as far as it is in this process. */
interface Running {
  deps: Deps;
  door: Door;
  stopFollowing: () => Promise<void>;
  closeDeps: () => Promise<void>;
  stopWorkers: () => Promise<void>;
}

async function run({ SECRET_KEYS, connection }: Start): Promise<Running> {
  tuneHeap();
  const config: Config = configWith(loadConfig(mode), { SECRET_KEYS });
  const pretty = mode === 'dev' && process.stdout.isTTY;
  const log = createLog({ level: config.LOG_LEVEL, pretty, isFlood: isUnavailable, pid: process.pid });
  const watched = await startWatching(config, log);
  const opened = await openDeps(config, connection, { log, connections: connectionsOf(config), watched });
  const { deps, jobs, close: closeDeps } = opened;
  await deps.keys.reload();
  if (config.METRICS_PORT !== 0) (await import('../http/metrics.ts')).watch(deps, { backlog: false });
  const workers = startWorkers(deps, jobs, ['each']);
  const stopFollowing = followChanges(deps, connection, workers.onChange);
  const door = await openDoor(deps);
  return { deps, door, stopFollowing, closeDeps, stopWorkers: workers.stop };
}

let running: Running | undefined;
/** Whether other processes go on when this one is ordered to end. */
let ready = false;
const left = Promise.withResolvers<void>();

let closed: Promise<void> | undefined;
async function close({ deps, door, stopFollowing, closeDeps, stopWorkers }: Running): Promise<void> {
  await door.close({ ready });
  await settle(deps, stopWorkers);
  await stopFollowing();
  await closeDeps();
  // A connection that was dealt to us before we said so is on its way: it is sent back, and another process gets it.
  report({ postern: 'done', snapshot: await deps.metrics.snapshot() });
  await left.promise;
}

const grace = closeWithGrace(
  { delay: closingTimeOf(loadConfig(mode)), logger: false, skip: ['SIGHUP'] },
  async ({ err }) => {
    if (!running) process.exit(err ? 1 : 0);
    if (err) running.deps.log.fatal({ err }, 'unexpected error, stopping');
    await (closed ??= close(running));
  },
);
// It is the primary's: a terminal sends it to all.
process.on('SIGHUP', () => {});

const onOrder: { [Name in Order['postern']]: (order: Extract<Order, { postern: Name }>) => void } = {
  start({ start }) {
    run(start).then(
      (started) => {
        running = started;
        report({ postern: 'listening' });
      },
      async (thrown: unknown) => {
        const { error, problems } = await failureOf(thrown);
        report({ postern: 'failed', error, problems }, () => process.exit(1));
      },
    );
  },
  retire() {
    ready = true;
    grace.close();
  },
  stop: () => grace.close(),
  count: () => void running?.deps.metrics.snapshot().then((snapshot) => report({ postern: 'counted', snapshot })),
  leave: () => left.resolve(),
};
process.on('message', (message: unknown) => {
  const order = asOrder(message);
  if (order) (onOrder[order.postern] as (order: Order) => void)(order);
});
process.channel?.ref();
report({ postern: 'here' });
