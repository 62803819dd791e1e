import fc from 'fast-check';
import { expect, test } from 'vitest';
import { challengeOf, CODE_CHALLENGE_METHODS, parseChallenge, parseVerifier } from '../../src/protocol/pkce.ts';

const invalid = expect.objectContaining({ error: 'invalid_request' }) as Error;
// RFC 7636 Appendix B
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

test('specification §Authentication 3: the client computes code_challenge = BASE64URL(SHA-256(code_verifier)) (RFC 7636 Appendix B)', () => {
  expect(challengeOf(VERIFIER)).toBe(CHALLENGE);
  expect(parseVerifier(VERIFIER)).toBe(CHALLENGE);
});

test('specification §Limits: a code_verifier has 43 to 128 characters (RFC 7636 §4.1)', () => {
  const of = (length: number): string => 'a'.repeat(length);
  expect(() => parseVerifier(of(42))).toThrow(invalid);
  expect(parseVerifier(of(43))).toBe(challengeOf(of(43)));
  expect(parseVerifier(of(128))).toBe(challengeOf(of(128)));
  expect(() => parseVerifier(of(129))).toThrow(invalid);
  expect(() => parseVerifier('')).toThrow(invalid);
  expect(parseVerifier(undefined)).toBeUndefined();
});

test('RFC 7636 §4.1: only unreserved characters, and every one of them', () => {
  expect(parseVerifier('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~')).toHaveLength(43);
  for (const bad of [' ', '+', '/', '=', '%', 'ä', '\n', '\0', '"']) {
    expect(() => parseVerifier('a'.repeat(42) + bad), JSON.stringify(bad)).toThrow(invalid);
    expect(() => parseVerifier(`${'a'.repeat(43)}${bad}`), JSON.stringify(bad)).toThrow(invalid);
  }
});

test('specification §Endpoints 1: code_challenge_method has the value S256, and no other', () => {
  expect(CODE_CHALLENGE_METHODS).toEqual(['S256']);
  expect(parseChallenge(CHALLENGE, 'S256', true)).toBe(CHALLENGE);
  for (const method of ['plain', 's256', 'S512', 'S256 ', '', undefined]) {
    expect(() => parseChallenge(CHALLENGE, method, false), String(method)).toThrow(invalid);
  }
});

test('RFC 7636 §4.4.1: a challenge that is required and missing is invalid_request; one that is not may be left out', () => {
  expect(() => parseChallenge(undefined, undefined, true)).toThrow('code_challenge is required');
  expect(parseChallenge(undefined, undefined, false)).toBeUndefined();
  expect(() => parseChallenge(undefined, 'S256', false)).toThrow(invalid);
});

test('RFC 7636 §4.2: a challenge is a base64url SHA-256, with no bits left over', () => {
  for (const bad of [
    `${CHALLENGE}=`,
    CHALLENGE.slice(1),
    `${CHALLENGE}A`,
    `${CHALLENGE.slice(0, 42)}N`,
    `+${CHALLENGE.slice(1)}`,
  ]) {
    expect(() => parseChallenge(bad, 'S256', false), bad).toThrow(invalid);
  }
  fc.assert(
    fc.property(fc.string({ minLength: 43, maxLength: 128, unit: fc.constantFrom(...'aZ09-._~') }), (verifier) => {
      expect(parseChallenge(challengeOf(verifier), 'S256', true)).toBe(parseVerifier(verifier));
    }),
  );
});
