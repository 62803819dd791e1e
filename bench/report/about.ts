/** What every report says of its run. */
import { cpus } from 'node:os';

/** When, by which command, and on what. */
export interface About {
  date: string;
  command: string;
  machine: string;
  node: string;
}

/** Of this run. */
export const aboutRun = (): About => ({
  date: new Date().toISOString().slice(0, 10),
  command: ['npm run bench --', ...process.argv.slice(2)].join(' '),
  machine: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}`,
  node: process.versions.node,
});
