/** What commands are handed in: a server (config -> deps -> app -> listen -> close), and a database to work on. */
import closeWithGrace from 'close-with-grace';
import type { Opened } from '../cli/index.ts';
import { configWith, connectionsOf, loadConfig, type Config, type Mode } from '../config.ts';
import type { Deps } from '../deps.ts';
import { banner } from '../dev/banner.ts';
import { demoApplication } from '../dev/demo.ts';
import { seed } from '../dev/seed.ts';
import type { MetricsListener } from '../http/metrics.ts';
import { ensureKeys } from '../keys/index.ts';
import { disciplinedClock } from '../platform/clock.ts';
import { tuneHeap } from '../platform/heap.ts';
import { createLog } from '../platform/log.ts';
import { ensureSecretFile, readSecretFile } from '../platform/secret-file.ts';
import { isUnavailable } from '../store/postgres/db.ts';
import { resealForeignSecrets } from '../users/foreign-secrets.ts';
import { resealTotps } from '../users/enrolment.ts';
import { resealTokens } from '../users/upstream/sealed.ts';
import { resealSecrets } from '../users/upstream/secret.ts';
import { startWorkers } from '../workers/index.ts';
import { makePartitions } from '../workers/keep-partitions.ts';
import { followChanges } from './changes.ts';
import type { Processes } from './cluster.ts';
import { migrateAsOwner, openAsOwner, openDatabase, prepareSchema, checkPooler } from './database.ts';
import { closingTimeOf, openDeps, secretFileOf, settle, startWatching } from './deps.ts';
import type { Door } from './door.ts';
import type { Start } from './line.ts';

/** Milliseconds that the primary has beyond those of its processes. */
const PRIMARY_MS = 3000;

/** Runs a server until it is told to stop. @throws ConfigError, Failure, PostgresUnavailable and what listening throws */
export async function start(mode: Exclude<Mode, 'command'>): Promise<void> {
  tuneHeap();
  let config = loadConfig(mode);
  const several = config.WORKERS > 1;
  const pretty = mode === 'dev' && process.stdout.isTTY;
  const log = createLog({
    level: config.LOG_LEVEL,
    pretty,
    isFlood: isUnavailable,
    ...(several && { pid: process.pid }),
  });
  if (config.SECRET_KEYS.length === 0) {
    config = configWith(config, { SECRET_KEYS: ensureSecretFile(secretFileOf(config)) });
  }
  const watched = await startWatching(config, log);
  // The processes load while the database is prepared.
  const processes = several
    ? (await import('./cluster.ts')).createProcesses(config, { log, metrics: watched.metrics }, closingTimeOf(config))
    : undefined;
  // A terminal that goes away sends it, too: then development ends.
  const skip: Array<'SIGHUP'> = mode === 'serve' ? ['SIGHUP'] : [];
  if (mode === 'serve') process.on('SIGHUP', () => restart(processes, log));

  let stopping = false;
  let grace: ReturnType<typeof closeWithGrace> | undefined;
  let databaseLost: Error | undefined;
  /** What was begun, to be ended backwards. */
  const ends: Array<() => Promise<unknown>> = [];
  const end = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (let last = ends.pop(); last; last = ends.pop()) await last().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
  try {
    if (processes) ends.push(() => processes.close());
    // Where this process answers, what answers is loaded while Postgres starts.
    const early = processes ? undefined : (): void => void loadDoor().catch(() => {});
    const database = await openDatabase(config, log, early, (error) => {
      databaseLost = error;
      log.fatal(`the server stops, since its Postgres could not be started again: ${error.message}`);
      grace?.close();
    });
    ends.push(() => database.stop());
    const { connection } = database;
    const opened = await openDeps(config, connection, { log, connections: connectionsOf(config), watched });
    ends.push(opened.close);
    const { deps, jobs } = opened;
    await checkPooler(deps);
    await prepareSchema(config, connection, deps.db);
    await ensureKeys(deps.db, deps.secrets, [...config.SIGNING_ALGS, ...config.ENCRYPTION_ALGS], deps.clock());
    await resealForeignSecrets(deps.db, deps.secrets);
    await resealSecrets(deps);
    await resealTokens(deps);
    await resealTotps(deps);
    await deps.keys.reload();
    const partitioned = makePartitions(deps).catch((error: unknown) => {
      log.warn({ err: error }, 'partitions could not be made; it is tried again');
    });
    if (mode === 'dev') await seed(deps, deps.clock());
    const scrapes = await listenForMetrics(deps, processes);
    ends.push(async () => scrapes?.close());
    const workers = startWorkers(deps, jobs);
    ends.push(followChanges(deps, connection, workers.onChange));
    ends.push(() => settle(deps, workers.stop));
    const { SECRET_KEYS } = config;
    const service = serviceOf(deps, processes, { SECRET_KEYS, connection });
    ends.push(() => service.close());

    const delay = closingTimeOf(config) + (several ? PRIMARY_MS : 0);
    grace = closeWithGrace({ delay, logger: false, skip }, async ({ err, signal }) => {
      stopping = true;
      if (err) log.fatal({ err }, 'unexpected error, stopping');
      else if (!databaseLost) log.info({ signal }, 'stopping');
      await end();
      // The exit code says so.
      if (databaseLost) throw databaseLost;
    });
    await partitioned;
    await service.begin();
    if (mode === 'dev') {
      const { authorizationUrl } = demoApplication(deps);
      process.stdout.write(
        banner({ issuer: config.ISSUER, authorization_url: authorizationUrl(), data: database.label }),
      );
    }
  } catch (error) {
    // Told to stop while it started: what could not start then is no failure.
    if (stopping) return;
    // It would call the end of a failure a success.
    grace?.uninstall();
    await end().catch(() => undefined);
    throw error;
  }
}

