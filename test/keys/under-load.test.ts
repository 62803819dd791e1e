/** Rotation while requests run: two processes, and verifiers that keep the JWKS as long as its max-age allows. */
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keyStates } from '../../src/keys/index.ts';
import * as store from '../../src/store/keys.ts';
import { reloadKeys } from '../../src/workers/reload-keys.ts';
import { rotateKeys } from '../../src/workers/rotate-keys.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aService, credentials, postForm, type AClient } from '../support/fixtures.ts';
import { decode } from '../support/oauth.ts';

const DAY = 86_400;
const TTL = 900;
/** Seconds of one step, after which a process has read the keys again. Thirteen are just below the max-age. */
const LAG = 23;

let processes: TestApp[];
let service: AClient;
beforeAll(async () => {
  const config = { KEY_ROTATION_INTERVAL: DAY, ACCESS_TOKEN_TTL: TTL };
  const one = await testApp({ config });
  processes = [one, await testApp({ config, database: one.database, clock: one.clock })];
  service = await aService(one);
});
afterAll(async () => {
  for (const process of processes.toReversed()) await process.close();
});

const now = (): Date => processes[0]!.clock.now();
const turn = (process: TestApp): Promise<void> => rotateKeys(process.deps).run();
const notice = (process: TestApp): Promise<void> => reloadKeys(process.deps).run();

const states = async (): Promise<ReturnType<typeof keyStates>> =>
  keyStates(await store.all(processes[0]!.deps.db), now()).filter(({ alg }) => alg === 'RS256');

async function aToken(process: TestApp): Promise<string> {
  const answer = await postForm(process, '/token', { grant_type: 'client_credentials', ...credentials(service) });
  expect(answer.statusCode).toBe(200);
  return answer.json<{ access_token: string }>().access_token;
}

/** A resource server that obeys Cache-Control: what it has it keeps as long as it may. */
function aVerifier(process: TestApp): (token: string) => Promise<void> {
  let kept: { keys: ReturnType<typeof createLocalJWKSet>; until: number } | undefined;
  return async (token) => {
    if (!kept || now().getTime() >= kept.until) {
      const answer = await process.app.inject('/jwks');
      const max_age = Number(/max-age=(\d+)/.exec(String(answer.headers['cache-control']))![1]);
      kept = { keys: createLocalJWKSet(answer.json<JSONWebKeySet>()), until: now().getTime() + max_age * 1000 };
    }
    await jwtVerify(token, kept.keys, { currentDate: now(), typ: 'at+jwt' });
  };
}

test('while keys rotate, every token verifies with the JWKS of any process, fresh or kept as long as it may be', async () => {
  const { clock } = processes[0]!;
  const signers = new Set<unknown>();
  const present = (await states()).find(({ state }) => state === 'active')!;
  clock.advance((present.activates_at.getTime() - now().getTime()) / 1000 + DAY - 700);
  const alive: Array<{ token: string; ends: number }> = [];
  const verifiers: Array<ReturnType<typeof aVerifier>> = [];
  for (let step = 0; step < 60; step += 1) {
    clock.advance(LAG);
    for (const process of processes) await notice(process);
    // What one of them does now the other learns a whole step later.
    const [tokens] = await Promise.all([Promise.all(processes.map(aToken)), turn(processes[step % 2]!)]);
    for (const token of tokens) {
      signers.add(decode(token).header['kid']);
      alive.push({ token, ends: now().getTime() + TTL * 1000 });
    }
    while (alive[0]!.ends <= now().getTime()) alive.shift();
    // One after the other, so that whenever a key begins to sign some are about to be out of date.
    if (step < 14) verifiers.push(...processes.map(aVerifier));
    for (const verify of [...verifiers, ...processes.map(aVerifier)]) {
      for (const token of [alive[0]!.token, ...tokens]) await verify(token);
    }
  }
  // It did rotate, once for everybody.
  expect(signers.size).toBe(2);
  expect((await states()).map(({ state }) => state)).toEqual(['retired', 'active']);
});
