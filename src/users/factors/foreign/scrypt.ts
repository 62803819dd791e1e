/** scrypt (RFC 7914): PHC strings, and Django's `scrypt$N$salt$r$p$hash`. */
import { scryptSync, timingSafeEqual } from 'node:crypto';
import { bytesOf, HashProblem, text64, within, type Scheme } from './scheme.ts';

const PHC = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/.-]+)\$([\w+/.-]+)$/;
// Its salt is text, and used as such.
const DJANGO = /^scrypt\$(\d{1,8})\$([^$]+)\$(\d{1,2})\$(\d{1,2})\$([\w+/]+=*)$/;
const MAX_MEMORY = 2 ** 28;

interface Parameters {
  ln: number;
  r: number;
  p: number;
}

/** @throws HashProblem where 256 MiB or the work of two seconds are not enough */
export function checkScrypt({ ln, r, p }: Parameters): void {
  within(ln, 'cost', 1, 20);
  within(r, 'block size', 1, 32);
  within(p, 'parallelism', 1, 16);
  if (128 * 2 ** ln * r > MAX_MEMORY || 2 ** ln * r * p > 2 ** 22) {
    throw new HashProblem('takes more memory or time than a sign-in may: 256 MiB, or N·r·p of 4194304');
  }
}

/** The derived key. */
export const derive = (password: Buffer, salt: Buffer, length: number, { ln, r, p }: Parameters): Buffer =>
  scryptSync(password, salt, length, { N: 2 ** ln, r, p, maxmem: MAX_MEMORY + 2 ** 24 });

export const scrypt: Scheme = {
  title: 'scrypt',
  form: PHC,
  read(given) {
    if (typeof given !== 'string' || !/^\$?scrypt\$/.test(given)) return undefined;
    const parsed = parse(given);
    if (!parsed) throw new HashProblem('is not a scrypt hash in PHC form or Django’s');
    const { salt, hash, ...parameters } = parsed;
    checkScrypt(parameters);
    if (hash.length < 16 || hash.length > 128)
      throw new HashProblem('has a hash of another length than 16 to 128 bytes');
    const { ln, r, p } = parameters;
    return { phc: `$scrypt$ln=${ln},r=${r},p=${p}$${text64(salt)}$${text64(hash)}` };
  },
  verify(phc, password) {
    const { salt, hash, ...parameters } = parse(phc)!;
    return timingSafeEqual(derive(password, salt, hash.length, parameters), hash);
  },
};

function parse(text: string): (Parameters & { salt: Buffer; hash: Buffer }) | undefined {
  const [, ln, r, p, salt, hash] = PHC.exec(text) ?? [];
  if (salt !== undefined && hash !== undefined) {
    return { ln: Number(ln), r: Number(r), p: Number(p), salt: bytesOf(salt, 'salt'), hash: bytesOf(hash, 'hash') };
  }
  const [, n, text_salt, django_r, django_p, django_hash] = DJANGO.exec(text) ?? [];
  if (text_salt === undefined || django_hash === undefined) return undefined;
  const cost = Math.log2(Number(n));
  if (!Number.isInteger(cost)) throw new HashProblem('has a cost that is no power of two');
  return {
    ln: cost,
    r: Number(django_r),
    p: Number(django_p),
    salt: Buffer.from(text_salt),
    hash: bytesOf(django_hash, 'hash'),
  };
}
