import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeUtf8, isReadableText, isStorable, isStorableValue, readUtf8 } from '../../src/protocol/plain-text.ts';

test('what can be stored is read back as it was, and nothing else is', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\n', '\0', '\ud800', '\udc00') }), (text) => {
      const returned = Buffer.from(text).toString('utf8') === text && !text.includes('\0');
      expect(isStorable(text)).toBe(returned);
      expect(isStorableValue([{ a: text }])).toBe(returned);
      expect(isStorableValue({ [text]: [1, null, true] })).toBe(returned);
    }),
  );
});

test('a value is read however deep it lies, unless there is a bound', () => {
  let deep: unknown = 'a\0';
  for (let n = 0; n < 20_000; n += 1) deep = n % 2 === 0 ? [deep] : { a: deep };
  expect(isStorableValue(deep)).toBe(false);
  expect([isStorableValue([['a']], 2), isStorableValue([[['a']]], 2)]).toEqual([true, false]);
});

test('RFC 3629 §3: what is not UTF-8 is no text', () => {
  for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x61, 0xe2, 0x82]]) {
    expect(readUtf8(Uint8Array.from(bytes))).toBeUndefined();
    expect(() => decodeUtf8(Uint8Array.from(bytes))).toThrow(TypeError);
  }
  expect(readUtf8(Buffer.from('né 😀'))).toBe('né 😀');
});

test('readable text has lines and any script, and nothing that steers a terminal', () => {
  for (const text of ['Ada', 'Straße 1\r\nBerlin', 'می‌خواهم', '👩‍💻']) expect(isReadableText(text), text).toBe(true);
  for (const text of ['a\u001b[31m', '\u0007', 'a\u0000', '\u009b', '\ud800']) expect(isReadableText(text)).toBe(false);
});
