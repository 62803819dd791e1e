// Who runs a cluster's Postgres now. The answer comes from that Postgres itself, which dies with its owner, so it is
// never stale.
import { PostgresUnavailable, codeOf, messageOf } from './error.ts';
import type { Place } from './location.ts';
import { isRunning, readPostmaster } from './postmaster-pid.ts';
import type { PostgresConnection } from './session.ts';
import { PORT, USER, askPostgres, createDatabase } from './session.ts';

/** A server keeps Postgres until it is stopped; a command only until it is done. */
export type Role = 'server' | 'command';

/** The process that started a Postgres and will stop it. */
export interface Owner {
  pid: number;
  role: Role;
}

/** Whether somebody runs a cluster now, and who. */
export type ClusterState =
  | { state: 'free'; /** see Watch.stale */ stale?: string }
  /** somebody's Postgres is starting or stopping */
  | { state: 'busy' }
  | { state: 'owned'; owner: Owner; connection: PostgresConnection; version: string };

/** The owner as Postgres is told to remember it, and as `ps` shows it. */
export function clusterName(owner: Owner): string {
  return `postern ${owner.role} ${owner.pid}`;
}

/**
 * Looks at a cluster without changing it, except that a Postgres whose owner has died is told to stop.
 * @throws PostgresUnavailable when a Postgres that is not ours has the cluster
 */
export async function inspectCluster(place: Place, database: string): Promise<ClusterState> {
  const postmaster = await readPostmaster(place.clusterDir);
  if (postmaster === undefined) return { state: 'free' };
  if (!postmaster.alive) {
    // Postgres itself sees through a dead process' file, but not through a number given to somebody else, nor an empty file.
    const misleading = postmaster.pid === '' || (await isRunning(Number(postmaster.pid)));
    return misleading ? { state: 'free', stale: postmaster.pid } : { state: 'free' };
  }
  if (postmaster.socketDir === undefined) return { state: 'busy' };

  const connection = { host: postmaster.socketDir, port: PORT, user: USER, database };
  const answer = await askPostgres(connection).catch((error: unknown) => {
    throw new PostgresUnavailable(
      `Postgres runs in ${place.clusterDir} (process ${postmaster.pid}) but refuses us: ${messageOf(error)}`,
    );
  });
  if (answer.state === 'no database') {
    await createDatabase(connection).catch(() => {});
    return { state: 'busy' };
  }
  if (answer.state !== 'ready') return { state: 'busy' };

  const [, role, pid] = /^postern (server|command) (\d+)$/.exec(answer.clusterName) ?? [];
  if (role === undefined) {
    throw new PostgresUnavailable(
      `A Postgres that Postern did not start runs in ${place.clusterDir} (process ${postmaster.pid}): stop it, or set DATABASE_URL`,
    );
  }
  const owner: Owner = { pid: Number(pid), role: role as Role };
  if (await isRunning(owner.pid)) return { state: 'owned', owner, connection, version: answer.version };
  // Its watchdog is about to do the same, unless somebody killed that too.
  interrupt(Number(postmaster.pid));
  return { state: 'busy' };
}

function interrupt(pid: number): void {
  try {
    process.kill(pid, 'SIGINT');
  } catch (error) {
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'EPERM') throw error;
  }
}
