/** What the ring keeps from one request to the next changes at the very moment a key's state does. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKeyRing, keepKeys, type KeyRing } from '../../src/keys/index.ts';
import { secondsAfter } from '../../src/protocol/numeric-date.ts';
import { SIGNING_ALGS } from '../../src/protocol/signing-alg.ts';
import * as store from '../../src/store/keys.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { BY } from '../support/fixtures.ts';
import { rotateKey } from '../support/rotation.ts';

const DAY = 86_400;
let at: TestApp;
beforeAll(async () => {
  at = await testApp();
});
afterAll(() => at.close());

const fresh = async (): Promise<KeyRing> => {
  const ring = createKeyRing(at.deps.db, at.deps.secrets);
  await ring.reload();
  return ring;
};
const signer = (...asked: Parameters<KeyRing['active']>): ((ring: KeyRing) => string) => {
  return (ring) => {
    try {
      return ring.active(...asked).kid;
    } catch (error) {
      return (error as Error).message;
    }
  };
};
const said = (ring: KeyRing, now: Date): unknown => [
  ring.jwks(now),
  SIGNING_ALGS.flatMap((alg) => [
    signer(alg, now)(ring),
    signer(alg, now, { meanwhile: 'RS256' })(ring),
    signer('RS256', now, { meanwhile: alg })(ring),
  ]),
];

test('a ring that was asked all along says the same as one that was never asked, to the millisecond', async () => {
  const { db, secrets } = at.deps;
  const start = at.clock.now();
  await rotateKey(db, secrets, 'RS256', BY, start);
  await rotateKey(db, secrets, 'ES256', BY, secondsAfter(start, 600));
  const config = { ...at.deps.config, SIGNING_ALGS: at.deps.config.SIGNING_ALGS.filter((alg) => alg !== 'EdDSA') };
  await keepKeys({ db, secrets, config }, BY, secondsAfter(start, 700));
  const rows = await store.all(db);
  const turns = rows.flatMap(({ activates_at, withdrawn_at }) => [activates_at, withdrawn_at ?? activates_at]);
  const moments = turns
    .flatMap((turn) => [turn, secondsAfter(turn, DAY + 60)])
    .flatMap((turn) => [-1, 0, 1].map((ms) => new Date(turn.getTime() + ms)))
    .toSorted((a, b) => a.getTime() - b.getTime());

  const asked = await fresh();
  const answers = new Set<string>();
  // And backwards: requests under way may have read the clock in another order.
  for (const now of [...moments, ...moments.toReversed()]) {
    const answer = said(asked, now);
    answers.add(JSON.stringify(answer));
    expect(answer, now.toISOString()).toEqual(said(await fresh(), now));
  }
  expect(answers.size).toBeGreaterThanOrEqual(4);
});

test('a reading of the keys changes the answer at once', async () => {
  const ring = await fresh();
  const now = secondsAfter(at.clock.now(), 10 * DAY);
  const before = [ring.jwks(now).etag, ring.active('RS256', now).kid];
  await rotateKey(at.deps.db, at.deps.secrets, 'RS256', BY, now, { immediately: true });
  expect([ring.jwks(now).etag, ring.active('RS256', now).kid]).toEqual(before);
  await ring.reload();
  expect(ring.jwks(now).etag).not.toBe(before[0]);
  expect(ring.active('RS256', now).kid).not.toBe(before[1]);
});
