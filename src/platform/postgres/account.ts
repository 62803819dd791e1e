// Whom Postgres runs as, and what that account can reach: ourselves, or an unprivileged account when we are root.
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { PostgresUnavailable } from './error.ts';

/** A uid and gid to start processes under; `switched` when it is not our own. */
export interface Account {
  uid: number;
  gid: number;
  switched: boolean;
}

/** `nobody` on Linux. initdb refuses a uid without a passwd entry. */
const NOBODY = 65534;

/** Everything the children need; nothing of ours leaks into them. */
export const ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

/**
 * The account for a cluster that may exist already at `clusterDir`: root takes the cluster's owner, or 65534 for a new one.
 * @throws PostgresUnavailable when the cluster is another account's and we are not root
 */
export async function accountFor(clusterDir: string): Promise<Account> {
  if (process.getuid === undefined || process.getgid === undefined) {
    throw new PostgresUnavailable('Windows cannot run the built-in Postgres: use WSL, or set DATABASE_URL');
  }
  const owner = await stat(clusterDir).catch(() => undefined);
  const uid = process.getuid();
  if (uid !== 0) {
    if (owner !== undefined && owner.uid !== uid) {
      throw new PostgresUnavailable(
        `${clusterDir} belongs to uid ${owner.uid}, and this is uid ${uid}: start as root or as its owner, choose another DATA_DIR, or set DATABASE_URL`,
      );
    }
    return { uid, gid: process.getgid(), switched: false };
  }
  // A person who ran this as themselves and now as root keeps a cluster they can still run as themselves.
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid, switched: true };
  return { uid: NOBODY, gid: NOBODY, switched: true };
}

/** The spawn options that make a child run under the account. */
export function runAs(account: Account): { uid?: number; gid?: number; cwd: string; env: typeof ENVIRONMENT } {
  const identity = account.switched ? { uid: account.uid, gid: account.gid } : {};
  // The current directory may be one that the account cannot enter.
  return { ...identity, cwd: '/', env: ENVIRONMENT };
}

/** Runs a short command under the account; answers its output, or undefined if it could not run or failed. */
export function ask(account: Account, file: string, args: string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    try {
      execFile(file, args, { ...runAs(account), timeout: 10_000 }, (error, stdout) =>
        resolve(error === null ? stdout : undefined),
      );
    } catch {
      resolve(undefined);
    }
  });
}

/** Whether the account can enter the directory. Asked of the system, so that ACLs and every parent count. */
export async function canEnter(account: Account, dir: string): Promise<boolean> {
  return (await ask(account, '/bin/sh', ['-c', 'cd "$1"', 'sh', dir])) !== undefined;
}
