/** Three nodes under Patroni with synchronous replication, reached through HAProxy or by the list of all three. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { fetch } from 'undici';
import { accountFor } from '../../../src/platform/postgres/account.ts';
import { USER } from '../../../src/platform/postgres/session.ts';
import { until } from '../../support/postgres-process.ts';
import { descendants } from '../../support/processes.ts';
import { freePort } from '../../support/server.ts';
import { sleep, type Fault, type Scene } from '../fault.ts';
import { DATABASE, type PostgresNode } from '../node.ts';

const START_MS = 120_000;
const NAMES = ['one', 'two', 'three'];
const PROGRAMS = ['patroni', 'etcd', 'haproxy'];

/** The newest PostgreSQL with all of its programs: Patroni needs more of them than a server does. */
function binariesOf(): string | undefined {
  const parent = '/usr/lib/postgresql';
  const majors = existsSync(parent) ? readdirSync(parent).toSorted((a, b) => Number(b) - Number(a)) : [];
  return majors.map((major) => join(parent, major, 'bin')).find((bin) => existsSync(join(bin, 'pg_basebackup')));
}

async function lacks(): Promise<string | undefined> {
  const missing = PROGRAMS.filter((program) => {
    try {
      execFileSync('sh', ['-c', 'command -v "$1"', 'sh', program], { stdio: 'pipe' });
      return false;
    } catch {
      return true;
    }
  });
  if (binariesOf() === undefined) missing.push('PostgreSQL with pg_basebackup in /usr/lib/postgresql');
  return missing.length === 0 ? undefined : missing.join(', ');
}

interface Member {
  name: string;
  port: number;
  api: number;
  process: ChildProcess;
}

/** A running cluster of three, etcd and HAProxy. */
class Patroni {
  readonly directory = mkdtempSync(join(tmpdir(), 'postern-drill-patroni-'));
  readonly members: Member[] = [];
  /** etcd, Patroni and HAProxy, in the order of their start. */
  readonly #children: ChildProcess[] = [];
  #account = { uid: 0, gid: 0, switched: false };
  #etcd = 0;
  haproxy = 0;

