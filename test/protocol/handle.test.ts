import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { random } from '../../src/platform/random.ts';
import { bucketOf, bucketOfId, drawHandle, drawId, handleFrom, newId, readHandle } from '../../src/protocol/handle.ts';

// From the epoch to the year 8000: six base36 digits of days.
const dates = fc.date({ min: new Date(0), max: new Date('8000-01-01'), noInvalidDate: true });
const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));

test('a handle holds 256 bits, leads to the day its row expires, and is kept as SHA-256 of the whole', () => {
  const property = fc.property(dates, secrets, (expires_at, secret) => {
    const { handle, expires_bucket, hash } = drawHandle(() => secret, expires_at);
    const [bucket, text, ...rest] = handle.split(/_(.*)/s);
    expect(Number.parseInt(bucket!, 36)).toBe(bucketOf(expires_at));
    expect(Buffer.from(text!, 'base64url')).toEqual(secret);
    expect(rest).toEqual(['']);
    expect(hash).toEqual(createHash('sha256').update(handle).digest());
    expect(readHandle(handle)).toEqual({ expires_bucket, hash });
  });
  fc.assert(property);
});

test('a row of bucket b has expired by the end of day b, and not before day b', () => {
  const property = fc.property(dates, (expires_at) => {
    const day = 86_400_000;
    expect(expires_at.getTime()).toBeGreaterThanOrEqual(bucketOf(expires_at) * day);
    expect(expires_at.getTime()).toBeLessThan((bucketOf(expires_at) + 1) * day);
  });
  fc.assert(property);
});

test.each([
  '',
  '_',
  `g15_${'x'.repeat(42)}`,
  `g15_${'x'.repeat(44)}`,
  `G15_${'x'.repeat(43)}`,
  `g15-${'x'.repeat(43)}`,
  `g15_${'x'.repeat(42)}=`,
  `g15_${'x'.repeat(43)}\n`,
  ` g15_${'x'.repeat(43)}`,
  `1234567_${'x'.repeat(43)}`,
  `zzzzzz_${'\u0000'.repeat(43)}`,
])('%j is no handle', (text) => {
  expect(readHandle(text)).toBeUndefined();
});

test('a bucket that Postgres’ integer cannot hold is nobody’s', () => {
  const greatest = (0x7fff_ffff).toString(36);
  expect(readHandle(`${greatest}_${'x'.repeat(43)}`)?.expires_bucket).toBe(0x7fff_ffff);
  expect(readHandle(`${(0x8000_0000).toString(36)}_${'x'.repeat(43)}`)).toBeUndefined();
  expect(bucketOfId(`${greatest}_${'x'.repeat(22)}`)).toBe(0x7fff_ffff);
  expect(bucketOfId(`${(0x8000_0000).toString(36)}_${'x'.repeat(22)}`)).toBeUndefined();
});

test('any text is read or refused, never thrown at', () => {
  const text = fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
  const property = fc.property(text, (any) => {
    expect(() => [readHandle(any), bucketOfId(any)]).not.toThrow();
  });
  fc.assert(property);
});

test('an identifier leads to its bucket, and a handle is no identifier', () => {
  const property = fc.property(dates, (expires_at) => {
    expect(bucketOfId(drawId(random, expires_at))).toBe(bucketOf(expires_at));
    expect(bucketOfId(drawHandle(random, expires_at).handle)).toBeUndefined();
  });
  fc.assert(property);
});

test('another bucket or another secret is another hash', () => {
  const secret = random(32);
  const { hash } = handleFrom(20_000, secret);
  expect(handleFrom(20_001, secret).hash).not.toEqual(hash);
  expect(handleFrom(20_000, random(32)).hash).not.toEqual(hash);
  expect(handleFrom(20_000, secret).hash).toEqual(hash);
});

test('an id that people paste never begins with what a command line takes for an option', () => {
  // In base64url the bytes f8 to fb begin with a hyphen.
  const drawn = [Buffer.from('f80000', 'hex'), Buffer.from('fbffff', 'hex'), Buffer.from('03e03e', 'hex')];
  expect(newId(() => drawn.shift()!, 3)).toBe('A-A-');
  expect(drawn).toEqual([]);
});
