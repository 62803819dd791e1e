/** What befalls Postgres itself: it is killed, it hangs, its commits wait for a standby that does not answer. */
import { sleep, type Fault } from '../fault.ts';
import { setSynchronousStandby, startNode } from '../node.ts';

/** Starts a node that the servers reach without anything between. */
const alone = async (strike: (scene: Awaited<ReturnType<typeof startNode>>, seconds: number) => Promise<void>) => {
  const node = await startNode();
  return {
    node,
    url: node.url,
    strike: (_house: unknown, seconds: number) => strike(node, seconds),
    close: () => node.close(),
  };
};

export const killed: Fault = {
  sentence: 'kill -9 of every process of Postgres, which is started again afterwards',
  seconds: 5,
  open: () =>
    alone(async (node, seconds) => {
      await node.kill();
      await sleep(seconds);
      await node.start();
    }),
};

export const hung: Fault = {
  sentence: 'Postgres is there and does not answer (SIGSTOP)',
  seconds: 15,
  open: () =>
    alone(async (node, seconds) => {
      node.pause();
      await sleep(seconds);
      node.resume();
    }),
};

export const stalledCommit: Fault = {
  sentence: 'every commit waits for a synchronous standby that does not answer',
  seconds: 20,
  open: () =>
    alone(async (node, seconds) => {
      await setSynchronousStandby(node, 'nobody');
      await sleep(seconds);
      await setSynchronousStandby(node, '');
    }),
};

export const cancelled: Fault = {
  sentence: 'statements are cancelled and connections terminated by somebody else, many times a second',
  seconds: 10,
  open: () =>
    alone(async (node, seconds) => {
      const ours = `from pg_stat_activity where application_name like 'postern%' and pid <> pg_backend_pid()`;
      for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
        await node.sql(`select pg_cancel_backend(pid) ${ours} and state = 'active'`);
        await node.sql(`select pg_terminate_backend(pid) ${ours} order by random() limit 1`);
        await sleep(0.05);
      }
    }),
};

/** Tables that a refresh, a redemption or an introspection writes or reads, one after the other. */
const LOCKED = ['access_tokens', 'refresh_tokens', 'grants', 'authorization_codes'];

export const locked: Fault = {
  sentence: `somebody holds an exclusive lock on ${LOCKED.join(', ')}, one after the other`,
  seconds: 20,
  open: () =>
    alone(async (node, seconds) => {
      for (const table of LOCKED) {
        await node.sql(
          `begin; lock table ${table} in access exclusive mode; select pg_sleep(${seconds / LOCKED.length}); commit`,
        );
      }
    }),
};
