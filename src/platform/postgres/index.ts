// The zero-setup Postgres: real PostgreSQL binaries, run on DATA_DIR for as long as one process owns them. Who connects
// to it, and which tables are in it, is left to others.
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BinarySearch } from './binaries.ts';
import { findBinaries } from './binaries.ts';
import { clusterMajor, makeCluster } from './cluster.ts';
import { PostgresUnavailable, messageOf } from './error.ts';
import type { Launch, Launched } from './launch.ts';
import { launch } from './launch.ts';
import type { Place } from './location.ts';
import { find, locate } from './location.ts';
import type { Owner, Role } from './owner.ts';
import { clusterName, inspectCluster } from './owner.ts';
import type { PostgresConnection } from './session.ts';

export type { Owner, PostgresConnection };
export { PostgresUnavailable };

/** A Postgres to connect to. */
export interface RunningPostgres {
  connection: PostgresConnection;
  /** as Postgres spells it: `18.4` */
  version: string;
  /** the cluster's real directory, not always in DATA_DIR */
  dataDir: string;
  /** stops it if we own it; may be called again */
  stop(): Promise<void>;
}

/** How to start or find it. */
export interface PostgresOptions {
  /** DATA_DIR; made if missing */
  dataDir: string;
  role: Role;
  /** false (tests): no fsync, so a crash of the machine may destroy the data; default true */
  durable?: boolean;
  /** ms to wait for a command that owns it; a server is not waited for; default 10 000 */
  waitForOwner?: number;
  /** made if missing; default `postern` */
  database?: string;
  /** its process was started, and takes a while to answer: called once */
  onLaunch?: () => void;
  /** each line of Postgres' log */
  onLog?: (line: string) => void;
  /** Postgres ended although nobody stopped it */
  onExit?: (detail: string) => void;
  /** what then becomes of it: it is started again at the same address, unless that is left out */
  revive?: Revival;
  /** where to find PostgreSQL */
  binaries?: BinarySearch;
}

/** Callbacks for a Postgres that was started again, or could not be. */
interface Revival {
  onRevived(): void;
  /** the message is one line that says what to do */
  onLost(error: PostgresUnavailable): void;
}

/** So often within so long (ms) one that ends is started again; what ends more often has a reason. */
const REVIVALS = { most: 3, within: 60_000 };

/** How long (ms) a Postgres that starts or stops may take before we give up; a last checkpoint is the long case. */
const SETTLE = 60_000;

/** How long (ms) a stopping Postgres has before it is told to stop at once, which loses nothing that was committed. */
const STOP_PATIENCE = 30_000;

/**
 * Starts Postgres on DATA_DIR and owns it: it ends with `stop()` or with this process, however that ends.
 * @throws PostgresUnavailable when another process owns it, or it cannot start; the message says what to do
 */
export function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  return acquire(options, false);
}

/**
 * Uses the Postgres of a running server (then `stop()` does nothing), else starts it like startPostgres.
 * @throws PostgresUnavailable
 */
export function attachPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  return acquire(options, true);
}

/**
 * Who runs the Postgres of a DATA_DIR now; undefined when nobody does.
 * @throws PostgresUnavailable when it cannot be asked
 */
export async function describeOwner(dataDir: string): Promise<Owner | undefined> {
  const place = await find(dataDir);
  if (place === undefined) return undefined;
  const found = await inspectCluster(place, 'postgres');
  return found.state === 'owned' ? found.owner : undefined;
}

async function acquire(options: PostgresOptions, attach: boolean): Promise<RunningPostgres> {
  const { database = 'postern', waitForOwner = 10_000 } = options;
  const place = await locate(options.dataDir);
  const begun = Date.now();
  for (let wait = 5; ; wait = Math.min(wait * 2, 50)) {
    const found = await inspectCluster(place, database);
    if (found.state === 'owned') {
      if (attach && found.owner.role === 'server') return attached(place, found.connection, found.version);
      const patience = found.owner.role === 'command' ? waitForOwner : 0;
      if (Date.now() - begun >= patience) throw refusal(place, found.owner);
    } else if (found.state === 'free') {
      const started = await start(place, options, found.stale);
      if (started !== undefined) return owned(place, started, options);
    }
    if (Date.now() - begun > SETTLE) throw stuck(place);
    await sleep(wait);
  }
}

