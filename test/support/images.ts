/** Small images. The PNG is a whole one; the others are as much of their format as says what they are. */

/** One pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** The same with another size written into it. */
export function pngOf(width: number, height: number): Buffer {
  const png = Buffer.from(PNG);
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return png;
}

export const GIF = Buffer.from('R0lGODlhAgADAIAAAAAAAP///yH5BAEAAAAALAAAAAACAAMAAAIChFEAOw==', 'base64');

/** A JPEG's segments: JFIF, a table, fill bytes, and the frame that says 5 wide, 4 high. */
export const JPEG = Buffer.concat([
  Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]),
  Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1'),
  Buffer.from([0xff, 0xc4, 0, 4, 1, 2, 0xff, 0xff, 0xff, 0xc2, 0, 11, 8, 0, 4, 0, 5, 1, 1, 0x11, 0]),
]);

function webp(kind: string, chunk: readonly number[]): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(chunk.length);
  return Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP', 'latin1'), Buffer.from(kind), size, Buffer.from(chunk)]);
}

/** Lossy, lossless and extended; 6 wide, 7 high. */
export const WEBPS = [
  webp('VP8 ', [0, 0, 0, 0x9d, 0x01, 0x2a, 6, 0, 7, 0]),
  webp('VP8L', [0x2f, 0x05, 0x80, 0x01, 0]),
  webp('VP8X', [0, 0, 0, 0, 5, 0, 0, 6, 0, 0]),
];
