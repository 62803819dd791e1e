/** What befalls the servers: one is killed, both are replaced one after the other. */
import { sleep, type Fault } from '../fault.ts';
import { startNode } from '../node.ts';

const portOf = (origin: string): number => Number(new URL(origin).port);

export const killedServer: Fault = {
  sentence: 'kill -9 of one of two servers, which is started again, and again',
  seconds: 10,
  async open() {
    const node = await startNode();
    return {
      node,
      url: node.url,
      async strike(deployment, seconds) {
        for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
          const [first, second] = deployment.servers;
          await second!.kill();
          await sleep(0.5);
          deployment.servers = [first!, await deployment.startAnother(portOf(second!.origin))];
          await sleep(0.5);
        }
      },
      close: () => node.close(),
    };
  },
};

export const rolled: Fault = {
  sentence: 'both servers are replaced, one after the other (SIGTERM)',
  seconds: 10,
  async open() {
    const node = await startNode();
    return {
      node,
      url: node.url,
      async strike(deployment) {
        for (const [n, server] of [...deployment.servers].entries()) {
          await server.stop();
          deployment.servers[n] = await deployment.startAnother(portOf(server.origin));
          await sleep(0.5);
        }
      },
      close: () => node.close(),
    };
  },
};
