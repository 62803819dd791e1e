import { describe, expect, test } from 'vitest';
import { addressOf, athOf, checkProof, proofHeader } from '../../src/protocol/dpop.ts';

describe('RFC 9449 §4.3: htu is compared without query and fragment, normalized by syntax and scheme', () => {
  const here = addressOf('https://id.example.test/t1/token');
  test.each([
    'https://id.example.test/t1/token',
    'HTTPS://ID.Example.TEST/t1/token',
    'https://id.example.test:443/t1/token',
    'https://id.example.test:/t1/token',
    'https://id.example.test/t1/token?a=b',
    'https://id.example.test/t1/token#a',
    'https://id.example.test/t1/../t1/./token',
    'https://id.example.test/t1/%74oken',
    'https://id.example.test/t1/%2e%2E/t1/token',
  ])('%s is that address', (htu) => expect(addressOf(htu)).toBe(here));
  test.each([
    'http://id.example.test/t1/token',
    'https://id.example.test:8443/t1/token',
    'https://id.example.test/t1/token/',
    'https://id.example.test/t1//token',
    'https://id.example.test/T1/token',
    'https://id.example.test/token',
    'https://id.example.test/t1%2Ftoken',
    'https://id.example.test.evil.test/t1/token',
    'https://id.example.test@evil.test/t1/token',
    'https://user@id.example.test/t1/token',
    'https://id.example.test./t1/token',
    '//id.example.test/t1/token',
    '/t1/token',
    'token',
    '',
    'data:text/plain,token',
    'https://',
  ])('%j is not', (htu) => expect(addressOf(htu)).not.toBe(here));
  test('octets that need an escape are equal in capitals and small letters, and differ from what they stand for', () => {
    expect(addressOf('https://a.test/%c3%a9%2f')).toBe('https://a.test/%C3%A9%2F');
    expect(addressOf('https://a.test/é')).toBe(addressOf('https://a.test/%C3%A9'));
    expect(addressOf('https://a.test/%2525')).not.toBe(addressOf('https://a.test/%25'));
  });
});

describe('RFC 9449 §4.3: what a proof says', () => {
  const now = 1_800_000_000;
  const expected = { method: 'POST', url: 'https://id.example.test/token', now };
  const good = { jti: 'a', htm: 'POST', htu: 'https://id.example.test/token', iat: now };
  test('it counts for its method and address, and some time after it was made', () => {
    for (const iat of [now, now - 119, now + 60, now - 0.5]) {
      expect(checkProof({ ...good, iat }, expected)).toMatchObject({ jti: 'a' });
    }
    const ath = athOf('token');
    expect(checkProof({ ...good, ath }, { ...expected, access_token: 'token' })).toMatchObject({ ath });
    expect(athOf('Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU')).toBe('fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo');
  });
  test.each<[string, Record<string, unknown>]>([
    ['no jti', { jti: undefined }],
    ['an empty jti', { jti: '' }],
    ['a long jti', { jti: 'a'.repeat(257) }],
    ['a jti that is a number', { jti: 1 }],
    ['no htm', { htm: undefined }],
    ['another method', { htm: 'GET' }],
    ['a method in small letters', { htm: 'post' }],
    ['no htu', { htu: undefined }],
    ['another address', { htu: 'https://id.example.test/par' }],
    ['no iat', { iat: undefined }],
    ['an iat that is a text', { iat: String(now) }],
    ['an iat without end', { iat: Number.POSITIVE_INFINITY }],
    ['a time that is past', { iat: now - 120 }],
    ['a time to come', { iat: now + 61 }],
    ['an end that is past', { exp: now - 60 }],
    ['a beginning to come', { nbf: now + 61 }],
    ['a long nonce', { nonce: 'n'.repeat(1001) }],
  ])('with %s it does not', (_what, change) =>
    expect(typeof checkProof({ ...good, ...change }, expected)).toBe('string'),
  );
  test('with a token it names the token, by its hash', () => {
    for (const ath of [undefined, athOf('another'), 'token', '']) {
      expect(typeof checkProof({ ...good, ath }, { ...expected, access_token: 'token' })).toBe('string');
    }
  });
});

describe('RFC 9449 §4.2: the header', () => {
  const jwk = { kty: 'EC', crv: 'P-256', x: 'eA', y: 'eQ' };
  const header = { typ: 'dpop+jwt', alg: 'ES256', jwk };
  test('it holds a public key and nothing else that counts', () => {
    expect(proofHeader.parse({ ...header, jwk: { ...jwk, kid: 'k', use: 'enc' } }).jwk).toEqual(jwk);
  });
  test.each<[string, unknown]>([
    ['another typ', { ...header, typ: 'JWT' }],
    ['no typ', { ...header, typ: undefined }],
    ['no signature', { ...header, alg: 'none' }],
    ['a symmetric signature', { ...header, alg: 'HS256' }],
    ['no key', { ...header, jwk: undefined }],
    ['a key that is a text', { ...header, jwk: 'key' }],
    ['a private key', { ...header, jwk: { ...jwk, d: 'ZA' } }],
    ['a private RSA key', { ...header, jwk: { kty: 'RSA', n: 'bg', e: 'AQAB', dp: 'ZA' } }],
    ['a symmetric key', { ...header, jwk: { kty: 'oct', k: 'aw' } }],
    ['a key of an unknown curve', { ...header, jwk: { ...jwk, crv: 'secp256k1' } }],
    ['a key to agree with', { ...header, jwk: { kty: 'OKP', crv: 'X25519', x: 'eA' } }],
    ['numbers that are no base64url', { ...header, jwk: { ...jwk, x: 'e+A=' } }],
  ])('%s is refused', (_what, value) => expect(proofHeader.safeParse(value).success).toBe(false));
});
