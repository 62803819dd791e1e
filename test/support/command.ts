/** The command line as people and scripts use it: a process of its own, in an empty environment and working directory. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SECRET_KEY, temporaryDirectory } from './server.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');
/** Most of a command's time is loading it. */
const NODE_COMPILE_CACHE = join(import.meta.dirname, '../../node_modules/.cache/postern-test');

export interface Ran {
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

export interface RunOptions {
  stdin?: string;
  env?: Record<string, string>;
}

export type Postern = (args: readonly string[], options?: RunOptions) => Promise<Ran>;

/** Runs commands against a database; with `{}` for the environment, against none. */
export function posternOn(database: { url: string } | undefined): Postern {
  const cwd = temporaryDirectory();
  const own = database && { DATABASE_URL: database.url, SECRET_KEYS: SECRET_KEY };
  const fixed = { PATH: process.env['PATH']!, NODE_COMPILE_CACHE };
  return async (args, { stdin = '', env = {} } = {}) => {
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd,
      env: { ...fixed, ...own, ...env },
    });
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
    const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [code, stdout, stderr] = await Promise.all([exited, text(child.stdout), text(child.stderr)]);
    const parsed = () => JSON.parse(stdout);
    const lines = stdout.trimEnd().split('\n');
    return { code, stdout, stderr, lines, problems: stderr.trimEnd().split('\n'), json: parsed, items: parsed };
  };
}
