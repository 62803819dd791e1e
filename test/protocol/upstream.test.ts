import { expect, test } from 'vitest';
import { identityOf, methodsOf, upstreamFields, upstreamProblems } from '../../src/protocol/upstream.ts';
import { upstreamPresets } from '../../src/protocol/upstream-presets.ts';

const plain = { claims: {}, trust_email: false, domains: [] };

test('every preset is a provider once its own issuer and client_id are filled in', () => {
  for (const [upstream, preset] of Object.entries(upstreamPresets)) {
    const issuer = 'issuer' in preset ? preset.issuer.replace('{tenant}', 'a') : 'https://id.example.test';
    const fields = upstreamFields.parse({ upstream, client_id: 'us', ...preset, issuer });
    expect(upstreamProblems(fields)).toEqual([]);
  }
});

test('an address counts as verified only where the provider says so, or is trusted with its domain', () => {
  const email = 'ada@work.example';
  const verified = (given: object, provider: Partial<typeof plain> = {}) =>
    identityOf({ ...plain, ...provider }, { sub: '1', email, ...given })?.email_verified;
  expect(verified({})).toBe(false);
  expect(verified({ email_verified: 'false' })).toBe(false);
  expect(verified({ email_verified: 1 })).toBe(false);
  expect(verified({ email_verified: true })).toBe(true);
  expect(verified({ email_verified: 'true' })).toBe(true);
  expect(verified({}, { trust_email: true })).toBe(true);
  const domains = ['other.example'] as never[];
  expect(verified({}, { trust_email: true, domains })).toBe(false);
  expect(verified({ email: undefined, email_verified: true })).toBe(false);
});

test('people are known by sub alone: what is no text, no number or not there names nobody', () => {
  for (const sub of [undefined, null, '', {}, ['1'], 1.5, 'a\u0000', 'é', 'x'.repeat(256)]) {
    expect(identityOf(plain, { sub })).toBeUndefined();
  }
  expect(identityOf({ ...plain, claims: { sub: 'id' } }, { id: 42, sub: 'x' })?.upstream_sub).toBe('42');
});

test('claims that could not be shown or stored are left out', () => {
  const given = {
    sub: '1',
    name: 'Ada\u0007',
    picture: 'javascript:alert(1)',
    website: 'https://ada.example',
    locale: 7,
  };
  expect(identityOf(plain, given)?.claims).toEqual({ website: 'https://ada.example' });
});

test('RFC 8176: a way of signing in counts only where the mapping says what it is worth', () => {
  const mapping = { amr_values: { otp: ['otp'] }, acr_values: { high: ['mfa', 'otp'] } };
  expect(methodsOf(mapping, { amr: ['pwd', 'otp', 'constructor'], acr: 'high' })).toEqual(['otp', 'mfa']);
  expect(methodsOf(mapping, { amr: 'otp', acr: ['high'] })).toEqual([]);
  expect(methodsOf({ amr_values: {}, acr_values: {} }, { amr: ['mfa'], acr: 'toString' })).toEqual([]);
});
