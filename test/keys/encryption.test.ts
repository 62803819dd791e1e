/** The keys that others encrypt to: published beside those that sign, and opened with for a while after they were replaced. */
import { CompactEncrypt, compactDecrypt, importJWK, type JWK } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DecryptionAlg } from '../../src/protocol/key-alg.ts';
import * as store from '../../src/store/keys.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { BY } from '../support/fixtures.ts';
import { retireKey, rotateKey } from '../support/rotation.ts';

const ALGS: readonly DecryptionAlg[] = ['RSA-OAEP-256', 'ECDH-ES'];
const DAY = 86_400;

let at: TestApp;
beforeAll(async () => {
  at = await testApp();
});
afterAll(() => at.close());

const jwks = async (): Promise<JWK[]> => (await at.app.inject('/jwks')).json<{ keys: JWK[] }>().keys;
const published = async (alg: string): Promise<JWK[]> => (await jwks()).filter((key) => key.alg === alg);
const rotate = async (alg: DecryptionAlg): Promise<string> => {
  const { kid } = await rotateKey(at.deps.db, at.deps.secrets, alg, BY, at.clock.now());
  await at.deps.keys.reload();
  return kid;
};
const kidsFor = async (header: { kid?: string; alg: string }): Promise<string[]> =>
  (await at.deps.keys.decryption(header, at.clock.now())).map(({ kid }) => kid);

/** Encrypts as a client does that takes the first key of this algorithm. */
async function encrypted(alg: DecryptionAlg, { kid }: { kid: boolean }): Promise<string> {
  const [jwk] = await published(alg);
  return new CompactEncrypt(Buffer.from('for Postern'))
    .setProtectedHeader({ alg, enc: 'A256GCM', ...(kid && { kid: jwk!.kid! }) })
    .encrypt(await importJWK(jwk!, alg));
}

async function opened(jwe: string): Promise<string | undefined> {
  const header = JSON.parse(Buffer.from(jwe.split('.')[0]!, 'base64url').toString()) as { alg: string };
  for (const { private_key } of await at.deps.keys.decryption(header, at.clock.now())) {
    const { plaintext } = await compactDecrypt(jwe, private_key).catch(() => ({ plaintext: undefined }));
    if (plaintext) return new TextDecoder().decode(plaintext);
  }
  return undefined;
}

test.each(ALGS)('RFC 7518 §4: what is encrypted to our %s key is opened, with a kid and without', async (alg) => {
  for (const kid of [true, false]) expect(await opened(await encrypted(alg, { kid }))).toBe('for Postern');
  const [key] = await published(alg);
  expect(key).toMatchObject(alg === 'ECDH-ES' ? { kty: 'EC', crv: 'P-256' } : { kty: 'RSA' });
});

test('RFC 7517 §4.2: a key is for one use: none that signs decrypts, and none that decrypts verifies', async () => {
  for (const { kid, alg, use } of await jwks()) {
    expect(await kidsFor({ kid: kid!, alg: alg! }), alg).toEqual(use === 'enc' ? [kid] : []);
    const found = await at.deps.keys.find(kid!, at.clock.now(), { retired: true });
    expect(found?.kid, alg).toBe(use === 'sig' ? kid : undefined);
  }
});

test('RFC 8725 §3.1: the key has one algorithm, and a header that names another finds none', async () => {
  const [[rsa], [ec]] = await Promise.all([published('RSA-OAEP-256'), published('ECDH-ES')]);
  for (const alg of ['RSA-OAEP', 'RSA1_5', 'ECDH-ES', 'ECDH-ES+A256KW', 'dir', 'PBES2-HS256+A128KW', 'RS256']) {
    expect(await kidsFor({ kid: rsa!.kid!, alg }), alg).toEqual([]);
    expect(await kidsFor({ kid: ec!.kid!, alg }), alg).toEqual(alg === 'ECDH-ES' ? [ec!.kid] : []);
  }
  for (const alg of ['RSA-OAEP', 'ES256', 'RS256', 'dir', '__proto__', '']) expect(await kidsFor({ alg })).toEqual([]);
  expect(await kidsFor({ kid: 'nobody', alg: 'ECDH-ES' })).toEqual([]);
});

test.each(ALGS)(
  'a %s key is published before it is the only one, and the old one opens for a day after',
  async (alg) => {
    const before = await encrypted(alg, { kid: true });
    const old = (await published(alg))[0]!.kid!;
    const next = await rotate(alg);
    expect((await published(alg)).map(({ kid }) => kid)).toEqual([old, next]);
    // Newest first, where the header names none.
    expect(await kidsFor({ alg })).toEqual([next, old]);

    at.clock.advance(360);
    expect((await published(alg)).map(({ kid }) => kid)).toEqual([next]);
    at.clock.advance(DAY);
    expect(await opened(before)).toBe('for Postern');
    at.clock.advance(61);
    expect(await opened(before)).toBeUndefined();
    expect(await kidsFor({ alg })).toEqual([next]);
  },
);

test.each(ALGS)('a %s key that has to go opens nothing from then on, and its private half is gone', async (alg) => {
  const before = await encrypted(alg, { kid: true });
  const [{ kid } = {}] = await published(alg);
  const done = await retireKey(at.deps.db, at.deps.secrets, kid!, BY, at.clock.now());
  await at.deps.keys.reload();
  expect(await opened(before)).toBeUndefined();
  expect((await published(alg)).map((key) => key.kid)).toEqual([done!.replacement]);
  expect(await opened(await encrypted(alg, { kid: false }))).toBe('for Postern');
  const row = (await store.all(at.deps.db)).find((key) => key.kid === kid);
  expect(row).toMatchObject({ sealed_private_key: null, retired_at: at.clock.now() });
});

test('a key that another process has just made opens at once what names it', async () => {
  const { kid } = await rotateKey(at.deps.db, at.deps.secrets, 'ECDH-ES', BY, at.clock.now());
  expect(await kidsFor({ kid, alg: 'ECDH-ES' })).toEqual([kid]);
});
