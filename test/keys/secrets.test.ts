import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeKey } from '../../src/keys/rotation.ts';
import { createSecrets } from '../../src/keys/secrets.ts';
import { random } from '../../src/platform/random.ts';

const OLD = 'the older key, of more than thirty-two characters';
const NEW = 'the newer key, of more than thirty-two characters';
const old = createSecrets([OLD], random);
const rotated = createSecrets([NEW, OLD], random);
const fresh = createSecrets([NEW], random);

test('the first of SECRET_KEYS encrypts, every one of them decrypts', () => {
  const sealed = old.seal(Buffer.from('a private key'), 'kid');
  expect(rotated.open(sealed, 'kid').toString()).toBe('a private key');
  expect(() => fresh.open(sealed, 'kid')).toThrow('SECRET_KEYS');
  expect(fresh.open(rotated.seal(Buffer.from('x'), 'kid'), 'kid').toString()).toBe('x');
});

test('ASVS 11.3: what was changed, cut or sealed under another label does not open', () => {
  const sealed = old.seal(Buffer.from('a private key'), 'kid');
  expect(sealed.includes('private')).toBe(false);
  expect(sealed.equals(old.seal(Buffer.from('a private key'), 'kid'))).toBe(false);
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed[index]! ^= 1;
    expect(() => old.open(changed, 'kid')).toThrow('kid');
  }
  expect(() => old.open(sealed, 'another kid')).toThrow('another kid');
  for (const length of [0, 5, 12, 28, sealed.length - 1]) {
    expect(() => old.open(sealed.subarray(0, length), 'kid')).toThrow('kid');
  }
});

test('a MAC made for one purpose or for other parts is not good for another', () => {
  const mac = old.mac('form', ['a', 'bc']);
  expect(mac).toHaveLength(32);
  expect(old.verifyMac('form', ['a', 'bc'], mac)).toBe(true);
  expect(old.verifyMac('device', ['a', 'bc'], mac)).toBe(false);
  expect(old.verifyMac('form', ['ab', 'c'], mac)).toBe(false);
  expect(old.verifyMac('form', ['abc'], mac)).toBe(false);
  expect(old.verifyMac('form', ['a', 'bc'], mac.subarray(1))).toBe(false);
  expect(old.verifyMac('form', ['a', 'bc'], Buffer.alloc(0))).toBe(false);
});

test('no two lists of parts have one MAC', () => {
  const parts = fc.array(fc.string({ maxLength: 6, unit: fc.constantFrom('1', '2', ':', 'a') }), { maxLength: 4 });
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      expect(old.mac('form', a).equals(old.mac('form', b))).toBe(JSON.stringify(a) === JSON.stringify(b));
    }),
  );
});

test('a MAC of an older key still verifies, and a key that is gone makes none', () => {
  const mac = old.mac('retry', ['x']);
  expect(rotated.verifyMac('retry', ['x'], mac)).toBe(true);
  expect(rotated.macNamed('retry', ['x'], old.name)?.equals(mac)).toBe(true);
  expect(fresh.macNamed('retry', ['x'], old.name)).toBeUndefined();
  expect(rotated.name).toBe(fresh.name);
  expect(old.name).not.toContain(OLD.slice(0, 4));
});

test('without SECRET_KEYS nothing is signed, and the error says what is missing', () => {
  const none = createSecrets([], random);
  expect(() => none.mac('form', ['x'])).toThrow('SECRET_KEYS is not set');
});

test('a kid that a command line would take for an option is none that we make', async () => {
  const kids = await Promise.all(Array.from({ length: 300 }, () => makeKey(old, 'ES256', new Date())));
  expect(kids.filter(({ kid }) => kid.startsWith('-'))).toEqual([]);
});
