/** What befalls the way to Postgres. */
import { sleep, type Fault, type Scene } from '../fault.ts';
import { startNode, type PostgresNode } from '../node.ts';
import { startProxy, type Proxy } from '../proxy.ts';

/** Resets every connection, again and again. */
export async function cutMany(proxy: Proxy, seconds: number): Promise<void> {
  for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
    proxy.cut();
    await sleep(0.3);
  }
}

export async function swallowAll(proxy: Proxy, seconds: number): Promise<void> {
  proxy.swallow();
  await sleep(seconds);
  proxy.restore();
}

/** The node's URL, by way of the proxy. */
export const through = ({ port }: Proxy, node: PostgresNode): string => node.url.replace(`:${node.port}/`, `:${port}/`);

async function behindProxy(strike: (proxy: Proxy, seconds: number) => Promise<void>): Promise<Scene> {
  const node = await startNode();
  const proxy = await startProxy(node.port);
  return {
    node,
    url: through(proxy, node),
    strike: (_deployment, seconds) => strike(proxy, seconds),
    async close() {
      await proxy.close();
      await node.close();
    },
  };
}

export const cut: Fault = {
  sentence: 'every connection to Postgres is reset, several times a second',
  seconds: 10,
  open: () => behindProxy(cutMany),
};

export const swallowed: Fault = {
  sentence: 'whatever is sent to Postgres is lost without a word, and the connections of that time stay dead',
  seconds: 12,
  open: () => behindProxy(swallowAll),
};
