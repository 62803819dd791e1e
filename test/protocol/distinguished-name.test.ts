/** Distinguished names (RFC 4514): which texts are one name. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { areSameName, readDistinguishedName } from '../../src/protocol/distinguished-name.ts';

const same = (one: string, other: string): boolean | undefined => {
  const [a, b] = [readDistinguishedName(one), readDistinguishedName(other)];
  return a && b && areSameName(a, b);
};

test('a name can be written in several ways', () => {
  expect(same('CN=a b,O=x', 'cn = A  B , 2.5.4.10=X')).toBe(true);
  expect(same('CN=a+UID=7,O=x', 'UID=7+CN=a,O=x')).toBe(true);
  expect(same('CN=caf\\C3\\A9', 'CN=café')).toBe(true);
  expect(same('CN=a\\2Cb', 'CN=a\\,b')).toBe(true);
  expect(same('CN=a\\5C', 'CN=a\\\\')).toBe(true);
  expect(same('CN=a\\ ', 'CN=a')).toBe(true);
});

test('what stands elsewhere is another name', () => {
  for (const other of ['O=x,CN=a', 'CN=a', 'CN=a+O=x', 'CN=a\\,O\\=x', 'CN=a,O=x,C=DE', 'CN=a,OU=x', 'CN=a,O=x y']) {
    expect({ other, is: same('CN=a,O=x', other) }).toEqual({ other, is: false });
  }
});

test('what is none is none, and never an error', () => {
  for (const none of [
    '',
    'a',
    'CN=',
    'CN=a,',
    'CN=a+',
    ',CN=a',
    'XX=a',
    'CN=#0401',
    'CN=a\\',
    'CN="a"',
    'CN=a;O=b',
    'CN=\\C3',
  ]) {
    expect({ none, is: readDistinguishedName(none) }).toEqual({ none, is: undefined });
  }
  fc.assert(fc.property(fc.string(), (text) => void readDistinguishedName(text)));
});
