/** Proof Key for Code Exchange (RFC 7636), S256 only: `plain` protects nobody who needs protecting (RFC 9700 §2.1.1). */
import { hash } from 'node:crypto';
import { invalidRequest } from './error.ts';
import { sizeOf } from './redaction.ts';

export const CODE_CHALLENGE_METHODS = ['S256'] as const;

// RFC 7636 §4.1: 43 to 128 unreserved characters.
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;
// §4.2: base64url of a SHA-256 is 43 characters, the last of which carries four bits.
const CHALLENGE = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/** BASE64URL(SHA-256(code_verifier)). */
export const challengeOf = (code_verifier: string): string => hash('sha256', code_verifier, 'base64url');

/**
 * The challenge of an authorization request, or undefined when none was sent and none is required.
 * @throws OAuthError invalid_request for `plain`, a missing method, a malformed or a missing challenge (§4.4.1)
 */
export function parseChallenge(
  code_challenge: string | undefined,
  code_challenge_method: string | undefined,
  required: boolean,
): string | undefined {
  if (code_challenge === undefined) {
    const none = { check: 'pkce', expected: 'code_challenge', received: 'none' } as const;
    if (code_challenge_method !== undefined) throw invalidRequest('code_challenge is missing', none);
    if (required) throw invalidRequest('code_challenge is required (PKCE, RFC 7636)', none);
    return undefined;
  }
  // §4.3: a missing method means plain, which is not supported.
  if (code_challenge_method !== 'S256') {
    const received = code_challenge_method ?? 'none, which means plain';
    const detail = { check: 'pkce', expected: 'code_challenge_method=S256', received } as const;
    throw invalidRequest('code_challenge_method must be S256', detail);
  }
  if (!CHALLENGE.test(code_challenge)) {
    throw invalidRequest('code_challenge is not a base64url SHA-256', {
      check: 'pkce',
      expected: '43 base64url characters without padding',
      received: sizeOf(code_challenge),
    });
  }
  return code_challenge;
}

/** The challenge a verifier answers. @throws OAuthError invalid_request when it is not 43 to 128 unreserved characters */
export function parseVerifier(code_verifier: string | undefined): string | undefined {
  if (code_verifier === undefined) return undefined;
  if (!VERIFIER.test(code_verifier)) {
    throw invalidRequest('code_verifier must be 43 to 128 unreserved characters', {
      check: 'code_verifier',
      expected: '43 to 128 of A-Z a-z 0-9 - . _ ~',
      received: sizeOf(code_verifier),
    });
  }
  return challengeOf(code_verifier);
}
