/** The disk is full. It takes a small file system of its own: a tmpfs, for which one has to be root. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeSync, openSync, closeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../support/postgres-process.ts';
import { sleep, type Fault } from '../fault.ts';
import { startNode } from '../node.ts';

const SIZE = '256m';

function mount(): string {
  const directory = mkdtempSync(join(tmpdir(), 'postern-drill-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'postern-drill', directory], { stdio: 'pipe' });
  chmodSync(directory, 0o711);
  return directory;
}

function unmount(directory: string): void {
  execFileSync('umount', ['-l', directory], { stdio: 'pipe' });
  rmSync(directory, { recursive: true, force: true });
}

/** Writes until there is no room left. */
function fill(file: string): void {
  const bytes = Buffer.alloc(64 * 1024);
  const descriptor = openSync(file, 'a');
  try {
    for (;;) writeSync(descriptor, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(descriptor);
  }
}

export const fullDisk: Fault = {
  sentence: 'the disk of Postgres is full',
  seconds: 15,
  async lacks() {
    try {
      unmount(mount());
      return undefined;
    } catch {
      return 'the right to mount a tmpfs (root)';
    }
  },
  async open() {
    const disk = mount();
    const node = await startNode(disk);
    return {
      node,
      url: node.url,
      async strike(_deployment, seconds) {
        const ballast = join(disk, 'ballast');
        const end = performance.now() + seconds * 1000;
        while (performance.now() < end) {
          fill(ballast);
          await sleep(0.2);
        }
        rmSync(ballast);
        // Without room for its log Postgres ends itself.
        await sleep(1);
        if (!node.isRunning()) await node.start();
        await until('Postgres answers', () => node.sql('select 1').then(Boolean, () => false));
      },
      async close() {
        await node.close();
        unmount(disk);
      },
    };
  },
};
