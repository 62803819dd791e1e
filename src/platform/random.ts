/** Chance: the one place that draws it. */
import { randomBytes } from 'node:crypto';

/** Bytes drawn from the system at a time: the call costs more than they do. */
const STOCK = 4096;
let stock = Buffer.alloc(0);

/** n bytes from the system's CSPRNG. None is given twice. */
export function random(bytes: number): Buffer {
  if (bytes > STOCK / 8) return randomBytes(bytes);
  // A new stock, not the old one filled again: what was given is still in use.
  if (stock.length < bytes) stock = randomBytes(STOCK);
  const drawn = stock.subarray(0, bytes);
  stock = stock.subarray(bytes);
  return drawn;
}