// Loaded when needed, so that commands do not wait for it.
const loadDoor = () => import('./door.ts');

/** How requests get answered. */
interface Service {
  begin(): Promise<void>;
  /** @throws when something was cut off */
  close(): Promise<void>;
}

/** By processes of their own, or else in this one. */
function serviceOf(deps: Deps, processes: Processes | undefined, given: Start): Service {
  if (processes) {
    return {
      begin: () => processes.begin(given),
      async close() {
        if (!(await processes.close())) throw new Error('requests under way were cut off');
      },
    };
  }
  let door: Door | undefined;
  return {
    async begin() {
      const { openDoor } = await loadDoor();
      door = await openDoor(deps);
    },
    close: async () => door?.close(),
  };
}

function restart(processes: Processes | undefined, log: Deps['log']): void {
  if (processes) void processes.restart();
  else log.warn('SIGHUP restarts processes one by one where WORKERS is above 1; there is one here, and it goes on');
}

/** Opens /metrics. In development several servers on one machine are usual: only the first gets the address. */
async function listenForMetrics(deps: Deps, processes: Processes | undefined): Promise<MetricsListener | undefined> {
  const { METRICS_HOST: host, METRICS_PORT: port, mode } = deps.config;
  if (port === 0) return undefined;
  const { listenForScrapes, watch } = await import('../http/metrics.ts');
  watch(deps);
  if (processes) deps.metrics.join(() => processes.counts());
  try {
    return await listenForScrapes(deps, { host, port });
  } catch (error) {
    if (mode !== 'dev') throw error;
    deps.log.warn((error as Error).message);
    return undefined;
  }
}

/**
 * Opens what a command works on, and lets go of it afterwards. The server may be running meanwhile. Our own Postgres is
 * migrated, as `dev` would; for any other that is a decision.
 */
export async function open<T>(
  work: (opened: Opened) => Promise<T>,
  { schema, as }: { schema?: 'any'; as?: 'owner' } = {},
): Promise<T> {
  let config: Config = loadConfig('command');
  const log = createLog({ level: config.LOG_LEVEL === 'info' ? 'warn' : config.LOG_LEVEL, stderr: true });
  const secretFile = secretFileOf(config);
  if (config.SECRET_KEYS.length === 0) {
    const keys = config.DATABASE_URL === undefined ? ensureSecretFile(secretFile) : readSecretFile(secretFile);
    config = configWith(config, { SECRET_KEYS: keys ?? [] });
  }
  const database = await (as === 'owner' ? openAsOwner(config, log) : openDatabase(config, log));
  const { connection, place, stop } = database;
  try {
    const { deps, close } = await openDeps(config, connection, { log, connections: 4 });
    try {
      if (schema !== 'any') await prepareSchema(config, connection, deps.db);
      const migrate = (onWait: (what: string) => void): Promise<string[]> =>
        migrateAsOwner(config, database, { random: deps.random, onWait });
      return await work({ deps, migrate, place, secretFile, machineTime: disciplinedClock().now });
    } finally {
      await close();
    }
  } finally {
    await stop();
  }
}
