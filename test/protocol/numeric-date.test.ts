import { expect, test } from 'vitest';
import { earlier, numericDate, secondsAfter, secondsUntil } from '../../src/protocol/numeric-date.ts';

const at = (text: string): Date => new Date(text);

test('RFC 7519 §2: a NumericDate is whole seconds since the epoch, never rounded up', () => {
  expect(numericDate(at('1970-01-01T00:00:01.999Z'))).toBe(1);
  expect(numericDate(at('2026-01-01T00:00:00Z'))).toBe(1_767_225_600);
});

test('specification §Limits: expires_in is in whole seconds, and never less than 0', () => {
  const now = at('2026-01-01T00:00:00Z');
  expect(secondsUntil(secondsAfter(now, 600), now)).toBe(600);
  expect(secondsUntil(secondsAfter(now, 1.9), now)).toBe(1);
  expect(secondsUntil(secondsAfter(now, -5), now)).toBe(0);
});

test('the earlier of two dates', () => {
  const [a, b] = [at('2026-01-01T00:00:00Z'), at('2026-01-02T00:00:00Z')];
  expect(earlier(a, b)).toBe(a);
  expect(earlier(b, a)).toBe(a);
});
