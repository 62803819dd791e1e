import { expect, test } from 'vitest';
import { personClaims, pickClaims } from '../../src/protocol/claims.ts';

test('OpenID Connect Core §5.3.2: claims without a value are left out', () => {
  const all = { name: 'Ada', nickname: '', gender: null, address: {}, groups: [], email_verified: false, age: 0 };
  expect(pickClaims(all, [...Object.keys(all), 'ghost'])).toEqual({
    groups: [],
    name: 'Ada',
    email_verified: false,
    age: 0,
  });
});

test('ASVS 15.3.3: only what is named is given', () => {
  expect(pickClaims({ name: 'Ada', email: 'ada@example.test' }, ['email'])).toEqual({ email: 'ada@example.test' });
});

test('OpenID Connect Core §5.1: the standard claims have their types', () => {
  const valid = {
    name: 'Ada Lovelace',
    birthdate: '1815-12-10',
    phone_number_verified: true,
    address: { country: 'GB' },
    groups: ['admins'],
    picture: 'https://example.test/ada.png',
  };
  expect(personClaims.parse(valid)).toEqual(valid);
  for (const wrong of [
    { birthdate: 'yesterday' },
    { phone_number_verified: 'true' },
    { address: 'London' },
    { groups: 'admins' },
    { picture: 'not a url' },
  ]) {
    expect(personClaims.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false);
  }
});

test.each([
  'sub',
  'iss',
  'aud',
  'exp',
  'nonce',
  'sid',
  'email',
  'email_verified',
  'preferred_username',
  'client_id',
  'admin',
])('no operator sets %s as a claim: it is the account’s, or the token’s', (name) => {
  expect(personClaims.safeParse({ [name]: 'x' }).success).toBe(false);
});
