/** One drill: a deployment, its clients, a fault, and what the ledger says afterwards. */
import type { Fault } from './fault.ts';
import { sleep } from './fault.ts';
import { closeDeployment, openDeployment } from './deployment.ts';
import type { Findings } from './ledger.ts';

export interface DrillOptions {
  seconds?: number | undefined;
  chains: number;
  processes?: number;
  latest?: number;
  /** How long everything goes well before the fault. */
  warmUp?: number;
  say?: (line: string) => void;
}

/** Carries it out. The findings are wrong where a client got a false answer, or lost what was granted. */
export async function drill(fault: Fault, options: DrillOptions): Promise<Findings> {
  const { seconds = fault.seconds, chains, processes = 2, latest, warmUp = 2, say = () => {} } = options;
  const scene = await fault.open();
  try {
    say(`two servers, ${chains} chains of refresh tokens; ${fault.sentence}; ${seconds} s`);
    const deployment = await openDeployment(scene.node, {
      url: scene.url,
      chains,
      processes,
      latest,
      ...(scene.env && { env: scene.env }),
    });
    await sleep(warmUp);
    await scene.strike(deployment, seconds);
    say('the fault is over');
    return await closeDeployment(deployment, scene.survivor?.() ?? scene.node);
  } finally {
    await scene.close();
  }
}
