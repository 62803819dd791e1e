/**
 * What an image is by its own first bytes, whatever its sender called it. Formats that only draw: an SVG is a document
 * that can hold scripts and links, and is none of these.
 */

/** A format we show, and the size it says it has, in pixels. */
export interface ImageFormat {
  media_type: (typeof MEDIA_TYPES)[number];
  width: number;
  height: number;
}

export const MEDIA_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;

type Read = (image: Buffer) => readonly [width: number, height: number] | undefined;

const formats = {
  'image/png': png,
  'image/jpeg': jpeg,
  'image/webp': webp,
  'image/gif': gif,
} as const satisfies Record<ImageFormat['media_type'], Read>;

/** What the image is; undefined when it is none of ours, or cut off before it says its size. */
export function readImage(image: Buffer): ImageFormat | undefined {
  for (const media_type of MEDIA_TYPES) {
    const size = formats[media_type](image);
    if (size !== undefined) return { media_type, width: size[0], height: size[1] };
  }
  return undefined;
}

const startsWith = (image: Buffer, text: string, at = 0): boolean =>
  image.subarray(at, at + text.length).equals(Buffer.from(text, 'latin1'));

function png(image: Buffer): ReturnType<Read> {
  if (image.length < 24 || !startsWith(image, '\x89PNG\r\n\x1a\n') || !startsWith(image, 'IHDR', 12)) return undefined;
  return [image.readUInt32BE(16), image.readUInt32BE(20)];
}

function gif(image: Buffer): ReturnType<Read> {
  if (image.length < 10 || !(startsWith(image, 'GIF87a') || startsWith(image, 'GIF89a'))) return undefined;
  return [image.readUInt16LE(6), image.readUInt16LE(8)];
}

/** The three kinds of first chunk (RFC 9649 §2.5 to §2.7). */
function webp(image: Buffer): ReturnType<Read> {
  if (image.length < 25 || !startsWith(image, 'RIFF') || !startsWith(image, 'WEBP', 8)) return undefined;
  if (startsWith(image, 'VP8L', 12)) {
    const bits = image.readUInt32LE(21);
    return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
  }
  if (image.length < 30) return undefined;
  if (startsWith(image, 'VP8X', 12)) return [image.readUIntLE(24, 3) + 1, image.readUIntLE(27, 3) + 1];
  if (startsWith(image, 'VP8 ', 12)) return [image.readUInt16LE(26) & 0x3fff, image.readUInt16LE(28) & 0x3fff];
  return undefined;
}

/** From segment to segment until the frame header, which has the size. */
function jpeg(image: Buffer): ReturnType<Read> {
  if (!startsWith(image, '\xff\xd8\xff')) return undefined;
  for (let at = 2; at + 9 <= image.length && image[at] === 0xff;) {
    const marker = image[at + 1]!;
    // SOF0 to SOF15, without the tables that share their numbers: DHT, JPG and DAC.
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return [image.readUInt16BE(at + 7), image.readUInt16BE(at + 5)];
    }
    // A fill byte is no segment.
    at += marker === 0xff ? 1 : 2 + image.readUInt16BE(at + 2);
  }
  return undefined;
}
