/** Nobody gives away, or takes over, more power over this API than their own access token has. */
import { isAdminScope } from '../protocol/admin-api.ts';
import { Problem } from './problem.ts';
import type { Call } from './resource.ts';

/**
 * Refuses to write a client that may, or is to, do what the caller's token does not: with its secret, its keys or its scope
 * in hand, `clients:write` would be every scope there is. @throws Problem forbidden
 */
export function requireHeld({ held }: Pick<Call, 'held'>, scope: readonly string[]): void {
  if (held === undefined) return;
  const beyond = scope.filter((name) => isAdminScope(name) && !held.includes(name));
  if (beyond.length === 0) return;
  const expected = beyond.join(' ');
  throw new Problem('forbidden', `for a client with these scopes the access token needs them too: ${expected}`, {
    expected,
    received: held.join(' '),
  });
}
