/**
 * Firebase's own way with scrypt: what is derived from the password encrypts the signer key of the project, and that is the
 * hash. It comes as an object, with the parameters that the console of the project shows.
 */
import { createCipheriv, createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { bytesOf, HashProblem, text64, within, type Scheme } from './scheme.ts';
import { checkScrypt, derive } from './scrypt.ts';

const given = z.strictObject({
  algorithm: z.literal('firebase-scrypt'),
  hash: z.string(),
  salt: z.string(),
  signer_key: z.string(),
  salt_separator: z.string().default(''),
  rounds: z.union([z.number(), z.string()]),
  mem_cost: z.union([z.number(), z.string()]),
});
const FORM = /^\$firebase-scrypt\$ln=(\d+),r=(\d+),key=([\w-]+)\$([\w+/]+)\$([\w+/]+)$/;
const ZERO = Buffer.alloc(16);

/** The name under which the signer key of a hash is kept; undefined for other schemes. */
export const signerKeyOf = (phc: string): string | undefined => FORM.exec(phc)?.[3];

export const firebase: Scheme = {
  title: 'Firebase’s scrypt',
  form: FORM,
  read(object) {
    if (typeof object === 'string' || object['algorithm'] !== 'firebase-scrypt') return undefined;
    const result = given.safeParse(object);
    if (!result.success) {
      const [issue] = result.error.issues;
      throw new HashProblem(`has a wrong ${issue?.path.join('.') || 'member'}: ${issue?.message ?? 'not valid'}`);
    }
    const { hash, salt, signer_key, salt_separator, rounds, mem_cost } = result.data;
    const parameters = { ln: within(mem_cost, 'mem_cost', 1, 20), r: within(rounds, 'rounds', 1, 32), p: 1 };
    checkScrypt(parameters);
    const value = bytesOf(signer_key, 'signer_key');
    if (value.length < 16 || value.length > 256)
      throw new HashProblem('has a signer_key of another length than 16 to 256 bytes');
    const bytes = bytesOf(hash, 'hash');
    if (bytes.length !== value.length) throw new HashProblem('has a hash of another length than its signer_key');
    // The separator is a part of what is salted with, for everybody.
    const salted = Buffer.concat([bytesOf(salt, 'salt'), bytesOf(salt_separator, 'salt_separator')]);
    if (salted.length === 0) throw new HashProblem('has no salt');
    const name = createHash('sha256').update(value).digest().subarray(0, 12).toString('base64url');
    const phc = `$firebase-scrypt$ln=${parameters.ln},r=${parameters.r},key=${name}$${text64(salted)}$${text64(bytes)}`;
    return { phc, secret: { name, value } };
  },
  verify(phc, password, secret) {
    const [, ln, r, , salt, hash] = FORM.exec(phc)!;
    if (secret === undefined) return false;
    const key = derive(password, Buffer.from(salt!, 'base64'), 32, { ln: Number(ln), r: Number(r), p: 1 });
    const cipher = createCipheriv('aes-256-ctr', key, ZERO);
    return timingSafeEqual(Buffer.concat([cipher.update(secret), cipher.final()]), Buffer.from(hash!, 'base64'));
  },
};
