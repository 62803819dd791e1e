/**
 * PBKDF2 (RFC 8018 §5.2): Django's, Keycloak's credential, ASP.NET Identity's versions 2 and 3, Passlib's, and PHC strings. All are kept in
 * one form: `$pbkdf2-<digest>$i=<iterations>$<salt>$<hash>`.
 */
import { pbkdf2Sync, timingSafeEqual } from 'node:crypto';
import { credentialOf } from './keycloak.ts';
import { bytesOf, HashProblem, text64, within, type ForeignHash, type Scheme } from './scheme.ts';

const BYTES: Readonly<Record<string, number>> = { sha1: 20, sha256: 32, sha512: 64 };
// Five millions of the cheapest take two seconds.
const MAX_ITERATIONS = 5_000_000;

const FORM = /^\$pbkdf2(?:-(sha1|sha256|sha512))?\$(?:i=)?(\d{1,9})(?:,l=\d+)?\$([\w+/.-]+)\$([\w+/.-]+)$/;
const DJANGO = /^pbkdf2_(sha1|sha256)\$(\d{1,9})\$([^$]+)\$([\w+/]+=*)$/;

/** @throws HashProblem */
function stored(digest: string, iterations: unknown, salt: Buffer, hash: Buffer): ForeignHash {
  const bytes = BYTES[digest];
  if (bytes === undefined) throw new HashProblem('is of a PBKDF2 with another digest than SHA-1, SHA-256 and SHA-512');
  if (hash.length < 16 || hash.length > 128) throw new HashProblem('has a hash of another length than 16 to 128 bytes');
  if (salt.length === 0) throw new HashProblem('has no salt');
  // Each block of the hash takes all iterations.
  const blocks = Math.ceil(hash.length / bytes);
  const i = within(iterations, 'number of iterations', 1, Math.floor(MAX_ITERATIONS / blocks));
  return { phc: `$pbkdf2-${digest}$i=${i}$${text64(salt)}$${text64(hash)}` };
}

// https://github.com/dotnet/aspnetcore, PasswordHasher: a byte for the version, then numbers in network order.
const DIGESTS = ['sha1', 'sha256', 'sha512'] as const;
function aspNet(text: string): ForeignHash | undefined {
  // 45 bytes of version 3 at the least, 49 of version 2.
  if (!/^A[\w+/]{59,600}={0,2}$/.test(text)) return undefined;
  const bytes = bytesOf(text, 'text');
  if (bytes[0] === 0 && bytes.length === 49) return stored('sha1', 1000, bytes.subarray(1, 17), bytes.subarray(17));
  if (bytes[0] !== 1 || bytes.length < 13 + 16 + 16) return undefined;
  const salt_end = 13 + bytes.readUInt32BE(9);
  if (salt_end > bytes.length) throw new HashProblem('is cut off');
  return stored(
    DIGESTS[bytes.readUInt32BE(1)] ?? 'another',
    bytes.readUInt32BE(5),
    bytes.subarray(13, salt_end),
    bytes.subarray(salt_end),
  );
}

export const pbkdf2: Scheme = {
  title: 'PBKDF2',
  form: FORM,
  read(given) {
    if (typeof given !== 'string') {
      const credential = credentialOf(given);
      if (!credential?.algorithm.startsWith('pbkdf2')) return undefined;
      const digest = credential.algorithm === 'pbkdf2' ? 'sha1' : credential.algorithm.slice('pbkdf2-'.length);
      return stored(digest, credential.iterations, credential.salt, credential.hash);
    }
    if (!/^\$?pbkdf2/.test(given)) return aspNet(given);
    const [, digest = 'sha1', i, salt, hash] = FORM.exec(given) ?? [];
    if (salt !== undefined && hash !== undefined) {
      return stored(digest, i, bytesOf(salt, 'salt'), bytesOf(hash, 'hash'));
    }
    const [, django, iterations, text_salt, django_hash] = DJANGO.exec(given) ?? [];
    if (django === undefined || text_salt === undefined || django_hash === undefined) {
      throw new HashProblem('is no PBKDF2 hash of Django, of Passlib or in PHC form');
    }
    // Its salt is text, and used as such.
    return stored(django, iterations, Buffer.from(text_salt), bytesOf(django_hash, 'hash'));
  },
  verify(phc, password) {
    const [, digest, iterations, salt, hash] = FORM.exec(phc)!;
    const expected = Buffer.from(hash!, 'base64');
    const salted = Buffer.from(salt!, 'base64');
    return timingSafeEqual(pbkdf2Sync(password, salted, Number(iterations), expected.length, digest!), expected);
  },
};
