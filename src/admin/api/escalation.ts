/** No escalation: a caller cannot create or take over a client with more scope of this API than its own token has. */
import { isAdminScope } from '../../protocol/admin-api.ts';
import { Problem } from './problem.ts';
import type { Call } from './collection.ts';

/**
 * Refuses to write a client that may, or is to, do what the caller's token does not: with its secret, its keys or its scope
 * in hand, `clients:write` would be every scope there is. @throws Problem forbidden
 */
export function refuseEscalation({ token_scope }: Pick<Call, 'token_scope'>, scope: readonly string[]): void {
  if (token_scope === undefined) return;
  const beyond = scope.filter((name) => isAdminScope(name) && !token_scope.includes(name));
  if (beyond.length === 0) return;
  const expected = beyond.join(' ');
  throw new Problem('forbidden', `for a client with these scopes the access token needs them too: ${expected}`, {
    expected,
    received: token_scope.join(' '),
  });
}
