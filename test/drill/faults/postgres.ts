/** What befalls Postgres itself: it is killed, it hangs, its commits wait for a standby that does not answer. */
import { sleep, type Fault, type Scene } from '../fault.ts';
import { setSynchronousStandby, startNode, type PostgresNode } from '../node.ts';

/** What is done to a node for some seconds, and mended again. */
type Strike = (node: PostgresNode, seconds: number) => Promise<void>;

export const kill: Strike = async (node, seconds) => {
  await node.kill();
  await sleep(seconds);
  await node.start();
};

const hang: Strike = async (node, seconds) => {
  node.pause();
  await sleep(seconds);
  node.resume();
};

export const stallCommits: Strike = async (node, seconds) => {
  await setSynchronousStandby(node, 'nobody');
  await sleep(seconds);
  await setSynchronousStandby(node, '');
};

export const cancelMany: Strike = async (node, seconds) => {
  const ours = `from pg_stat_activity where application_name like 'postern%' and pid <> pg_backend_pid()`;
  for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
    await node.sql(`select pg_cancel_backend(pid) ${ours} and state = 'active'`);
    await node.sql(`select pg_terminate_backend(pid) ${ours} order by random() limit 1`);
    await sleep(0.05);
  }
};

/** What a refresh, a redemption or an introspection writes or reads. */
const TABLES = ['access_tokens', 'refresh_tokens', 'grants', 'authorization_codes'];

/** One table after the other. */
export const lockTables: Strike = async (node, seconds) => {
  for (const table of TABLES) {
    const hold = `select pg_sleep(${seconds / TABLES.length})`;
    await node.sql(`begin; lock table ${table} in access exclusive mode; ${hold}; commit`);
  }
};

/** On a node that the servers reach without anything between. */
const alone = async (strike: Strike): Promise<Scene> => {
  const node = await startNode();
  return {
    node,
    url: node.url,
    strike: (_deployment, seconds) => strike(node, seconds),
    close: () => node.close(),
  };
};

export const killed: Fault = {
  sentence: 'kill -9 of every process of Postgres, which is started again afterwards',
  seconds: 5,
  open: () => alone(kill),
};

export const hung: Fault = {
  sentence: 'Postgres is there and does not answer (SIGSTOP)',
  seconds: 15,
  open: () => alone(hang),
};

export const stalledCommit: Fault = {
  sentence: 'every commit waits for a synchronous standby that does not answer',
  seconds: 20,
  open: () => alone(stallCommits),
};

export const cancelled: Fault = {
  sentence: 'statements are cancelled and connections terminated by somebody else, many times a second',
  seconds: 10,
  open: () => alone(cancelMany),
};

export const locked: Fault = {
  sentence: `somebody holds an exclusive lock on ${TABLES.join(', ')}, one after the other`,
  seconds: 20,
  open: () => alone(lockTables),
};
