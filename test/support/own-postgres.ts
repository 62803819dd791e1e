/** A Postgres of one's own, durable, that can be stopped, crashed and paused while a server keeps its address. */
import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres, type PostgresOptions, type RunningPostgres } from '../../src/platform/postgres/index.ts';
import type { Connection } from '../../src/store/postgres/db.ts';
import { openDb } from '../../src/store/postgres/open.ts';
import { migrate } from '../../src/store/postgres/migrate.ts';
import type { TestDatabase } from './database.ts';
import { descendants } from './processes.ts';
import { temporaryDirectory } from './server.ts';

export interface OwnPostgres extends TestDatabase {
  /** As Postgres spells it: `18.4`. */
  version: string;
  stop(): Promise<void>;
  /** After `stop` or `crash`; its data is what it was. */
  start(): Promise<void>;
  /** As `pg_ctl stop -m immediate`: no checkpoint, connections are cut. */
  crash(): Promise<void>;
  /** SIGSTOP to all of its processes: it is there, and does not answer. */
  pause(): void;
  resume(): void;
}

/** Starts and migrates it. `close` ends it. `how` says which, and whether it outlives a crash of the machine. */
export async function startOwnPostgres(how: Pick<PostgresOptions, 'binaries' | 'durable'> = {}): Promise<OwnPostgres> {
  const dataDir = temporaryDirectory();
  // The socket's directory is another one after each start; a link to it keeps one name.
  const host = join(temporaryDirectory(), 'sockets');
  let running: RunningPostgres;
  let postmaster = 0;
  let ended = Promise.withResolvers<void>();

  async function start(): Promise<void> {
    ended = Promise.withResolvers();
    running = await startPostgres({ dataDir, role: 'server', onExit: () => ended.resolve(), ...how });
    rmSync(host, { force: true });
    symlinkSync(running.connection.host, host);
    postmaster = Number(readFileSync(join(running.dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
  }
  await start();

  const { port, user, database } = running!.connection;
  const connection: Connection = { host, port, user, database };
  const migrations = openDb(connection, { max: 1, statementTimeout: 0 });
  await migrate(migrations);
  await migrations.destroy();
  const db = openDb(connection, { max: 4 });
  const signalAll = (signal: NodeJS.Signals): void => {
    for (const pid of [postmaster, ...descendants(postmaster)]) process.kill(pid, signal);
  };
  return {
    version: running!.version,
    connection,
    url: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`,
    db,
    start,
    stop: () => running.stop(),
    async crash() {
      process.kill(postmaster, 'SIGQUIT');
      await ended.promise;
    },
    pause: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
    async close() {
      await db.destroy();
      await running.stop();
    },
  };
}
