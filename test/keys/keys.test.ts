import { calculateJwkThumbprint, createLocalJWKSet, jwtVerify, type JWK } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKeyRing, ensureKeys, JWKS_MAX_AGE, keyStates } from '../../src/keys/index.ts';
import { createSecrets } from '../../src/keys/secrets.ts';
import { random } from '../../src/platform/random.ts';
import { MAX_TOKEN_TTL } from '../../src/protocol/client-metadata.ts';
import type { SigningAlg } from '../../src/protocol/signing-alg.ts';
import * as store from '../../src/store/keys.ts';
import { TEST_SECRET_KEY, testApp, type TestApp } from '../support/app.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { aService, BY, userinfo } from '../support/fixtures.ts';
import { aTokenRequest, decode, send } from '../support/oauth.ts';
import { retireKey, rotateKey } from '../support/rotation.ts';

let at: TestApp;
let bare: TestDatabase;
beforeAll(async () => {
  at = await testApp();
  bare = await createTestDatabase();
});
afterAll(async () => {
  await at.close();
  await bare.close();
});

const jwks = async (): Promise<{ keys: JWK[] }> => (await at.app.inject('/jwks')).json();
const kids = async (): Promise<unknown[]> => (await jwks()).keys.map(({ kid }) => kid);
const signedBy = (token: string): unknown => decode(token).header['kid'];

async function aToken(): Promise<string> {
  const answer = await send(at, await aTokenRequest(at, 'client_credentials'));
  return answer.json<{ access_token: string }>().access_token;
}

test('two processes that start together on one database make each first key exactly once', async () => {
  const secrets = createSecrets([TEST_SECRET_KEY], random);
  const algs: SigningAlg[] = ['RS256', 'ES256'];
  const now = at.clock.now();
  await Promise.all(Array.from({ length: 5 }, () => ensureKeys(bare.db, secrets, algs, now)));
  const rows = await store.all(bare.db);
  expect(rows.map(({ alg }) => alg).toSorted()).toEqual(['ES256', 'RS256']);
  await ensureKeys(bare.db, secrets, algs, now);
  expect(await store.all(bare.db)).toHaveLength(2);
  await ensureKeys(bare.db, secrets, ['RS256', 'PS256', 'EdDSA'], now);
  expect(await store.all(bare.db)).toHaveLength(4);
});

test('RFC 7638: the kid of every key is its thumbprint, and an RSA key has at least 2048 bits', async () => {
  const { keys } = await jwks();
  expect(keys.length).toBeGreaterThan(1);
  for (const { kid, alg: _alg, use: _use, ...key } of keys) {
    expect(kid).toBe(await calculateJwkThumbprint(key));
  }
  for (const { n } of keys.filter(({ kty }) => kty === 'RSA')) {
    expect(Buffer.from(n!, 'base64url').length * 8).toBeGreaterThanOrEqual(2048);
  }
  expect(new Set(await kids()).size).toBe(keys.length);
});

test('RFC 7517 §9.2: no private or symmetric member is ever published', async () => {
  for (const alg of ['PS256', 'EdDSA'] as const) await ensureKeys(at.deps.db, at.deps.secrets, [alg], at.clock.now());
  await at.deps.keys.reload();
  const { keys } = await jwks();
  expect(keys.map(({ alg }) => String(alg)).toSorted()).toEqual([
    'ECDH-ES',
    'ES256',
    'EdDSA',
    'PS256',
    'RS256',
    'RSA-OAEP-256',
  ]);
  const allowed = new Set(['kty', 'kid', 'alg', 'use', 'n', 'e', 'crv', 'x', 'y']);
  for (const key of keys) {
    expect(Object.keys(key).filter((name) => !allowed.has(name))).toEqual([]);
    expect(key.use).toBe(/^(?:RSA-OAEP-256|ECDH-ES)$/.test(key.alg!) ? 'enc' : 'sig');
  }
});

