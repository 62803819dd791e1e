/** Fetches the logos that clients name. */
import { fetchLogos } from '../clients/logos.ts';
import type { Worker } from './worker.ts';

export const clientLogos = (deps: Parameters<typeof fetchLogos>[0]): Worker => ({
  where: 'once',
  every: 5,
  // Whoever registers a client looks at its pages next.
  after: 'clients',
  async run() {
    while ((await fetchLogos(deps)) > 0);
  },
});
