/** The server for development. */
import type { Leaf } from '../command.ts';

export const dev: Leaf = {
  summary: 'run on this machine, with its own database, demo accounts and demo clients',
  explanation: 'The environment says how: PORT, DATA_DIR, LOG_LEVEL, … (postern config print).',
  examples: ['dev'],
  async run({ start }) {
    await start('dev');
    return undefined;
  },
};
