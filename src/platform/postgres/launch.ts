// One attempt to run the cluster's postmaster: settings, a private socket directory, and the wait until it answers.
import { chown, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { canEnter } from './account.ts';
import type { Account } from './account.ts';
import type { Binaries } from './binaries.ts';
import type { Child } from './child.ts';
import { LOCKED, startChild } from './child.ts';
import { PostgresUnavailable, messageOf } from './error.ts';
import type { Place } from './location.ts';
import type { PostgresConnection } from './session.ts';
import { PORT, USER, askPostgres, createDatabase } from './session.ts';

/** A postmaster that answers. */
export interface Launched {
  child: Child;
  connection: PostgresConnection;
  version: string;
  socketDir: string;
}

/** How to run it. */
export interface Launch {
  durable: boolean;
  database: string;
  /** what a second owner will read: who runs this Postgres */
  clusterName: string;
  /** see Watch.stale */
  stale?: string | undefined;
  /** where its socket was before, and is to be again; else a new directory */
  socketDir?: string | undefined;
  onLaunch?: (() => void) | undefined;
  onLog?: ((line: string) => void) | undefined;
}

/** How long (ms) a postmaster may take until it answers; recovery after a crash is the long case. */
const PATIENCE = 120_000;

/** sun_path has room for 103 bytes on macOS, 107 on Linux. */
const LONGEST_SOCKET_PATH = 103;

/**
 * Starts the cluster.
 * @returns undefined when another postmaster has the cluster
 * @throws PostgresUnavailable when it cannot start
 */
export async function launch(place: Place, binaries: Binaries, how: Launch): Promise<Launched | undefined> {
  const socketDir = await (how.socketDir === undefined
    ? makeSocketDir(place.account)
    : remakeSocketDir(how.socketDir, place.account));
  const settings = Object.entries(settingsFor(how, socketDir)).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = startChild([path.join(binaries.bin, 'postgres'), '-D', place.clusterDir, ...settings], {
    account: place.account,
    cwd: place.clusterDir,
    lock: path.join(place.clusterDir, 'postern.lock'),
    sockets: socketDir,
    onLog: how.onLog,
    ...(how.stale === undefined ? {} : { stale: how.stale }),
  });
  how.onLaunch?.();
  const connection = { host: socketDir, port: PORT, user: USER, database: how.database };
  try {
    const version = await untilReady(child, connection);
    if (version !== undefined) {
      child.release();
      return { child, connection, version, socketDir };
    }
    const { code, lines } = await child.exited;
    await rm(socketDir, { recursive: true, force: true });
    if (isTaken(code, lines)) return undefined;
    throw new PostgresUnavailable(`Postgres did not start in ${place.clusterDir}: ${reason(code, lines)}`);
  } catch (error) {
    await child.interrupt(5000);
    await rm(socketDir, { recursive: true, force: true });
    throw error;
  }
}

/** Its version once it answers; undefined if it exits first. */
async function untilReady(child: Child, connection: PostgresConnection): Promise<string | undefined> {
  for (const deadline = Date.now() + PATIENCE; Date.now() < deadline;) {
    if (child.hasExited()) return undefined;
    const answer = await askPostgres(connection);
    if (answer.state === 'ready') return answer.version;
    if (answer.state === 'no database') await createDatabase(connection);
    else await sleep(3);
  }
  throw new PostgresUnavailable(
    `Postgres did not answer within ${PATIENCE / 1000} seconds: see its log, or set DATABASE_URL`,
  );
}

/**
 * A directory of its own for the socket, 0700: who can enter it is the superuser. Its name is recorded in postmaster.pid.
 * @throws PostgresUnavailable when there is no place short and open enough
 */
async function makeSocketDir(account: Account): Promise<string> {
  const temporary = [...new Set([tmpdir(), '/tmp', '/var/tmp', '/run'])];
  for (const candidate of temporary) {
    const parent = await realpath(candidate).catch(() => candidate);
    const longest = path.join(parent, 'postern-XXXXXX', `.s.PGSQL.${PORT}.lock`);
    // A comma or quote would end the name in unix_socket_directories.
    if (Buffer.byteLength(longest) > LONGEST_SOCKET_PATH || /[",]/.test(parent)) continue;
    if (account.switched && !(await canEnter(account, parent))) continue;
    const made = await mkdtemp(path.join(parent, 'postern-')).catch(() => undefined);
    if (made === undefined) continue;
    if (account.switched) await chown(made, account.uid, account.gid);
    return made;
  }
  throw new PostgresUnavailable(
    `No temporary directory for Postgres' socket (tried ${temporary.join(', ')}): set TMPDIR to a short path that uid ${account.uid} can enter`,
  );
}

/**
 * The directory of one that has died, for those who know its address.
 * @throws PostgresUnavailable when somebody else has it by now
 */
async function remakeSocketDir(socketDir: string, account: Account): Promise<string> {
  try {
    await rm(socketDir, { recursive: true, force: true });
    await mkdir(socketDir, { mode: 0o700 });
    if (account.switched) await chown(socketDir, account.uid, account.gid);
    return socketDir;
  } catch (error) {
    throw new PostgresUnavailable(
      `The directory of Postgres' socket, ${socketDir}, cannot be made again: ${messageOf(error)}`,
    );
  }
}

function settingsFor(how: Launch, socketDir: string): Record<string, string | number> {
  return {
    listen_addresses: '',
    unix_socket_directories: socketDir,
    unix_socket_permissions: '0700',
    port: PORT,
    cluster_name: how.clusterName,
    max_connections: 100,
    shared_buffers: '128MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    logging_collector: 'off',
    log_destination: 'stderr',
    jit: 'off',
    ...(how.durable
      ? { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' }
      : { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', wal_level: 'minimal', max_wal_senders: 0 }),
  };
}

function isTaken(code: number | null, lines: string[]): boolean {
  return (
    code === LOCKED ||
    lines.some((line) => /lock file "postmaster\.pid" already exists|pre-existing shared memory block/.test(line))
  );
}

function reason(code: number | null, lines: string[]): string {
  const fatal = lines.find((line) => /FATAL:|PANIC:/.test(line)) ?? lines.at(-1);
  return fatal ?? `exit status ${code}`;
}
