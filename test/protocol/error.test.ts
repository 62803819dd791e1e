import fc from 'fast-check';
import { expect, test } from 'vitest';
import { invalidClient, invalidGrant, OAuthError, type ErrorCode } from '../../src/protocol/error.ts';

test.each<[ErrorCode, number, string]>([
  ['invalid_request', 400, 'RFC 6749 §5.2'],
  ['invalid_client', 401, 'RFC 6749 §5.2'],
  ['invalid_grant', 400, 'RFC 6749 §5.2'],
  ['unauthorized_client', 400, 'RFC 6749 §5.2'],
  ['unsupported_grant_type', 400, 'RFC 6749 §5.2'],
  ['invalid_scope', 400, 'RFC 6749 §5.2'],
  ['invalid_token', 401, 'RFC 6750 §3.1'],
  ['insufficient_scope', 403, 'RFC 6750 §3.1'],
  ['invalid_target', 400, 'RFC 8707 §2'],
  ['server_error', 500, 'RFC 6749 §4.1.2.1'],
  ['temporarily_unavailable', 503, 'RFC 6749 §4.1.2.1'],
  ['too_many_requests', 429, 'RFC 6585 §4'],
  ['method_not_allowed', 405, 'RFC 9110 §15.5.6'],
])('%s is answered with %i (%s)', (error, status) => {
  expect(new OAuthError(error, 'why')).toMatchObject({ error, status });
});

test('RFC 6749 §5.2: error_description holds %x20-21 / %x23-5B / %x5D-7E and nothing else', () => {
  expect(invalidGrant('a "quoted" ü \\ \r\n\0 name').error_description).toBe("a 'quoted' ? ? ??? name");
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (text) => {
      expect(invalidGrant(text).error_description).toMatch(/^[\x20\x21\x23-\x5B\x5D-\x7E]*$/);
    }),
    { numRuns: 50 },
  );
});

test('ASVS 16.5.1: the cause is kept for the log and is no part of the description', () => {
  const refusal = invalidClient('client authentication failed', { cause: 'unknown client' });
  expect(refusal.cause).toBe('unknown client');
  expect(refusal.error_description).toBe('client authentication failed');
  expect(refusal.message).not.toContain('unknown client');
});
