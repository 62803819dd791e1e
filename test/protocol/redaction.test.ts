import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { kindOf, MAX_SHOWN, redact, sizeOf } from '../../src/protocol/redaction.ts';

const secret = randomBytes(32).toString('base64url');
const jwt = `eyJhbGciOiJSUzI1NiJ9.${secret}.${secret}`;

describe('ASVS 16.2.5: what is kept of a request has no secret in it', () => {
  test.each([
    ['a random secret', secret],
    ['in a sentence', `typ ${secret} is not`],
    ['a handle', `gj4_${secret}`],
    ['a JWT', jwt],
    ['a UUID', '0197f3a2-6c1e-7b5d-9f0a-3f1d2c4b5a69'],
    ['hexadecimal', randomBytes(16).toString('hex')],
    ['in a path', `https://app.example.test/${secret}/x`],
    ['cut in the middle', `${'x '.repeat(980)}${secret.repeat(2)}`],
  ])('%s', (_what, text) => {
    const kept = redact(text);
    for (let i = 0; i + 12 <= secret.length; i += 1) expect(kept).not.toContain(secret.slice(i, i + 12));
    expect(kept).not.toMatch(/[\da-f]{16}|9f0a-3f1d/);
  });

  test.each([
    ['https://ada:hunter2@app.example.test/', 'https://ada:(hidden)@app.example.test/'],
    ['https://app.example.test/?code=short&x=1', 'https://app.example.test/?code=(hidden)&x=1'],
    ['https://app.example.test/callback?x=1', 'https://app.example.test/callback?x=1'],
    ['openid profile notes:read', 'openid profile notes:read'],
    ['urn:ietf:params:oauth:grant-type:device_code', 'urn:ietf:params:oauth:grant-type:device_code'],
  ])('%s is kept as %s', (text, kept) => {
    expect(redact(text)).toBe(kept);
  });

  test('what is registered with us is no secret', () => {
    const registered = 'https://app.example.test/0197f3a2-6c1e-7b5d-9f0a-3f1d2c4b5a69/cb';
    expect(redact(`${registered}/`, registered)).toBe(`${registered}/`);
  });

  test('of a token the kind and a fingerprint, of anything else the size', () => {
    expect(kindOf(`gj4_${secret}`)).toMatch(/^a handle of ours, fingerprint [\da-f]{8}$/);
    expect(kindOf(jwt)).toMatch(/^a JWT, fingerprint [\da-f]{8}$/);
    expect(kindOf('hunter2')).toBe('7 characters that are no token of ours');
    expect([kindOf(''), kindOf(undefined), sizeOf(''), sizeOf('hunter2')]).toEqual([
      'none',
      'none',
      'none',
      '7 characters',
    ]);
  });
});

test('it is bounded, and hostile text takes no time', () => {
  // Work, not time: others share the processor.
  const begun = process.threadCpuUsage();
  for (const piece of ['a', ':', '//:', '//a:b', 'code=', 'a1_', '.a', '\u202e', '\ud800']) {
    const kept = redact(piece.repeat(100_000));
    expect(kept.length).toBeLessThanOrEqual(MAX_SHOWN + 1);
    expect(kept).not.toMatch(/[\u202e\ud800]/);
  }
  expect(process.threadCpuUsage(begun).user / 1000).toBeLessThan(200);
});
