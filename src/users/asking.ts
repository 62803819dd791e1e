/**
 * How often mail may be asked for, and codes of mails be guessed: by the name that was typed, whether or not there is such an account,
 * and by the network.
 */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import { tooManyRequests } from '../protocol/error.ts';
import { foldName } from '../protocol/names.ts';
import { secondsAfter, secondsUntil } from '../protocol/numeric-date.ts';
import {
  blockedUntil,
  FADES_AFTER,
  MAIL_CODE_NETWORK_POLICY,
  MAIL_CODE_POLICY,
  MAIL_NETWORK_POLICY,
  MAIL_POLICY,
  type Lane,
} from '../protocol/throttle.ts';
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
  const lanes: Lane[] = [
    { key: `mail:${keyOf(secrets, kind, typed)}`, policy: MAIL_POLICY },
    { key: `mail:${by.network}`, policy: MAIL_NETWORK_POLICY },
  ];
  await reserve(db, lanes, now, 'mail was asked for too often, wait and try again', 'mail_requests');
}

/**
 * Takes a code that was typed for an address: counted as wrong before it is judged, over all mails that the address got, and released
 * where it was right. What was wrong before stays: whoever signs in does not give strangers their guesses anew.
 * @throws OAuthError too_many_requests
 */
export async function guessCode<T>(
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  { kind, typed, by, now }: { kind: string; typed: string; by: Requester; now: Date },
  judge: () => Promise<T>,
): Promise<T> {
  const lanes: Lane[] = [
    { key: `mail-code:${keyOf(secrets, kind, typed)}`, policy: MAIL_CODE_POLICY },
    { key: `mail-code:${by.network}`, policy: MAIL_CODE_NETWORK_POLICY },
  ];
  await reserve(db, lanes, now, 'too many wrong codes, wait or use the link of the mail', 'mail_code_attempts');
  const outcome = await judge();
  if (outcome !== 'wrong' && outcome !== 'over') {
    const keys = lanes.map(({ key }) => key);
    await failures.release(db, keys);
  }
  return outcome;
}

const keyOf = (secrets: Deps['secrets'], kind: string, typed: string): string =>
  `${kind}:${secrets.mac('typed-name', [kind, foldName(typed)]).toString('base64url')}`;

/** @throws OAuthError too_many_requests */
async function reserve(
  db: Deps['db'],
  lanes: readonly Lane[],
  now: Date,
  description: string,
  check: 'mail_requests' | 'mail_code_attempts',
): Promise<void> {
  const { granted, failed } = await failures.reserve(db, lanes, now, secondsAfter(now, -FADES_AFTER));
  if (granted) return;
  const until = blockedUntil(failed, lanes, now) ?? now;
  throw tooManyRequests(description, {
    retry_after: Math.max(1, secondsUntil(until, now)),
    check,
    expected: `a pause until ${until.toISOString()}`,
    received: 'another from this network, or for this name',
  });
}
