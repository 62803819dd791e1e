// A cluster's life before its first start: made complete in a directory of its own, then put in place in one step.
import { chown, mkdtemp, open, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Binaries } from './binaries.ts';
import { startChild } from './child.ts';
import { PostgresUnavailable, codeOf, messageOf } from './error.ts';
import type { Place } from './location.ts';
import { USER } from './session.ts';

/** Since this version Postgres brings a UTF-8 locale that sorts by code point and is the same on every system. */
const BUILTIN_LOCALE_SINCE = 17;

/** An unfinished cluster this old (ms) is what a power failure left. */
const LEFTOVER_AGE = 10 * 60_000;

/** The major version that made the cluster; undefined when there is no cluster yet. */
export async function clusterMajor(clusterDir: string): Promise<number | undefined> {
  const text = await readFile(path.join(clusterDir, 'PG_VERSION'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : Number.parseInt(text, 10);
}

/**
 * Makes the cluster. Of several processes doing this at once one prevails, and all go on with its cluster.
 * @throws PostgresUnavailable when it cannot be made
 */
export async function makeCluster(place: Place, binaries: Binaries, durable: boolean): Promise<void> {
  const { clusterDir, account } = place;
  const strange =
    (await readdir(clusterDir).catch(() => [])).length > 0 && (await clusterMajor(clusterDir)) === undefined;
  if (strange) throw notOurs(clusterDir);
  await sweep(clusterDir);
  const staging = await mkdtemp(`${clusterDir}.new-`);
  try {
    if (account.switched) await chown(staging, account.uid, account.gid);
    await initialise(staging, place, binaries, durable);
    await rename(staging, clusterDir);
    if (durable) await sync(path.dirname(clusterDir));
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    if ((await clusterMajor(clusterDir)) !== undefined) return;
    if (codeOf(error) === 'ENOTEMPTY' || codeOf(error) === 'EEXIST') throw notOurs(clusterDir);
    if (error instanceof PostgresUnavailable) throw error;
    throw new PostgresUnavailable(`The Postgres cluster ${clusterDir} cannot be made: ${messageOf(error)}`);
  }
}

async function initialise(staging: string, place: Place, binaries: Binaries, durable: boolean): Promise<void> {
  const command = [
    path.join(binaries.bin, 'initdb'),
    `--pgdata=${staging}`,
    `--username=${USER}`,
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    ...(binaries.major >= BUILTIN_LOCALE_SINCE ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : []),
    ...(durable ? [] : ['--no-sync']),
  ];
  const { code, lines } = await startChild(command, { account: place.account, cwd: '/' }).exited;
  if (code === 0) return;
  const reason = lines.find((line) => /error:|fatal:/i.test(line)) ?? lines.at(-1) ?? `exit status ${code}`;
  throw new PostgresUnavailable(`The Postgres cluster ${place.clusterDir} cannot be made: ${reason}`);
}

function notOurs(clusterDir: string): PostgresUnavailable {
  return new PostgresUnavailable(
    `${clusterDir} is not empty and not a Postgres cluster: move it away, choose another DATA_DIR, or set DATABASE_URL`,
  );
}

async function sweep(clusterDir: string): Promise<void> {
  const parent = path.dirname(clusterDir);
  const prefix = `${path.basename(clusterDir)}.new-`;
  const leftovers = (await readdir(parent)).filter((name) => name.startsWith(prefix));
  for (const name of leftovers) {
    const leftover = path.join(parent, name);
    const touched = (await stat(leftover).catch(() => undefined))?.mtimeMs;
    if (touched !== undefined && Date.now() - touched > LEFTOVER_AGE)
      await rm(leftover, { recursive: true, force: true });
  }
}

/** Makes the renaming itself survive a power failure. */
async function sync(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
