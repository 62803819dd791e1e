/** A server as a process of its own, with a line to it: how it is started, asked and stopped. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetch } from 'undici';
import type { Usage } from './probe.ts';

const READY_MS = 60_000;
const STOP_MS = 15_000;

/** A server that listens. */
export interface Server {
  origin: string;
  usage(): Promise<Usage>;
  /** Records a CPU profile while `work` runs. */
  profile<T>(file: string, work: () => Promise<T>): Promise<T>;
  ask<T>(question: { ask: string } & Record<string, unknown>): Promise<T>;
  stop(): Promise<void>;
}

/** How to start one. */
export interface Start {
  /** Relative to this folder. */
  script: string;
  args?: readonly string[];
  /** Options of Node. */
  options?: readonly string[];
  port: number;
  env: Readonly<Record<string, string>>;
  /** Modules to load before it, relative to this folder. */
  preload?: readonly string[];
  /** Answers 200 once it is ready. */
  ready: string;
}

const here = (file: string): string => join(import.meta.dirname, file);

/** Starts a server and waits until it is ready. @throws what it said, when it ends before */
export async function startServer({
  script,
  args = [],
  options = [],
  port,
  env,
  preload = [],
  ready,
}: Start): Promise<Server> {
  const imports = ['./probe.ts', ...preload].flatMap((file) => ['--import', `file://${here(file)}`]);
  const kept = Object.fromEntries(['PATH', 'HOME', 'TMPDIR', 'LANG'].map((name) => [name, process.env[name]]));
  const child = spawn(process.execPath, [...options, ...imports, here(script), ...args], {
    env: { ...kept, NODE_ENV: 'production', PORT: String(port), ...env },
    // What it logs goes nowhere, as fast as that is.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let output = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-10_000)));
  let ended = false;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve(void (ended = true))));
  const killed = (): void => void child.kill('SIGKILL');
  process.once('exit', killed);

  let asked = 0;
  const waiting = new Map<number, (answer: unknown) => void>();
  child.on('message', ({ id, answer }: { id: number; answer: unknown }) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  const ask = <T>(question: { ask: string }): Promise<T> => {
    const id = (asked += 1);
    return new Promise<T>((resolve, reject) => {
      waiting.set(id, resolve as (answer: unknown) => void);
      child.send({ id, ...question }, (error) => error && reject(error));
      void exited.then(() => reject(new Error(`${script} ended: ${output}`)));
    });
  };

  const origin = `http://localhost:${port}`;
  for (const deadline = Date.now() + READY_MS; ;) {
    const answer = await fetch(origin + ready).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.ok) break;
    if (ended || Date.now() > deadline) {
      killed();
      throw new Error(`${script} was not ready: ${output}`);
    }
    await sleep(20);
  }
  return {
    origin,
    ask,
    usage: () => ask<Usage>({ ask: 'usage' }),
    async profile(file, work) {
      await ask({ ask: 'startProfile' });
      try {
        return await work();
      } finally {
        await ask({ ask: 'stopProfile', file } as { ask: string });
      }
    },
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(killed, STOP_MS);
      await exited;
      clearTimeout(late);
      process.off('exit', killed);
    },
  };
}
