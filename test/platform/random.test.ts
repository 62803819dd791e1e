import { expect, test } from 'vitest';
import { random } from '../../src/platform/random.ts';

test('as many bytes as were asked for, none of them given twice, and what was given stays as it is', () => {
  const sizes = [1, 12, 16, 32, 511, 512, 513, 4096, 5000, 0];
  const drawn = Array.from({ length: 2000 }, (_, n) => random(sizes[n % sizes.length]!));
  drawn.forEach((bytes, n) => expect(bytes).toHaveLength(sizes[n % sizes.length]!));
  const before = drawn.map((bytes) => bytes.toString('hex'));
  const long = before.filter((text) => text.length >= 24);
  expect(new Set(long).size).toBe(long.length);

  const places = new Map<ArrayBufferLike, Array<[start: number, end: number]>>();
  for (const { buffer, byteOffset, length } of drawn.filter((bytes) => bytes.length > 0)) {
    places.set(buffer, [...(places.get(buffer) ?? []), [byteOffset, byteOffset + length]]);
  }
  for (const taken of places.values()) {
    const sorted = taken.toSorted(([a], [b]) => a - b);
    for (const [n, [, end]] of sorted.slice(0, -1).entries()) expect(sorted[n + 1]![0]).toBeGreaterThanOrEqual(end);
  }
  for (let n = 0; n < 1000; n += 1) random(32);
  expect(drawn.map((bytes) => bytes.toString('hex'))).toEqual(before);
});

test('bytes are spread evenly', () => {
  const counts = Array.from({ length: 256 }, () => 0);
  for (let n = 0; n < 16_000; n += 1) for (const byte of random(16)) counts[byte]! += 1;
  // A thousand each, and a standard deviation of 32: six of them either way.
  expect(Math.min(...counts)).toBeGreaterThan(800);
  expect(Math.max(...counts)).toBeLessThan(1200);
});
