// What postmaster.pid, which Postgres keeps in its cluster, says about a running one; and whether it is a leftover.
import { readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from './error.ts';

/** The process that postmaster.pid names. */
export interface Postmaster {
  pid: string;
  /** undefined until Postgres has written it */
  socketDir: string | undefined;
  alive: boolean;
}

/** Reads a cluster's postmaster.pid; undefined when there is none. */
export async function readPostmaster(clusterDir: string): Promise<Postmaster | undefined> {
  let text: string;
  try {
    text = await readFile(path.join(clusterDir, 'postmaster.pid'), 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const [pid = '', , , , socketDir] = text.split('\n');
  return { pid, socketDir: socketDir || undefined, alive: await isPostmaster(Number(pid), clusterDir) };
}

/** Whether that process is the cluster's postmaster, and not somebody who was given its number later. */
async function isPostmaster(pid: number, clusterDir: string): Promise<boolean> {
  if (!(await isRunning(pid))) return false;
  try {
    // A postmaster's current directory is its cluster.
    return (await readlink(`/proc/${pid}/cwd`)) === clusterDir;
  } catch {
    // No /proc: the number must do.
    return process.platform !== 'linux';
  }
}

/** Whether a process with that number runs. One that is dead and not yet collected by its parent does not. */
export async function isRunning(pid: number): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return false;
  }
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return !/\) [ZX] /.test(status);
}
