// Where a DATA_DIR's cluster is: in DATA_DIR/postgres, or in /var/lib/postern when Postgres' account cannot reach that.
import { createHash, randomBytes } from 'node:crypto';
import { link, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Account } from './account.ts';
import { accountFor, canEnter } from './account.ts';
import { STATE_DIR, makeOpen } from './embedded.ts';
import { PostgresUnavailable, codeOf, messageOf } from './error.ts';

/** A cluster's place, whether or not it has been made yet. */
export interface Place {
  /** DATA_DIR, absolute and without links */
  dataDir: string;
  /** the cluster's own directory, 0700 */
  clusterDir: string;
  account: Account;
}

/** Names the cluster's directory when that is not DATA_DIR/postgres. */
const POINTER = 'postgres.location';

/**
 * Where the cluster is or will be. Makes DATA_DIR.
 * @throws PostgresUnavailable when it cannot be there
 */
export async function locate(dataDir: string): Promise<Place> {
  try {
    await makeOpen(path.resolve(dataDir));
  } catch (error) {
    throw new PostgresUnavailable(`DATA_DIR ${path.resolve(dataDir)} cannot be made: ${messageOf(error)}`);
  }
  const real = await realpath(dataDir);
  const known = await find(real);
  if (known !== undefined) return known;

  const clusterDir = path.join(real, 'postgres');
  const account = await accountFor(clusterDir);
  const elsewhereAlready = (await pointed(real)) !== undefined;
  if (!elsewhereAlready && (!account.switched || (await canEnter(account, real)))) {
    return { dataDir: real, clusterDir, account };
  }

  const elsewhere = await pointElsewhere(real);
  return { dataDir: real, clusterDir: elsewhere, account: await accountFor(elsewhere) };
}

/** The place of a cluster that exists; undefined when this DATA_DIR has none yet. */
export async function find(dataDir: string): Promise<Place | undefined> {
  const real = await realpath(dataDir).catch(() => undefined);
  if (real === undefined) return undefined;
  const pointer = await pointed(real);
  const named = pointer ?? path.join(real, 'postgres');
  const clusterDir = await realpath(named).catch(() => named);
  const exists = await stat(path.join(clusterDir, 'PG_VERSION')).catch((error: unknown) => codeOf(error) === 'EACCES');
  if (exists === false) return undefined;

  const account = await accountFor(clusterDir);
  if (account.switched && !(await canEnter(account, clusterDir))) {
    // A cluster elsewhere would start empty, and the data would seem lost.
    throw new PostgresUnavailable(
      `${clusterDir} holds the data but uid ${account.uid}, which runs Postgres, cannot reach it: open its parent directories to that uid, choose another DATA_DIR, or set DATABASE_URL`,
    );
  }
  return { dataDir: real, clusterDir, account };
}

async function pointed(dataDir: string): Promise<string | undefined> {
  const text = await readFile(path.join(dataDir, POINTER), 'utf8').catch(() => undefined);
  return text?.trim();
}

/**
 * Records a directory under /var/lib/postern for this DATA_DIR. What a deleted DATA_DIR left there is passed over: its secret
 * keys are gone, so nobody could read it.
 */
async function pointElsewhere(dataDir: string): Promise<string> {
  const already = await pointed(dataDir);
  if (already === undefined) {
    const named = path.join(STATE_DIR, createHash('sha256').update(dataDir).digest('hex').slice(0, 16));
    const home = (await stat(named).catch(() => undefined)) ? `${named}-${randomBytes(4).toString('hex')}` : named;
    const draft = path.join(dataDir, `${POINTER}.${randomBytes(4).toString('hex')}`);
    await writeFile(draft, `${path.join(home, 'postgres')}\n`);
    try {
      // Unlike rename, link lets the first of two processes win, and its text is complete at once.
      await link(draft, path.join(dataDir, POINTER));
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    } finally {
      await rm(draft, { force: true });
    }
  }
  const named = already ?? (await pointed(dataDir));
  if (named === undefined) throw new PostgresUnavailable(`${path.join(dataDir, POINTER)} cannot be read`);
  try {
    await makeOpen(path.dirname(named));
    return path.join(await realpath(path.dirname(named)), path.basename(named));
  } catch (error) {
    throw new PostgresUnavailable(
      `uid 65534, which runs Postgres, can reach neither ${dataDir} nor ${STATE_DIR} (${messageOf(error)}): choose another DATA_DIR, or set DATABASE_URL`,
    );
  }
}
