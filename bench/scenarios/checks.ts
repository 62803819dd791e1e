/** What sample answers must hold, so that a row measures what its title says. */
import assert from 'node:assert/strict';

const memberOf = (body: string, member: string): unknown => (JSON.parse(body) as Record<string, unknown>)[member];

/** Is this member a JWT of this algorithm? @throws AssertionError */
export function isSignedBy(body: string, member: string, alg: string): void {
  const [header = ''] = String(memberOf(body, member)).split('.');
  assert.equal((JSON.parse(Buffer.from(header, 'base64url').toString()) as { alg: string }).alg, alg, member);
}

/** Is the access token no JWT? @throws AssertionError */
export function isOpaque(body: string): void {
  assert.match(String(memberOf(body, 'access_token')), /^[^.]+$/);
}

/** @throws AssertionError */
export function has(body: string, member: string, value?: unknown): void {
  const found = memberOf(body, member);
  assert.notEqual(found, undefined, `${member} is missing in ${body}`);
  if (value !== undefined) assert.equal(found, value);
}

/** @throws AssertionError */
export function hasNot(body: string, member: string): void {
  assert.equal(memberOf(body, member), undefined);
}
