/** A durable Postgres on a port of loopback, that can be killed, stopped, hung, copied and promoted. */
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  lchownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { findBinaries, type Binaries } from '../../src/platform/postgres/binaries.ts';
import { startChild, type Child } from '../../src/platform/postgres/child.ts';
import { makeCluster } from '../../src/platform/postgres/cluster.ts';
import { find, locate, type Place } from '../../src/platform/postgres/location.ts';
import { USER } from '../../src/platform/postgres/session.ts';
import { until } from '../support/postgres-process.ts';
import { descendants } from '../support/processes.ts';
import { freePort } from '../support/server.ts';

const START_MS = 60_000;
export const DATABASE = 'postern';

export interface PostgresNode {
  readonly port: number;
  /** Where its data is: what fills that disk is found by `df`. */
  readonly directory: string;
  readonly url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** SIGKILL to all of its processes. */
  kill(): Promise<void>;
  /** SIGSTOP and SIGCONT to all of its processes. */
  pause(): void;
  resume(): void;
  isRunning(): boolean;
  /** One statement, as the superuser. */
  sql<Row extends pg.QueryResultRow>(text: string): Promise<Row[]>;
  close(): Promise<void>;
}

/** Makes and starts one in a directory below `parent`. */
export async function startNode(parent = tmpdir()): Promise<PostgresNode> {
  const directory = mkdtempSync(join(parent, 'postern-drill-'));
  chmodSync(directory, 0o711);
  const place = await locate(directory);
  const binaries = await findBinaries({}, undefined, place.account, place.dataDir);
  await makeCluster(place, binaries, true);
  const node = new Node(await freePort(), place, binaries, directory);
  await node.start();
  await node.sql(`create database ${DATABASE}`).catch((error: unknown) => {
    if ((error as { code?: string }).code !== '42P04') throw error;
  });
  return node;
}

/** A standby that streams from this node, whose commits wait for it if `synchronous`. */
export async function startStandby(
  primary: PostgresNode,
  { synchronous }: { synchronous: boolean },
): Promise<PostgresNode> {
  const directory = mkdtempSync(join(tmpdir(), 'postern-drill-'));
  chmodSync(directory, 0o711);
  const from = await find(primary.directory);
  if (from === undefined) throw new Error('the primary has no cluster');
  await primary.stop();
  const clusterDir = join(directory, 'postgres');
  cpSync(from.clusterDir, clusterDir, { recursive: true });
  writeFileSync(join(clusterDir, 'standby.signal'), '');
  const settings = `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=${USER} application_name=standby'\n`;
  appendFileSync(join(clusterDir, 'postgresql.auto.conf'), settings);
  if (from.account.switched) ownAll(clusterDir, from.account.uid, from.account.gid);
  const place = { ...from, dataDir: directory, clusterDir };
  const binaries = await findBinaries({}, undefined, place.account, place.dataDir);
  const node = new Node(await freePort(), place, binaries, directory);
  await primary.start();
  await node.start();
  const streams = async (): Promise<boolean> =>
    (await primary.sql(`select from pg_stat_replication where application_name = 'standby' and state = 'streaming'`))
      .length > 0;
  await until('the standby follows', streams, START_MS);
  if (synchronous) await setSynchronousStandby(primary, 'standby');
  return node;
}

function ownAll(directory: string, uid: number, gid: number): void {
  chownSync(directory, uid, gid);
  for (const path of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(directory, path), uid, gid);
  }
  chmodSync(directory, 0o700);
}

/** Commits wait for the standby of this name; for none with the empty one. */
export async function setSynchronousStandby(node: PostgresNode, name: string): Promise<void> {
  await node.sql(`alter system set synchronous_standby_names = '${name}'`);
  await node.sql('select pg_reload_conf()');
}

class Node implements PostgresNode {
  readonly port: number;
  readonly directory: string;
  readonly #place: Place;
  readonly #binaries: Binaries;
  #child: Child | undefined;

  constructor(port: number, place: Place, binaries: Binaries, directory: string) {
    this.port = port;
    this.#place = place;
    this.#binaries = binaries;
    this.directory = directory;
  }

  get url(): string {
    return `postgres://${USER}@127.0.0.1:${this.port}/${DATABASE}`;
  }

  async start(): Promise<void> {
    const { clusterDir, account } = this.#place;
    const settings = {
      listen_addresses: '127.0.0.1',
      port: this.port,
      unix_socket_directories: '',
      max_connections: 100,
      wal_level: 'replica',
      max_wal_size: '96MB',
      // A standby that is gone keeps no more than this.
      wal_keep_size: '64MB',
      shared_buffers: '64MB',
      logging_collector: 'off',
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = startChild([join(this.#binaries.bin, 'postgres'), '-D', clusterDir, ...options], {
      account,
      cwd: clusterDir,
    });
    this.#child = child;
    void child.exited.then(() => {
      if (this.#child === child) this.#child = undefined;
    });
    const answers = async (): Promise<boolean> => {
      if (child.hasExited()) throw new Error(`Postgres ended: ${(await child.exited).lines.slice(-3).join(' | ')}`);
      return this.#ask('postgres', 'select 1').then(
        () => true,
        () => false,
      );
    };
    await until('Postgres answers', answers, START_MS);
    child.release();
  }

  async stop(): Promise<void> {
    await this.#child?.interrupt(10_000);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    for (const pid of this.#pids()) signal(pid, 'SIGKILL');
    await child?.exited;
  }

  pause(): void {
    for (const pid of this.#pids()) signal(pid, 'SIGSTOP');
  }

  resume(): void {
    for (const pid of this.#pids()) signal(pid, 'SIGCONT');
  }

  isRunning(): boolean {
    return this.#child !== undefined;
  }

  #pids(): number[] {
    if (this.#child === undefined) return [];
    const postmaster = Number(readFileSync(join(this.#place.clusterDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
    return [postmaster, ...descendants(postmaster)];
  }

  sql<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    return this.#ask<Row>(text.startsWith('create database') ? 'postgres' : DATABASE, text);
  }

  async #ask<Row extends pg.QueryResultRow>(database: string, text: string): Promise<Row[]> {
    const client = new pg.Client({
      host: '127.0.0.1',
      port: this.port,
      user: USER,
      database,
      connectionTimeoutMillis: 2000,
    });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }

  async close(): Promise<void> {
    if (this.isRunning()) this.resume();
    await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has just gone.
  }
}
