/** A TCP proxy before Postgres that can cut connections, and swallow bytes without a word (no RST, no FIN). */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../support/server.ts';

export interface Proxy {
  port: number;
  /** Ends every connection with RST. */
  cut(): void;
  /** From now on whatever is sent is lost and nobody is told; also on connections made meanwhile. */
  swallow(): void;
  /** New connections work again; those that were swallowed stay dead. */
  restore(): void;
  close(): Promise<void>;
}

export async function startProxy(to: number): Promise<Proxy> {
  const port = await freePort();
  const open = new Set<Socket>();
  let isSwallowing = false;
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    let isLost = isSwallowing;
    for (const [from, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('data', (bytes) => {
        isLost ||= isSwallowing;
        if (!isLost) other.write(bytes);
      });
      from.on('error', () => {});
      from.on('close', () => {
        open.delete(from);
        if (!isLost) other.destroy();
      });
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port,
    cut() {
      for (const socket of open) socket.resetAndDestroy();
    },
    swallow() {
      isSwallowing = true;
    },
    restore() {
      isSwallowing = false;
    },
    async close() {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, 'close');
    },
  };
}
