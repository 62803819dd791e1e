import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OAuthError } from '../../src/protocol/error.ts';
import { decodeFormValue, parseForm, uniqueParameters } from '../../src/protocol/form-encoding.ts';

/** The error of a text that is refused; undefined for one that is read. Whatever else is thrown is thrown on. */
function refusalOf(text: string): string | undefined {
  try {
    uniqueParameters(parseForm(text));
    return undefined;
  } catch (error) {
    if (error instanceof OAuthError) return error.error;
    throw error;
  }
}

const invalid = expect.objectContaining({ error: 'invalid_request', status: 400 }) as Error;

test('a bare space is a space, as after curl -d', () => {
  expect(parseForm('scope=a b&c=d')).toEqual([
    ['scope', 'a b'],
    ['c', 'd'],
  ]);
});

test('RFC 6749 Appendix B: reads names and values, + and %20 as spaces, UTF-8 as what it is', () => {
  expect(parseForm('a=1&b=x+y%20z&c=%C3%A4&d&e=&f=1%3D2=3')).toEqual([
    ['a', '1'],
    ['b', 'x y z'],
    ['c', 'ä'],
    ['d', ''],
    ['e', ''],
    ['f', '1=2=3'],
  ]);
  expect(parseForm('')).toEqual([]);
  expect(parseForm('&&a=1&')).toEqual([['a', '1']]);
});

test('RFC 6749 Appendix B: whatever URLSearchParams writes, and holds no control character, is read back', () => {
  const text = fc
    .string({ unit: 'binary', maxLength: 12 })
    // eslint-disable-next-line no-control-regex
    .filter((value) => value.isWellFormed() && !/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/.test(value));
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 5 }), (pairs) => {
      const read = parseForm(new URLSearchParams(pairs).toString());
      expect(read).toEqual(pairs);
    }),
    { numRuns: 50 },
  );
});

test('RFC 6749 Appendix B: any text at all is read or refused as invalid_request, never another error', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'a%&=+;[]\u0000\u0080é0Fc', '\ud800') }), (text) => {
      expect(refusalOf(text)).toBeOneOf([undefined, 'invalid_request']);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['a bare percent', 'a=%'],
  ['an escape that is not hexadecimal', 'a=%zz'],
  ['half an escape', 'a=%2'],
  ['an overlong UTF-8 slash', 'a=%C0%AF'],
  ['an overlong UTF-8 null', 'a=%C0%80'],
  ['a lone surrogate', 'a=%ED%A0%80'],
  ['a byte that no UTF-8 has', 'a=%FF'],
  ['a truncated sequence', 'a=%E2%82'],
  ['a null byte', 'a=b%00'],
  ['a null byte in a name', 'a%00=b'],
  ['an escape character', 'a=%1B%5B0m'],
  ['DEL', 'a=%7F'],
  ['raw UTF-8', 'a=ä'],
  ['a raw line break', 'a=b\r\nc=d'],
])('RFC 6749 Appendix B: refuses %s', (_what, text) => {
  expect(() => parseForm(text)).toThrow(invalid);
});

test('RFC 6749 §3.2: a semicolon separates nothing', () => {
  expect(parseForm('a=1;b=2')).toEqual([['a', '1;b=2']]);
});

test('more than 200 parameters are refused, 200 are read', () => {
  const many = (count: number): string => Array.from({ length: count }, (_, index) => `p${index}=1`).join('&');
  expect(parseForm(many(200))).toHaveLength(200);
  expect(() => parseForm(many(201))).toThrow(invalid);
  expect(() => parseForm('&'.repeat(60_000))).toThrow(invalid);
});

test('RFC 6749 §3.2: refuses a repeated parameter and names it, if the name can be printed', () => {
  const repeated = (text: string) => () => uniqueParameters(parseForm(text));
  expect(repeated('code=a&code=b')).toThrow('code is repeated');
  expect(repeated('code=a&code=a')).toThrow(invalid);
  expect(repeated('code=&code=a')).toThrow(invalid);
  expect(repeated('code&code')).toThrow(invalid);
  expect(repeated('%22%0A=1&%22%0A=2')).toThrow('the parameter (unprintable) is repeated');
});

test('RFC 6749 §3.2: an empty value counts as omitted', () => {
  expect({ ...uniqueParameters(parseForm('scope=&state&code=x')) }).toEqual({ code: 'x' });
});

test('RFC 8707 §2: resource may be repeated, and is always a list', () => {
  expect({ ...uniqueParameters(parseForm('resource=a&resource=&resource=b')) }).toEqual({ resource: ['a', 'b'] });
  expect({ ...uniqueParameters(parseForm('resource=a')) }).toEqual({ resource: ['a'] });
});

test('ASVS 15.3.6: __proto__ and constructor are names like any other', () => {
  const parameters = uniqueParameters(parseForm('__proto__=x&constructor=y&hasOwnProperty=z'));
  expect(Object.getPrototypeOf(parameters)).toBeNull();
  expect(Object.keys(parameters)).toEqual(['__proto__', 'constructor', 'hasOwnProperty']);
  expect(({} as Record<string, unknown>)['x']).toBeUndefined();
});

test('64 KiB of any one character in a value are read or refused in at most 100 ms', () => {
  for (const character of ['a', '%', '.', '+', '&', '=', '%41', '%00', '%C3']) {
    const text = `code=${character.repeat(Math.floor(65_000 / character.length))}`;
    const start = process.threadCpuUsage();
    expect(refusalOf(text)).toBeOneOf([undefined, 'invalid_request']);
    expect(process.threadCpuUsage(start).user / 1000, character).toBeLessThan(100);
  }
});

test('RFC 6749 §2.3.1: one form-encoded value, as HTTP Basic carries them', () => {
  expect(decodeFormValue('a%3Ab+c%25')).toBe('a:b c%');
  expect(() => decodeFormValue('100%')).toThrow(invalid);
});
