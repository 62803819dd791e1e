import { expect, test } from 'vitest';
import { tokenHash } from '../../src/protocol/token-hash.ts';

// OpenID Connect Core Appendix A.4
const TOKEN = 'jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y';

test('OpenID Connect Core §3.1.3.6: at_hash is the left half of the hash that the algorithm uses', () => {
  expect(tokenHash(TOKEN, 'RS256')).toBe('77QmUPtjPfzWtF2AnpK9RQ');
  expect(tokenHash(TOKEN, 'ES256')).toBe('77QmUPtjPfzWtF2AnpK9RQ');
  expect(tokenHash(TOKEN, 'PS256')).toBe('77QmUPtjPfzWtF2AnpK9RQ');
});

test('OpenID Connect Core §3.1.3.6: EdDSA takes half of a SHA-512', () => {
  expect(Buffer.from(tokenHash(TOKEN, 'EdDSA'), 'base64url')).toHaveLength(32);
});