async function start(place: Place, options: PostgresOptions, stale: string | undefined): Promise<Launched | undefined> {
  const { durable = true } = options;
  const major = await clusterMajor(place.clusterDir);
  const binaries = await findBinaries(options.binaries ?? {}, major, place.account, place.dataDir);
  if (major === undefined) {
    await makeCluster(place, binaries, durable);
    // Another process may have made it, with other binaries.
    return start(place, options, stale);
  }
  return launch(place, binaries, { ...launchOptions(options), stale });
}

function launchOptions({ role, durable = true, database = 'postern', onLaunch, onLog }: PostgresOptions): Launch {
  return { durable, database, clusterName: clusterName({ pid: process.pid, role }), onLaunch, onLog };
}

function owned(place: Place, launched: Launched, options: PostgresOptions): RunningPostgres {
  const { connection, version, socketDir } = launched;
  let current = launched;
  let stopping: Promise<void> | undefined;
  let reviving: Promise<void> | undefined;
  const ends: number[] = [];

  function watch({ child }: Launched): void {
    void child.exited.then(({ code, lines }) => {
      if (stopping !== undefined) return;
      const detail = `Postgres ended (status ${code}): ${lines.at(-1) ?? 'it said nothing'}`;
      options.onExit?.(detail);
      if (options.revive) reviving = revive(options.revive, detail);
    });
  }
  async function revive({ onRevived, onLost }: Revival, detail: string): Promise<void> {
    try {
      const now = Date.now();
      if (ends.push(now) > REVIVALS.most && now - ends.shift()! < REVIVALS.within)
        throw new PostgresUnavailable(detail);
      const again = await relaunch(place, options, socketDir, () => stopping !== undefined);
      if (again === undefined) return;
      current = again;
      watch(again);
      onRevived();
    } catch (error) {
      if (stopping === undefined)
        onLost(error instanceof PostgresUnavailable ? error : new PostgresUnavailable(messageOf(error)));
    }
  }
  const stop = async (): Promise<void> => {
    await reviving;
    await current.child.interrupt(STOP_PATIENCE);
    await rm(socketDir, { recursive: true, force: true });
  };
  watch(launched);
  return { connection, version, dataDir: place.clusterDir, stop: () => (stopping ??= stop()) };
}

/**
 * Starts one that has died on the same data and at the same address; undefined when that is over meanwhile.
 * @throws PostgresUnavailable
 */
async function relaunch(
  place: Place,
  options: PostgresOptions,
  socketDir: string,
  isOver: () => boolean,
): Promise<Launched | undefined> {
  const major = await clusterMajor(place.clusterDir);
  // A new cluster would be empty, and the data would seem lost.
  if (major === undefined)
    throw new PostgresUnavailable(`The data of Postgres in ${place.clusterDir} is gone: restore it`);
  const binaries = await findBinaries(options.binaries ?? {}, major, place.account, place.dataDir);
  const begun = Date.now();
  for (let wait = 5; !isOver(); wait = Math.min(wait * 2, 250)) {
    // What is left of it holds the data until it is gone.
    const found = await inspectCluster(place, options.database ?? 'postern');
    if (found.state === 'owned') throw refusal(place, found.owner);
    const started =
      found.state === 'free'
        ? await launch(place, binaries, {
            ...launchOptions(options),
            onLaunch: undefined,
            stale: found.stale,
            socketDir,
          })
        : undefined;
    if (started !== undefined) return started;
    if (Date.now() - begun > SETTLE) throw stuck(place);
    await sleep(wait);
  }
  return undefined;
}

function attached(place: Place, connection: PostgresConnection, version: string): RunningPostgres {
  return { connection, version, dataDir: place.clusterDir, stop: () => Promise.resolve() };
}

function refusal(place: Place, owner: Owner): PostgresUnavailable {
  return new PostgresUnavailable(
    `Postgres in ${place.dataDir} already belongs to a running ${owner.role} (process ${owner.pid}): stop that, or choose another DATA_DIR`,
  );
}

function stuck(place: Place): PostgresUnavailable {
  return new PostgresUnavailable(
    `Postgres in ${place.clusterDir} is in use, and has neither started nor stopped for ${SETTLE / 1000} seconds (another container?): stop what uses it, or choose another DATA_DIR`,
  );
}
