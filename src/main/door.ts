/** Where a process answers requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { buildApp } from '../app.ts';
import type { Deps } from '../deps.ts';
import { listenOnIpv6Too } from '../http/loopback.ts';

/** What listens, and how to end it. */
export interface Door {
  /**
   * Takes no more connections, and waits until what is under way is answered. Meanwhile `/readyz` says that the
   * server is not ready, unless other processes of it are; for SHUTDOWN_DELAY that is all that changes.
   */
  close(how?: { ready: boolean }): Promise<void>;
}

/** Builds the application and listens. @throws what listening throws */
export async function openDoor(deps: Deps): Promise<Door> {
  const { mode, HOST: host, PORT: port } = deps.config;
  const readiness = { closing: false };
  const app = await buildApp(deps, readiness);
  let stopIpv6: (() => Promise<void>) | undefined;
  try {
    await app.listen({ host, port, listenTextResolver: (address) => `listening at ${address}` });
    if (mode === 'dev' && host === '127.0.0.1') stopIpv6 = await listenOnIpv6Too(app);
  } catch (error) {
    // Half a server would keep the process from ending.
    await app.close();
    throw error;
  }
  return {
    async close({ ready } = { ready: false }) {
      readiness.closing = !ready;
      if (!ready) await sleep(deps.config.SHUTDOWN_DELAY * 1000);
      await Promise.all([app.close(), stopIpv6?.()]);
    },
  };
}
