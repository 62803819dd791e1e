/** Users: who is signing in. Credentials -> a person, behind the throttle. Sessions are made from what this returns. */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import { levelOf } from '../protocol/acr.ts';
import { OAuthError, tooManyRequests, type Explanation } from '../protocol/error.ts';
import { secondsAfter, secondsUntil } from '../protocol/numeric-date.ts';
import { ACCOUNT_LIMIT, ACCOUNT_PAUSE, delayAfter, FADES_AFTER, PASSWORD_POLICY } from '../protocol/throttle.ts';
import * as failures from '../store/failures.ts';
import * as users from '../store/users.ts';
import { knownDevice, readDevice } from './device.ts';

export interface Credentials {
  /** Username or e-mail address. */
  username: string;
  password: string;
  /** The device cookie, if the browser has one. */
  device: string | undefined;
}

/** Somebody proved who they are. */
export interface SignedIn {
  sub: string;
  username: string;
  /** RFC 8176. */
  amr: string[];
  acr: string;
  /** When the password that was proven was set: a session may start only while it is still the one. */
  password_changed_at: Date | null;
  /** The device cookie to set. */
  device: string;
}

const PASSWORD = ['pwd'];
/** What people can show of themselves here: the methods (RFC 8176) of each way to sign in. */
export const WAYS_TO_SIGN_IN: ReadonlyArray<readonly string[]> = [PASSWORD];

type Needs = Pick<Deps, 'db' | 'passwords' | 'secrets' | 'random' | 'clock'>;

/**
 * Checks a password. Unknown account, wrong password and disabled account are one answer and take one time.
 * @throws OAuthError invalid_credentials, too_many_requests, temporarily_unavailable
 */
export function signIn(deps: Needs, credentials: Credentials, by: Requester): Promise<SignedIn> {
  // The throttle is read inside the turn: of many guesses at once, no more are heard than have a turn.
  return deps.passwords.turn(async () => {
    const now = deps.clock();
    const user = await users.findForSignIn(deps.db, credentials.username);
    const account = user?.sub ?? nobody(deps, credentials.username);
    const device = user && readDevice(deps.secrets, credentials.device, user.sub, now);
    const keys = {
      account: `password:${account}`,
      lane: `password:${account}:${device === undefined ? by.network : `device:${device}`}`,
    };
    const failed = await failures.read(deps.db, Object.values(keys), secondsAfter(now, -FADES_AFTER));
    refuseTooMany(failed, keys, { known: device !== undefined, sub: user?.sub }, now);

    const matches = await deps.passwords.verify(user?.phc ?? null, credentials.password);
    if (!user || !matches || user.disabled_at !== null) {
      await failures.count(deps.db, Object.values(keys), now, secondsAfter(now, -FADES_AFTER));
      const cause = user ? (matches ? 'disabled account' : 'wrong password') : 'unknown account';
      throw new OAuthError('invalid_credentials', 'the username or the password is not right', {
        cause,
        ...explanationOf(user, cause, credentials.username),
      });
    }
    if (failed.size > 0) await failures.forget(deps.db, Object.values(keys));
    if (user.phc !== null && deps.passwords.isOutdated(user.phc)) {
      await users.rehash(deps.db, user.sub, user.phc, await deps.passwords.hash(credentials.password));
    }
    const cookie = knownDevice(deps.secrets, deps.random, user.sub, now);
    const { sub, username, password_changed_at } = user;
    return { sub, username, amr: PASSWORD, acr: levelOf(PASSWORD), password_changed_at, device: cookie };
  });
}

/**
 * The account that a name without one stands for. People type passwords for their names: under a key of ours nobody who reads
 * the counts can try words against them. After a change of SECRET_KEYS such a name has its free attempts again.
 */
const nobody = ({ secrets }: Needs, typed: string): string =>
  `?${secrets.mac('typed-name', [users.fold(typed)]).toString('base64url')}`;

/**
 * For the operator alone. What was typed for a name that nobody has is not kept: people type passwords there.
 */
function explanationOf(
  user: Pick<users.User, 'sub' | 'username'> | undefined,
  cause: string,
  typed: string,
): Explanation {
  if (!user) {
    const name = `a name of ${typed.length} characters${typed.includes('@') ? ' with an @' : ''}`;
    return { check: 'account', expected: 'the username or e-mail address of an account', received: name };
  }
  const { sub, username } = user;
  if (cause === 'wrong password') {
    return { check: 'password', expected: `the password of ${username}`, received: 'another password', sub };
  }
  return { check: 'account', expected: 'an account that is not disabled', received: `${username}, disabled`, sub };
}

/** No hard lock: a delay for this network or device, and a crawl for strangers once an account is under attack. */
function refuseTooMany(
  failed: ReadonlyMap<string, failures.Failures>,
  keys: { account: string; lane: string },
  { known, sub }: { known: boolean; sub: string | undefined },
  now: Date,
): void {
  const lane = failed.get(keys.lane);
  const account = failed.get(keys.account);
  const free = [now];
  if (lane) free.push(secondsAfter(lane.last_at, delayAfter(lane.count, PASSWORD_POLICY)));
  if (account && !known && account.count >= ACCOUNT_LIMIT) free.push(secondsAfter(account.last_at, ACCOUNT_PAUSE));
  const until = free.reduce((latest, time) => (time > latest ? time : latest));
  if (until > now) {
    const retry_after = Math.max(1, secondsUntil(until, now));
    throw tooManyRequests('too many failed attempts, wait and try again', {
      retry_after,
      check: 'sign_in_attempts',
      expected: `a pause until ${until.toISOString()}`,
      received: `failed before: ${lane?.count ?? 0} from this network or device, ${account?.count ?? 0} in all`,
      sub,
    });
  }
}
