import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { readImage } from '../../src/clients/logo-image.ts';
import { GIF, JPEG, PNG, pngOf, WEBPS } from '../support/images.ts';

test.each<[string, Buffer, number, number]>([
  ['image/png', PNG, 1, 1],
  ['image/png', pngOf(300, 200), 300, 200],
  ['image/gif', GIF, 2, 3],
  ['image/jpeg', JPEG, 5, 4],
  ...WEBPS.map((image): [string, Buffer, number, number] => ['image/webp', image, 6, 7]),
])('an image is what its bytes say: %s', (media_type, image, width, height) => {
  expect(readImage(image)).toEqual({ media_type, width, height });
});

test.each([
  ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
  ['HTML', '<!doctype html><script>alert(1)</script>'],
  ['nothing', ''],
  ['a name and no more', 'GIF89a'],
  ['another RIFF file', `RIFF\0\0\0\0WAVEfmt ${'\0'.repeat(30)}`],
])('%s is no logo', (_what, text) => {
  expect(readImage(Buffer.from(text, 'latin1'))).toBeUndefined();
});

test('an image cut off anywhere, or continued with noise, is read without harm', () => {
  for (const image of [PNG, GIF, JPEG, ...WEBPS]) {
    for (let length = 0; length <= image.length; length += 1) {
      const start = image.subarray(0, length);
      expect(() => readImage(start)).not.toThrow();
      expect(() => readImage(Buffer.concat([start, randomBytes(64)]))).not.toThrow();
    }
  }
  expect(readImage(Buffer.concat([JPEG.subarray(0, 3), Buffer.alloc(60_000, 0xff)]))).toBeUndefined();
});
