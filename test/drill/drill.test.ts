/** The quick faults: an answer that could not be given costs nobody an authorization, and no answer is wrong. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stopServersAfterwards } from '../support/deployment.ts';
import { drill } from './drill.ts';
import { fullDisk } from './faults/disk.ts';
import { cutMany, swallowAll, through } from './faults/network.ts';
import { cancelMany, kill, lockTables, stallCommits } from './faults/postgres.ts';
import { closeDeployment, openDeployment, type Deployment } from './deployment.ts';
import { startNode, type PostgresNode } from './node.ts';
import { startProxy, type Proxy } from './proxy.ts';

const CHAINS = 6;
/** Tests do not measure the machine; the drill on the command line does. */
const latest = 15_000;

let node: PostgresNode;
let proxy: Proxy;
let deployment: Deployment;
stopServersAfterwards();
beforeAll(async () => {
  node = await startNode();
  proxy = await startProxy(node.port);
  deployment = await openDeployment(node, { url: through(proxy, node), chains: CHAINS, latest });
});
afterAll(async () => {
  await proxy?.close();
  await node?.close();
});

test.each([
  ['statements are cancelled and connections terminated', () => cancelMany(node, 1)],
  ['the tables that tokens are in are locked', () => lockTables(node, 5)],
  ['every commit waits for a standby that does not answer', () => stallCommits(node, 4)],
  ['connections are reset', () => cutMany(proxy, 1)],
  ['connections are lost without a word', () => swallowAll(proxy, 3)],
  ['Postgres is killed', () => kill(node, 0.5)],
])('RFC 6749 §6, RFC 9700 §4.14.2: no refresh token of an honest client dies while %s', async (_what, strike) => {
  await deployment.traffic.served();
  await strike();
  await deployment.traffic.served();
  expect(deployment.ledger.findings().wrong).toEqual([]);
});

test('after all of it what was given is known, what was revoked is dead, and no alarm was raised', async () => {
  const { wrong, answered, away } = await closeDeployment(deployment, node);
  expect(wrong).toEqual([]);
  // Otherwise nothing was asked, or nothing happened.
  expect(answered).toBeGreaterThan(100);
  expect(away).toBeGreaterThan(0);
});

const lacking = await fullDisk.lacks!();
test.skipIf(lacking !== undefined)('no refresh token of an honest client dies while the disk is full', async () => {
  const { wrong, away } = await drill(fullDisk, { seconds: 3, chains: CHAINS, processes: 1, latest, warmUp: 0.3 });
  expect(wrong).toEqual([]);
  expect(away).toBeGreaterThan(0);
});
