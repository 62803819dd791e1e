import { expect, test } from 'vitest';
import { RESPONSE_MODES, RESPONSE_TYPES } from '../../src/protocol/authorization-request.ts';
import { SIGNING_ALGS } from '../../src/protocol/signing-alg.ts';

test('RFC 8725 §3.1: every algorithm is asymmetric; there is no none and no HS256', () => {
  expect(SIGNING_ALGS).toEqual(['RS256', 'ES256', 'PS256', 'EdDSA']);
});

test('specification §What the service does 4: code is the only response_type, and nothing travels in a fragment', () => {
  expect(RESPONSE_TYPES).toEqual(['code']);
  expect(RESPONSE_MODES).toEqual(['query', 'form_post', 'jwt', 'query.jwt', 'form_post.jwt']);
});
