/** What we sign, read by another implementation. */
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SIGNING_ALGS, type SigningAlg } from '../../src/protocol/signing-alg.ts';
import { testApp, type TestApp } from '../support/app.ts';

let at: TestApp;
let jwks: ReturnType<typeof createLocalJWKSet>;
beforeAll(async () => {
  at = await testApp({ config: { SIGNING_ALGS: [...SIGNING_ALGS] } });
  jwks = createLocalJWKSet((await at.app.inject('/jwks')).json<JSONWebKeySet>());
});
afterAll(() => at.close());

const sign = (claims: object, alg: SigningAlg, typ?: string): Promise<string> =>
  at.deps.keys.sign(claims, { alg, ...(typ !== undefined && { typ }) }, at.clock.now());

test.each(SIGNING_ALGS)('RFC 7515 §5.1: %s says what was signed, in a header of its own type', async (alg) => {
  const claims = { sub: 'häßlich 🦉 \u0000 "', iat: 1, aud: ['a', 'b'], events: { x: {} }, absent: undefined };
  const { kid } = at.deps.keys.active(alg, at.clock.now());
  for (const typ of ['at+jwt', 'JWT', undefined, 'at+jwt']) {
    const { payload, protectedHeader } = await compactVerify(await sign(claims, alg, typ), jwks, { algorithms: [alg] });
    expect(protectedHeader).toEqual({ alg, kid, ...(typ !== undefined && { typ }) });
    const { absent: _, ...present } = claims;
    expect(JSON.parse(new TextDecoder().decode(payload))).toEqual(present);
  }
});

// A number that begins with zeros would be shorter in DER: of so many signatures several have one.
test.each<[SigningAlg, number, number]>([
  ['ES256', 64, 600],
  ['EdDSA', 64, 20],
  ['RS256', 256, 4],
  ['PS256', 256, 4],
])('RFC 7518 §3: a signature of %s is %i bytes, always', async (alg, length, count) => {
  const tokens = await Promise.all(Array.from({ length: count }, (_, n) => sign({ n }, alg)));
  for (const token of tokens) {
    expect(Buffer.from(token.split('.')[2]!, 'base64url')).toHaveLength(length);
    await compactVerify(token, jwks, { algorithms: [alg] });
  }
});

test.each(SIGNING_ALGS)('RFC 7515 §5.2: %s with one letter changed is worth nothing', async (alg) => {
  const [header, payload, signature] = (await sign({ sub: 'somebody' }, alg)).split('.');
  const other = Buffer.from('{"sub":"anybody"}').toString('base64url');
  await expect(compactVerify(`${header}.${other}.${signature}`, jwks)).rejects.toThrow('signature verification failed');
  await compactVerify(`${header}.${payload}.${signature}`, jwks);
});

test('what there is no key for is not signed', async () => {
  const without = await testApp({ config: { SIGNING_ALGS: ['RS256'] } });
  const signed = without.deps.keys.sign({}, { alg: 'ES256' }, without.clock.now());
  await expect(signed).rejects.toThrow('there is no active ES256 key');
  await without.close();
});
