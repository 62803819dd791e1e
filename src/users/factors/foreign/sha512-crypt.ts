/**
 * SHA-512-crypt, `$6$`: that of /etc/shadow (Ulrich Drepper, Unix crypt using SHA-256 and SHA-512, 2008, in the public domain). The
 * packages there are have had no release for years; the steps below are those of the text, and its numbers beside them.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { HashProblem, within, type Scheme } from './scheme.ts';

const FORM = /^\$6\$(?:rounds=(\d{1,9})\$)?([^$:\n]{0,16})\$([./0-9A-Za-z]{86})$/;
const DEFAULT_ROUNDS = 5000;
const ALPHABET = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export const sha512Crypt: Scheme = {
  title: 'SHA-512-crypt',
  form: FORM,
  read(given) {
    if (typeof given !== 'string' || !given.startsWith('$6$')) return undefined;
    const [, rounds = '5000'] = FORM.exec(given) ?? [];
    if (!FORM.test(given)) throw new HashProblem('is not a SHA-512-crypt hash');
    // Half a million take about a second.
    within(rounds, 'number of rounds', 1000, 500_000);
    return { phc: given };
  },
  verify(phc, password) {
    const [, rounds, salt, hash] = FORM.exec(phc)!;
    const made = crypt(password, Buffer.from(salt!), rounds === undefined ? DEFAULT_ROUNDS : Number(rounds));
    return timingSafeEqual(Buffer.from(made), Buffer.from(hash!));
  },
};

const sha512 = (parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha512');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** The bytes of `block`, again and again, until there are `length`. */
const repeated = (block: Buffer, length: number): Buffer => Buffer.alloc(length, block);

function crypt(key: Buffer, salt: Buffer, rounds: number): string {
  // 4-8
  const b = sha512([key, salt, key]);
  // 1-3, 9-12
  const parts: Buffer[] = [key, salt, key.length === 0 ? key : repeated(b, key.length)];
  for (let bits = key.length; bits > 0; bits >>= 1) parts.push(bits % 2 === 1 ? b : key);
  let digest = sha512(parts);
  // 13-16
  const dp = sha512(Array.from({ length: key.length }, () => key));
  const p = key.length === 0 ? key : repeated(dp, key.length);
  // 17-20
  const ds = sha512(Array.from({ length: 16 + digest[0]! }, () => salt));
  const s = salt.length === 0 ? salt : repeated(ds, salt.length);
  // 21
  for (let round = 0; round < rounds; round += 1) {
    const odd = round % 2 === 1;
    const hash = createHash('sha512').update(odd ? p : digest);
    if (round % 3 !== 0) hash.update(s);
    if (round % 7 !== 0) hash.update(p);
    digest = hash.update(odd ? digest : p).digest();
  }
  return encoded(digest);
}

/** 22e: three bytes at a time, from three thirds that take turns in being first, as four characters from the lowest bits on. */
function encoded(digest: Buffer): string {
  let text = '';
  let order = [0, 21, 42];
  for (let group = 0; group < 21; group += 1) {
    const [high, middle, low] = order.map((index) => digest[index]!) as [number, number, number];
    text += base64((high << 16) | (middle << 8) | low, 4);
    order = [order[1]! + 1, order[2]! + 1, order[0]! + 1];
  }
  return text + base64(digest[63]!, 2);
}

function base64(bits: number, characters: number): string {
  return Array.from({ length: characters }, (_, index) => ALPHABET[(bits >> (6 * index)) & 63]).join('');
}
