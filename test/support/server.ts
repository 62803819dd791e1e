/**
 * Real server processes, as people start them: `node src/main.ts serve` or `dev`, in an environment of its own and an
 * empty working directory. Whoever starts one calls `stopServers` in the end; a run that ends early kills what is left.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetch, type Dispatcher } from 'undici';

export const SECRET_KEY = 'a secret key for processes of forty characters';
const MAIN = join(import.meta.dirname, '../../src/main.ts');
/** Milliseconds a server may take until it is ready. A cold `dev` makes a database cluster first. */
const START_MS = 30_000;

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Server {
  issuer: string;
  /** Where this process listens; with two on one issuer, that is not the issuer. */
  origin: string;
  pid: number;
  /** Everything it wrote so far, both streams. */
  output(): string;
  exited: Promise<Exit>;
  /** SIGTERM, and waits. */
  stop(): Promise<Exit>;
  /** SIGKILL, and waits. */
  kill(): Promise<void>;
}

export interface ServerOptions {
  command?: 'dev' | 'serve';
  port?: number;
  /** Undefined takes a variable away. */
  env?: Record<string, string | undefined>;
  /** Of an https server: who trusts its certificate. */
  dispatcher?: Dispatcher;
}

const running = new Map<number, Server>();
const directories: string[] = [];

process.on('exit', () => {
  for (const pid of running.keys()) process.kill(pid, 'SIGKILL');
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** A directory that goes with this process. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'postern-flow-'));
  // Started as root, Postgres runs as somebody else and has to get in.
  chmodSync(directory, 0o711);
  directories.push(directory);
  return directory;
}

/** Starts a server and waits until it is ready. @throws when it ends before, or takes too long; what it said is in the message */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const { command = 'serve', port, env = {}, dispatcher } = options;
  const chosen = port ?? (await freePort());
  const server = launch(command, chosen, env);
  let ended = false;
  void server.exited.then(() => (ended = true));
  for (const deadline = Date.now() + START_MS; ;) {
    const answer = await fetch(`${server.origin}/readyz`, { ...(dispatcher && { dispatcher }) }).catch(() => undefined);
    await answer?.body?.cancel();
    // Ours says so: somebody else may have had the port first.
    if (answer?.status === 200 && server.output().includes('listening at')) return server;
    if (!ended && Date.now() < deadline) {
      await pause(15);
      continue;
    }
    const output = server.output();
    await server.kill();
    // Between choosing a port and listening, another process can take it.
    if (port === undefined && /EADDRINUSE|is in use/.test(output)) return startServer(options);
    throw new Error(`the server was not ready: ${output}`);
  }
}

/** Runs one that is expected to end by itself. */
export async function runServer(options: ServerOptions & { port?: number } = {}): Promise<Exit & { output: string }> {
  const { command = 'serve', port, env = {} } = options;
  const server = launch(command, port ?? (await freePort()), env);
  const late = setTimeout(() => void server.kill(), START_MS);
  const exit = await server.exited;
  clearTimeout(late);
  return { ...exit, output: server.output() };
}

/** Kills what still runs, and removes the directories. */
export async function stopServers(): Promise<void> {
  await Promise.all([...running.values()].map((server) => server.stop()));
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
}

function launch(command: string, port: number, env: Record<string, string | undefined>): Server {
  const names = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_COMPILE_CACHE'];
  const inherited = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  const https = env['TLS_CERT_FILE'] !== undefined;
  const origin = `${https ? 'https' : 'http'}://localhost:${port}`;
  const issuer = env['ISSUER'] ?? origin;
  const own = {
    PORT: String(port),
    ISSUER: issuer,
    SECRET_KEYS: SECRET_KEY,
    WORKERS: '1',
    LOGIN_RATE_LIMIT: '0',
    AUTHORIZE_RATE_LIMIT: '0',
    // Many servers run at once, and there is one port by default.
    METRICS_PORT: '0',
  };
  const variables = { ...inherited, ...own, ...env };
  const child = spawn(process.execPath, [MAIN, command], {
    cwd: temporaryDirectory(),
    env: Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined)),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  // `close` and not `exit`: by then everything it said has been read.
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('the server could not be started');
  child.once('exit', () => running.delete(pid));
  const server: Server = {
    issuer,
    origin,
    pid,
    output: () => output,
    exited,
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
      const exit = await exited;
      clearTimeout(late);
      return exit;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
  running.set(pid, server);
  return server;
}

/** Below the range that outgoing connections draw from, and free on both of localhost's addresses. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    if ((await isFree(port, '127.0.0.1')) && (await isFree(port, '::1'))) return port;
  }
}

const isFree = (port: number, host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'EADDRINUSE'));
    probe.listen({ port, host }, () => probe.close(() => resolve(true)));
  });

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
