/** How often mail may be asked for: by the name that was typed, whether or not there is such an account, and by the network. */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import { tooManyRequests } from '../protocol/error.ts';
import { foldName } from '../protocol/names.ts';
import { secondsAfter, secondsUntil } from '../protocol/numeric-date.ts';
import { blockedUntil, FADES_AFTER, MAIL_NETWORK_POLICY, MAIL_POLICY, type Lane } from '../protocol/throttle.ts';
import * as failures from '../store/failures.ts';

/**
 * Counts a request for mail. What is counted is what was typed, under a key of ours: it says nothing of accounts, and
 * takes the same statements for every name.
 * @throws OAuthError too_many_requests
 */
export async function countRequest(
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  kind: string,
  typed: string,
  by: Requester,
  now: Date,
): Promise<void> {
  const name = secrets.mac('typed-name', [kind, foldName(typed)]).toString('base64url');
  const lanes: Lane[] = [
    { key: `mail:${kind}:${name}`, policy: MAIL_POLICY },
    { key: `mail:${by.network}`, policy: MAIL_NETWORK_POLICY },
  ];
  const { granted, failed } = await failures.reserve(db, lanes, now, secondsAfter(now, -FADES_AFTER));
  if (granted) return;
  const until = blockedUntil(failed, lanes, now) ?? now;
  throw tooManyRequests('mail was asked for too often, wait and try again', {
    retry_after: Math.max(1, secondsUntil(until, now)),
    check: 'mail_requests',
    expected: `a pause until ${until.toISOString()}`,
    received: 'another request from this network, or for this name',
  });
}
