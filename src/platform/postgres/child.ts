// A child that cannot outlive us: sh holds one end of a pipe and interrupts the child when our end is gone, SIGKILL included.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Account } from './account.ts';
import { runAs } from './account.ts';

/** How the watchdog says that another process holds the lock file. */
export const LOCKED = 75;

/** How many of the last lines are kept to explain an exit. */
const LAST_LINES = 40;

// The lock lives in a descriptor that postgres and its children inherit, so it is free when, and only when, the last of
// them is gone; unlike postmaster.pid it also sees other containers. The watchdog ignores what a terminal or a service
// manager sends to everybody: Postgres must outlast the requests in flight.
const WATCHDOG = `
trap '' HUP INT QUIT TERM PIPE
lock=$1 stale=$2 sockets=$3
shift 3
exec 3<&0
if [ -n "$lock" ]; then
  exec 9>>"$lock"
  if command -v flock >/dev/null; then flock -n 9 || exit ${LOCKED}; fi
  if [ "$stale" != none ] && [ -f postmaster.pid ]; then
    read -r pid <postmaster.pid
    [ "$pid" != "$stale" ] || rm -f postmaster.pid
  fi
fi
"$@" </dev/null 3<&- &
child=$!
(read -r _ <&3; kill -INT "$child") >/dev/null 2>&1 9>&- &
watch=$!
wait "$child"
code=$?
kill -KILL "$watch" 2>/dev/null
[ -z "$sockets" ] || rm -rf "$sockets" 2>/dev/null
exit "$code"
`;

/** What a watched child is given besides its command. */
export interface Watch {
  account: Account;
  /** the child's directory; the lock file and postmaster.pid are in it */
  cwd: string;
  /** lock file to hold as long as the child or a child of it lives */
  lock?: string;
  /** a pid whose postmaster.pid is a leftover, to be removed under the lock */
  stale?: string;
  /** directory to remove after the child */
  sockets?: string;
  onLog?: ((line: string) => void) | undefined;
}

/** A running child. */
export interface Child {
  /** settles when the child has exited: its exit status (null after a signal to the watchdog) and its last lines of output */
  exited: Promise<{ code: number | null; lines: string[] }>;
  /** whether it has exited */
  hasExited(): boolean;
  /** lets our process end while the child runs: the pipe closes then, and the child follows */
  release(): void;
  /** asks it to stop (SIGINT); after `patience` ms it is told to (SIGQUIT, then SIGKILL) */
  interrupt(patience: number): Promise<void>;
}

/** Starts a command under the watchdog, in its own session, so that Ctrl-C in our terminal is not sent to it. */
export function startChild(command: string[], watch: Watch): Child {
  const args = [watch.lock ?? '', watch.stale ?? 'none', watch.sockets ?? '', ...command];
  const child = spawn('/bin/sh', ['-c', WATCHDOG, 'postern-watchdog', ...args], {
    ...runAs(watch.account),
    cwd: watch.cwd,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output }).on('line', (line) => {
      if (lines.push(line) > LAST_LINES) lines.shift();
      watch.onLog?.(line);
    });
  }
  // Nobody reads the pipe's other end after the child has exited.
  child.stdin.on('error', () => {});

  let hasExited = false;
  const exited = new Promise<{ code: number | null; lines: string[] }>((resolve) => {
    child.once('error', (error) => {
      hasExited = true;
      resolve({ code: null, lines: [error.message] });
    });
    child.once('close', (code) => {
      hasExited = true;
      child.stdin.destroy();
      resolve({ code, lines });
    });
  });
  return {
    exited,
    hasExited: () => hasExited,
    release: () => handles(child).forEach((handle) => handle.unref()),
    interrupt: (patience) => interrupt(child, exited, patience),
  };
}

/** All that can keep our process from ending. The streams are sockets, whatever their type says. */
function handles(child: ChildProcess): { ref(): void; unref(): void }[] {
  return [child, ...([child.stdin, child.stdout, child.stderr] as unknown as Socket[])];
}

async function interrupt(child: ChildProcess, exited: Promise<unknown>, patience: number): Promise<void> {
  handles(child).forEach((handle) => handle.ref());
  child.stdin?.end();
  const signals: NodeJS.Signals[] = ['SIGQUIT', 'SIGKILL'];
  const timer = setInterval(() => {
    const signal = signals.shift();
    if (signal === undefined || child.pid === undefined) return;
    try {
      // The watchdog ignores SIGQUIT; postgres, in the same group, stops without a checkpoint.
      process.kill(-child.pid, signal);
    } catch {
      // It has just exited.
    }
  }, patience);
  await exited;
  clearInterval(timer);
}
