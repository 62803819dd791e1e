/** Carries out the imports of people that operators asked for. */
import { carryOutImports } from '../users/import/jobs.ts';
import type { Worker } from './worker.ts';

export const importUsers = (deps: Parameters<typeof carryOutImports>[0]): Worker => ({
  where: 'once',
  every: 5,
  // An operator looks at how far it is.
  after: 'user_imports',
  async run() {
    await carryOutImports(deps);
  },
});
