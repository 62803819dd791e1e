/**
 * The command line as people and scripts use it: a process of its own, in an empty environment and working directory; or,
 * where what matters is what a command does, in the tests' own process, which takes a hundredth of the time.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { run, type Opened } from '../../src/cli/index.ts';
import { testApp } from './app.ts';
import type { TestDatabase } from './database.ts';
import { nobody } from './reach.ts';
import { SECRET_KEY, temporaryDirectory } from './server.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');

interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Standard output, parsed. */
  json(): Record<string, unknown>;
  /** The same, where it is a list. */
  items(): Array<Record<string, unknown>>;
  /** The lines of standard output. */
  lines: string[];
  problems: string[];
}

interface RunOptions {
  stdin?: string | Buffer;
  env?: Record<string, string>;
  /** Kills the process, as a machine that loses power does. */
  signal?: AbortSignal;
}

export type Postern = (args: readonly string[], options?: RunOptions) => Promise<Ran>;

/** Runs commands against a database; with `{}` for the environment, against none. */
export function posternOn(database: { url: string } | undefined): Postern {
  const cwd = temporaryDirectory();
  const own = database && { DATABASE_URL: database.url, SECRET_KEYS: SECRET_KEY };
  const fixed = { PATH: process.env['PATH']!, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE']! };
  return async (args, { stdin = '', env = {}, signal } = {}) => {
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd,
      env: { ...fixed, ...own, ...env },
      killSignal: 'SIGKILL',
      ...(signal && { signal }),
    });
    child.on('error', () => {});
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
    const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [code, stdout, stderr] = await Promise.all([exited, text(child.stdout), text(child.stderr)]);
    return ranWith(code, stdout, stderr);
  };
}

function ranWith(code: number | null, stdout: string, stderr: string): Ran {
  const parsed = () => JSON.parse(stdout);
  const lines = stdout.trimEnd().split('\n');
  return { code, stdout, stderr, lines, problems: stderr.trimEnd().split('\n'), json: parsed, items: parsed };
}

/** Runs commands on a database in this process, one after the other, with streams of their own. */
export async function commandsOn(database: TestDatabase): Promise<Postern> {
  const clock = { now: () => new Date(), advance: () => {} };
  const config = { ISSUER: 'http://localhost:3000', SECRET_KEYS: [SECRET_KEY] };
  const { deps } = await testApp({ database, clock, config });
  const opened: Opened = {
    deps,
    migrate: () => Promise.reject(new Error('migrations are for a process of their own')),
    place: database.url,
    secretFile: '',
    machineTime: clock.now,
  };
  const start = (): Promise<never> => Promise.reject(new Error('servers are for a process of their own'));
  const one = async (args: readonly string[], { stdin = '', env = {} }: RunOptions = {}): Promise<Ran> => {
    if (Object.keys(env).length > 0) throw new Error('variables are for a process of their own');
    // Each command of a process of its own knows nothing of the one before.
    deps.directory.clear();
    const [out, err]: [string[], string[]] = [[], []];
    const restore = replaceStreams(stdin, out, err);
    try {
      const code = await run(args, { start, open: (work) => work(opened), reach: nobody });
      return ranWith(code ?? 0, out.join(''), err.join(''));
    } finally {
      restore();
    }
  };
  let last: Promise<unknown> = Promise.resolve();
  return (args, options) => {
    const ran = last.then(() => one(args, options));
    last = ran.catch(() => undefined);
    return ran;
  };
}

/** Puts others in place of this process' streams; returns what takes them back. */
function replaceStreams(stdin: string | Buffer, out: string[], err: string[]): () => void {
  const input = Object.getOwnPropertyDescriptor(process, 'stdin')!;
  const value = Object.assign(Readable.from([Buffer.from(stdin)]), { isTTY: false });
  Object.defineProperty(process, 'stdin', { configurable: true, value });
  const originals = [process.stdout, process.stderr].map((stream) => [stream, stream.write] as const);
  const into = (texts: string[]) =>
    ((text: unknown) => (texts.push(String(text)), true)) as typeof process.stdout.write;
  process.stdout.write = into(out);
  process.stderr.write = into(err);
  return () => {
    for (const [stream, write] of originals) stream.write = write;
    Object.defineProperty(process, 'stdin', input);
  };
}
