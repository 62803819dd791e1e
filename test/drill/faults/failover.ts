/** The primary is lost and its standby takes over; the servers know both by name. */
import { sleep, type Fault, type Scene } from '../fault.ts';
import { DATABASE, startNode, startStandby, type PostgresNode } from '../node.ts';

async function pair(
  { synchronous }: { synchronous: boolean },
  strike: (primary: PostgresNode, standby: PostgresNode, seconds: number) => Promise<void>,
): Promise<Scene> {
  const primary = await startNode();
  const standby = await startStandby(primary, { synchronous });
  const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join();
  return {
    node: primary,
    url: `postgres://postern@${hosts}/${DATABASE}?target_session_attrs=read-write`,
    survivor: () => standby,
    async strike(_deployment, seconds) {
      await strike(primary, standby, seconds);
      // What a cluster manager does once it is sure that the primary is gone.
      await standby.sql('select pg_promote()');
    },
    async close() {
      await primary.close();
      await standby.close();
    },
  };
}

async function lose(primary: PostgresNode, _standby: PostgresNode, seconds: number): Promise<void> {
  await primary.kill();
  await sleep(seconds);
}

async function loseBehind(primary: PostgresNode, standby: PostgresNode, seconds: number): Promise<void> {
  await standby.kill();
  await sleep(seconds);
  await primary.kill();
  await standby.start();
}

export const failover: Fault = {
  sentence: 'kill -9 of the primary; its synchronous standby is promoted',
  seconds: 5,
  open: () => pair({ synchronous: true }, lose),
};

export const failoverAsynchronous: Fault = {
  sentence: 'kill -9 of the primary; an asynchronous standby that is behind by this time is promoted',
  seconds: 2,
  loses: true,
  open: () => pair({ synchronous: false }, loseBehind),
};

export const failoverStalled: Fault = {
  sentence:
    'the synchronous standby is away, then the primary is killed and the standby promoted: what it never received must not have been told to anybody',
  seconds: 8,
  open: () => pair({ synchronous: true }, loseBehind),
};
