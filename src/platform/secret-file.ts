/** The secret keys of development mode: made once, kept beside the data, readable by their owner only. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { random } from './random.ts';

/** Reads the keys of the file, one a line; undefined when there is no such file. */
export function readSecretFile(path: string): string[] | undefined {
  try {
    const lines = readFileSync(path, 'utf8').split('\n');
    return lines.map((line) => line.trim()).filter((line) => line !== '');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Reads the file, making it with one new key when it is not there. Of two processes at once, both read the first one's. */
export function ensureSecretFile(path: string): string[] {
  mkdirSync(dirname(path), { recursive: true });
  try {
    writeFileSync(path, `${random(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
    chmodSync(path, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readSecretFile(path) ?? [];
}