  async start(): Promise<void> {
    this.#account = await accountFor(this.directory.replace(/$/, '/none'));
    chmodSync(this.directory, 0o711);
    this.#etcd = await freePort();
    const peer = await freePort();
    const [client, member] = [this.#etcd, peer].map((port) => `http://127.0.0.1:${port}`) as [string, string];
    const settings = {
      'data-dir': this.#own('etcd'),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': member,
      'initial-advertise-peer-urls': member,
      'initial-cluster': `default=${member}`,
    };
    this.#run(
      'etcd',
      Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    );
    const isHealthy = (): Promise<boolean> =>
      fetch(`${client}/health`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until('etcd answers', isHealthy, START_MS);
    for (const name of NAMES) {
      this.members.push(await this.#startMember(name));
      await until('there is a primary', async () => (await this.primary()) !== undefined, START_MS);
    }
    await until('one standby is synchronous', async () => (await this.synchronous()) !== undefined, START_MS);
    await ask(await this.#primaryPort(), 'postgres', `create database ${DATABASE}`);
    await this.#startHaproxy();
    // It takes every node for a good one until it has asked each.
    const leads = (): Promise<boolean> =>
      ask(this.haproxy, DATABASE, 'create temporary table leads ()').then(
        () => true,
        () => false,
      );
    for (let n = 0; n < 10; n += 1) await until('HAProxy leads to the primary', leads, START_MS);
  }

  async #startMember(name: string): Promise<Member> {
    const [port, api] = [await freePort(), await freePort()];
    const local = (at: number): string => `127.0.0.1:${at}`;
    const file = join(this.directory, `${name}.yml`);
    // JSON is YAML.
    const settings = {
      scope: 'drill',
      name,
      restapi: { listen: local(api), connect_address: local(api) },
      etcd3: { host: local(this.#etcd) },
      bootstrap: {
        dcs: {
          ttl: 20,
          loop_wait: 2,
          retry_timeout: 5,
          synchronous_mode: true,
          postgresql: { use_pg_rewind: true, parameters: { max_connections: 100, wal_log_hints: 'on' } },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }],
        pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
      },
      postgresql: {
        listen: local(port),
        connect_address: local(port),
        data_dir: join(this.#own(name), 'data'),
        bin_dir: binariesOf(),
        pgpass: join(this.directory, name, 'pgpass'),
        authentication: { superuser: { username: USER }, replication: { username: 'replicator' } },
        parameters: { unix_socket_directories: '' },
        pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
      },
    };
    writeFileSync(file, JSON.stringify(settings));
    chmodSync(file, 0o644);
    return { name, port, api, process: this.#run('patroni', [file]) };
  }

  async #startHaproxy(): Promise<void> {
    this.haproxy = await freePort();
    const file = join(this.directory, 'haproxy.cfg');
    const servers = this.members.map(
      ({ name, port, api }) =>
        `  server ${name} 127.0.0.1:${port} check port ${api} inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions`,
    );
    writeFileSync(
      file,
      [
        'defaults',
        '  mode tcp',
        '  timeout connect 1s',
        '  timeout client 1h',
        '  timeout server 1h',
        'listen postgres',
        `  bind 127.0.0.1:${this.haproxy}`,
        '  option httpchk GET /primary',
        ...servers,
        '',
      ].join('\n'),
    );
    chmodSync(file, 0o644);
    this.#run('haproxy', ['-f', file]);
  }

  #run(program: string, args: readonly string[]): ChildProcess {
    const { uid, gid, switched } = this.#account;
    const log = join(this.directory, `${program}.log`);
    const child = spawn('sh', ['-c', 'log=$1; shift; exec "$@" >>"$log" 2>&1', 'sh', log, program, ...args], {
      cwd: '/',
      stdio: 'ignore',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin', LC_ALL: 'C', HOME: this.directory },
      ...(switched && { uid, gid }),
    });
    this.#children.push(child);
    return child;
  }

  /** A directory that the account of Postgres can write to. */
  #own(name: string): string {
    const directory = join(this.directory, name);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (this.#account.switched) {
      chownSync(directory, this.#account.uid, this.#account.gid);
      chownSync(this.directory, this.#account.uid, this.#account.gid);
    }
    return directory;
  }

  /** Who says of itself that it is this. */
  async #who(path: string): Promise<Member | undefined> {
    for (const member of this.members) {
      const is = await fetch(`http://127.0.0.1:${member.api}/${path}`, { signal: AbortSignal.timeout(1500) }).then(
        async (answer) => (await answer.body?.cancel(), answer.ok),
        () => false,
      );
      if (is) return member;
    }
    return undefined;
  }
  primary = (): Promise<Member | undefined> => this.#who('primary');
  synchronous = (): Promise<Member | undefined> => this.#who('synchronous');

  async #primaryPort(): Promise<number> {
    const primary = await this.primary();
    if (primary === undefined) throw new Error('there is no primary');
    return primary.port;
  }

  /** Patroni and Postgres of one member. */
  signal({ name, process: { pid } }: Pick<Member, 'name' | 'process'>, signal: NodeJS.Signals): void {
    for (const parent of [pid, this.#postmasterOf(name)]) {
      if (parent === undefined) continue;
      for (const each of [parent, ...descendants(parent)]) {
        try {
          process.kill(each, signal);
        } catch {
          // It has just gone.
        }
      }
    }
  }

  /** Patroni lets go of the Postgres that it starts. */
  #postmasterOf(name: string): number | undefined {
    const file = join(this.directory, name, 'data', 'postmaster.pid');
    return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined;
  }

  get node(): PostgresNode {
    const url = `postgres://${USER}@127.0.0.1:${this.haproxy}/${DATABASE}`;
    return { url } as PostgresNode;
  }

  async close(): Promise<void> {
    for (const process of this.#children.toReversed()) {
      const ended = process.exitCode === null && process.signalCode === null ? once(process, 'exit') : undefined;
      this.signal({ name: 'none', process }, 'SIGKILL');
      await ended;
    }
    for (const name of NAMES) this.signal({ name, process: this.#children[0]! }, 'SIGKILL');
    rmSync(this.directory, { recursive: true, force: true });
  }
}

async function ask(port: number, database: string, text: string): Promise<void> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: USER, database, connectionTimeoutMillis: 2000 });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

async function cluster(
  way: 'haproxy' | 'hosts',
  strike: (patroni: Patroni, seconds: number) => Promise<void>,
): Promise<Scene> {
  const patroni = new Patroni();
  try {
    await patroni.start();
  } catch (error) {
    await patroni.close();
    throw error;
  }
  const hosts = patroni.members.map(({ port }) => `127.0.0.1:${port}`).join();
  return {
    node: patroni.node,
    url:
      way === 'haproxy' ? patroni.node.url : `postgres://${USER}@${hosts}/${DATABASE}?target_session_attrs=read-write`,
    strike: (_deployment, seconds) => strike(patroni, seconds),
    close: () => patroni.close(),
  };
}

/** The primary's machine is gone; a standby has taken over when this returns. */
async function lose(patroni: Patroni): Promise<void> {
  const lost = (await patroni.primary())!;
  patroni.signal(lost, 'SIGKILL');
  patroni.members.splice(patroni.members.indexOf(lost), 1);
  await until('a standby has taken over', async () => (await patroni.primary()) !== undefined, START_MS);
}

async function stall(patroni: Patroni, seconds: number): Promise<void> {
  const standby = (await patroni.synchronous())!;
  patroni.signal(standby, 'SIGSTOP');
  await sleep(seconds);
  patroni.signal(standby, 'SIGCONT');
}

async function switchOver(patroni: Patroni): Promise<void> {
  const [leader, candidate] = [(await patroni.primary())!, (await patroni.synchronous())!];
  const answer = await fetch(`http://127.0.0.1:${leader.api}/switchover`, {
    method: 'POST',
    body: JSON.stringify({ leader: leader.name, candidate: candidate.name }),
  });
  if (!answer.ok) throw new Error(`Patroni answered ${answer.status}: ${await answer.text()}`);
  await until('the standby has taken over', async () => (await patroni.primary())?.name === candidate.name, START_MS);
}

const of = (
  sentence: string,
  seconds: number,
  way: Parameters<typeof cluster>[0],
  strike: Parameters<typeof cluster>[1],
): Fault => ({ sentence, seconds, lacks, open: () => cluster(way, strike) });

export const patroniFaults = {
  'patroni-killed': of('Patroni behind HAProxy: the machine of the primary is gone', 20, 'haproxy', lose),
  'patroni-killed-hosts': of(
    'Patroni, all hosts in DATABASE_URL: the machine of the primary is gone',
    20,
    'hosts',
    lose,
  ),
  'patroni-stalled': of('Patroni behind HAProxy: the synchronous standby hangs', 20, 'haproxy', stall),
  'patroni-switchover': of('Patroni, all hosts in DATABASE_URL: a planned switchover', 10, 'hosts', switchOver),
} as const satisfies Record<string, Fault>;
