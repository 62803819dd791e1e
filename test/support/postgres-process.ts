// Runs postgres-holder.ts, under another account if need be, and waits for things to come true.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import type { PostgresConnection, PostgresOptions } from '../../src/platform/postgres/index.ts';

/** What the holder says. */
interface HolderAnswer {
  connection: PostgresConnection;
  version: string;
  dataDir: string;
  ms: number;
  refused?: string;
}

/** A process that holds a Postgres. */
export interface Holder {
  pid: number;
  answer: Promise<HolderAnswer>;
  /** settles when it has received SIGINT */
  interrupted: Promise<unknown>;
  stop(): Promise<void>;
  /** SIGKILL, and waits until it is dead */
  kill(): Promise<void>;
}

/** Starts a holder. */
export function holdPostgres(
  options: PostgresOptions,
  how: { attach?: boolean; uid?: number; tmpdir?: string } = {},
): Holder {
  const script = path.join(import.meta.dirname, 'postgres-holder.ts');
  const child: ChildProcess = spawn(
    process.execPath,
    [script, JSON.stringify({ attach: how.attach ?? false, options: { durable: false, ...options } })],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
      env: how.tmpdir === undefined ? {} : { TMPDIR: how.tmpdir },
      ...(how.uid === undefined ? {} : { uid: how.uid, gid: how.uid, cwd: '/' }),
    },
  );
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout! });
  const ended = once(lines, 'close').then(() => Promise.reject(new Error('the holder ended without a word')));
  const answer = Promise.race([once(lines, 'line'), ended]).then(([line]) => JSON.parse(String(line)) as HolderAnswer);
  const interrupted = answer.then(() => once(lines, 'line'));
  interrupted.catch(() => {});
  return {
    pid: child.pid!,
    answer,
    interrupted,
    stop: async () => {
      child.stdin!.on('error', () => {});
      child.stdin!.write('stop\n');
      await exited;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Waits until it holds; fails after `ms`. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  for (const deadline = Date.now() + ms; !(await holds());) {
    if (Date.now() > deadline) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Runs one statement on a connection of its own. */
export async function query<Row extends pg.QueryResultRow>(
  connection: PostgresConnection,
  sql: string,
): Promise<Row[]> {
  const client = new pg.Client({ ...connection });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}