test('ASVS 11.7 / design §2: private keys are sealed at rest, and only SECRET_KEYS open them', async () => {
  const [row] = await store.all(bare.db);
  const text = row!.sealed_private_key!.toString('latin1');
  for (const member of ['"d"', '"p"', '"kty"', 'RSA', 'P-256']) expect(text).not.toContain(member);
  expect(JSON.stringify(row!.public_jwk)).not.toContain('"d"');
  const other = createSecrets(['another key, of more than thirty-two characters'], random);
  await expect(createKeyRing(bare.db, other).reload()).rejects.toThrow('SECRET_KEYS');
  const both = createSecrets(['another key, of more than thirty-two characters', TEST_SECRET_KEY], random);
  await createKeyRing(bare.db, both).reload();
});

test('a row sealed for one key cannot stand in for another', async () => {
  const [one, two] = await store.all(bare.db);
  const secrets = createSecrets([TEST_SECRET_KEY], random);
  expect(() => secrets.open(one!.sealed_private_key!, two!.kid)).toThrow(two!.kid);
});

test('a key is published before it signs, signs next, and stays published while its tokens may live', async () => {
  const service = await aService(at);
  const before = await aToken();
  const { kid: next, activates_at } = await rotateKey(at.deps.db, at.deps.secrets, 'RS256', BY, at.clock.now());
  await at.deps.keys.reload();
  const old = signedBy(before);

  expect(await kids()).toEqual(expect.arrayContaining([next, old]));
  expect(signedBy(await aToken())).toBe(old);
  const lead = (activates_at.getTime() - at.clock.now().getTime()) / 1000;
  expect(lead).toBeGreaterThanOrEqual(JWKS_MAX_AGE);

  at.clock.advance(lead - 1);
  const last = await aToken();
  expect(signedBy(last)).toBe(old);
  at.clock.advance(1);
  expect(signedBy(await aToken())).toBe(next);
  expect(await kids()).toEqual(expect.arrayContaining([next, old]));
  expect(
    (await jwtVerify(last, createLocalJWKSet(await jwks()), { currentDate: at.clock.now() })).payload,
  ).toBeDefined();

  at.clock.advance(MAX_TOKEN_TTL);
  expect(await kids()).toContain(old);
  at.clock.advance(61);
  expect(await kids()).not.toContain(old);
  expect(await kids()).toContain(next);
  expect(service.client_id).toBeTruthy();
});

test('a key’s state goes from next to active to retired', async () => {
  const states = async (): Promise<Record<string, string>> => {
    const rows = (await store.all(at.deps.db)).filter(({ alg }) => alg === 'ES256');
    return Object.fromEntries(keyStates(rows, at.clock.now()).map(({ kid, state }) => [kid, state]));
  };
  const [first] = Object.keys(await states());
  const { kid } = await rotateKey(at.deps.db, at.deps.secrets, 'ES256', BY, at.clock.now());
  expect(await states()).toEqual({ [first!]: 'active', [kid]: 'next' });
  at.clock.advance(360);
  expect(await states()).toEqual({ [first!]: 'retired', [kid]: 'active' });
});

test('a key that has to go: its replacement signs at once, what it signed is refused, and it is published no more', async () => {
  at.clock.advance(1);
  const stolen = await aToken();
  expect((await userinfo(at, stolen)).statusCode).toBe(403);
  const kid = signedBy(stolen) as string;
  const retired = await retireKey(at.deps.db, at.deps.secrets, kid, BY, at.clock.now());
  await at.deps.keys.reload();
  expect(retired?.replacement).toBeTruthy();
  expect(await kids()).not.toContain(kid);
  expect(await kids()).toContain(retired!.replacement);
  expect((await userinfo(at, stolen)).statusCode).toBe(401);
  expect(signedBy(await aToken())).toBe(retired!.replacement);
});

test('a second process sees a rotation at its next reload, and verifies what the first signs', async () => {
  const other = await testApp({ database: at.database, clock: at.clock });
  at.clock.advance(1);
  const { kid } = await rotateKey(at.deps.db, at.deps.secrets, 'RS256', BY, at.clock.now(), { immediately: true });
  await at.deps.keys.reload();
  const token = await aToken();
  expect(signedBy(token)).toBe(kid);
  await other.deps.keys.reload();
  expect((await userinfo(other, token)).statusCode).toBe(403);
  await other.close();
});
