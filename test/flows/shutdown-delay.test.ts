/** A server that is told to stop says so for a while before it stops, so that a load balancer has heard of it. */
import { fetch } from 'undici';
import { expect, test } from 'vitest';
import { deploy, stopServersAfterwards } from '../support/deployment.ts';
import { until } from '../support/postgres-process.ts';

stopServersAfterwards();

test.each(['1', '2'])(
  'SHUTDOWN_DELAY with WORKERS=%s: /readyz is 503, and whoever still comes is served',
  async (WORKERS) => {
    const { servers } = await deploy({ env: { WORKERS, SHUTDOWN_DELAY: '300' } });
    const server = servers[0]!;
    /** Each on a connection of its own. */
    const status = async (path: string): Promise<number> => {
      const answer = await fetch(`${server.origin}${path}`, { headers: { connection: 'close' } });
      await answer.text();
      return answer.status;
    };
    expect(await status('/readyz')).toBe(200);
    process.kill(server.pid, 'SIGTERM');
    await until('it says so', async () => (await status('/readyz')) === 503);
    expect(await status('/jwks')).toBe(200);
    expect(await status('/livez')).toBe(200);
    // The rest of the five minutes nobody waits.
    await server.kill();
  },
);
