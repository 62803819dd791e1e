/** Sign-in: from credentials to a person, behind the throttle. Sessions are started from what this returns. */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import { levelOf } from '../protocol/acr.ts';
import { OAuthError, tooManyRequests, type Explanation } from '../protocol/error.ts';
import { foldName } from '../protocol/names.ts';
import { secondsAfter, secondsUntil } from '../protocol/numeric-date.ts';
import {
  blockedUntil,
  FADES_AFTER,
  NAME_POLICY,
  ONLY_COUNTED,
  PASSWORD_POLICY,
  type Failures,
  type Lane,
} from '../protocol/throttle.ts';
import * as failures from '../store/failures.ts';
import * as users from '../store/users.ts';
import { knownDevices, readDevice } from './device.ts';
import { endOfDrawn } from './drawn-password.ts';
import { openForeignSecret } from './foreign-secrets.ts';
import { noteGuess } from './suspicion.ts';

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
  /** Was it drawn for them? Then they choose another first, in a browser. */
  password_drawn?: boolean;
  /** The passkey that was used, where one was: a session may start only while it is still theirs. */
  credential_id?: Buffer | undefined;
  /** The address whose mail was answered, where one was: a session may start only while it is still theirs. */
  email?: string | undefined;
  /** The device cookie to set. */
  device: string;
  /** The second factors they have, by name: what is proven may not be enough (factors/policy.ts). */
  second_factors: readonly string[];
  /** When the account is to be erased, as its person wishes: only a browser has the page that keeps it. */
  erase_after?: Date | null;
}

const PASSWORD = ['pwd'];

type Needs = Pick<Deps, 'db' | 'passwords' | 'secrets' | 'random' | 'clock' | 'log'>;

/**
 * Checks a password. Unknown account, wrong password and disabled account are one answer and take one time.
 * @throws OAuthError invalid_credentials, too_many_requests, temporarily_unavailable
 */
export function signIn(deps: Needs, credentials: Credentials, by: Requester): Promise<SignedIn> {
  // The throttle is read inside the turn: of many guesses at once, no more are heard than have a turn.
  return deps.passwords.turn(async () => {
    const now = deps.clock();
    const since = secondsAfter(now, -FADES_AFTER);
    const user = await users.findForSignIn(deps.db, credentials.username);
    const device = user && readDevice(deps.secrets, credentials.device, user, now);
    const known = user && device !== undefined ? `${user.sub}:device:${device}` : undefined;
    const lanes = lanesOf(deps, credentials.username, known, by);
    const keys = lanes.map(({ key }) => key);
    let failed = await failures.read(deps.db, keys, since);
    refuseTooMany(failed, lanes, user?.sub, now);
    // Where none failed, those at the same time are no more than have their turn, and a success writes nothing.
    const suspected = failed.size > 0;
    if (suspected) {
      const reservation = await failures.reserve(deps.db, lanes, now, since);
      ({ failed } = reservation);
      if (!reservation.granted) refuseTooMany(failed, lanes, user?.sub, now);
    }

    const matches = await deps.passwords.verify(user?.phc ?? null, credentials.password, (name) =>
      openForeignSecret(deps, name),
    );
    const over = user?.password_drawn === true && endOfDrawn(user.password_changed_at!) <= now;
    if (!user || !matches || over || user.disabled_at !== null) {
      if (suspected) await noteGuess(deps, { of: 'password', name: credentials.username }, { failed, lanes }, by, now);
      else await failures.count(deps.db, keys, now, since);
      const wrong = matches ? (over ? 'expired password' : 'disabled account') : 'wrong password';
      const cause = user ? wrong : 'unknown account';
      throw new OAuthError('invalid_credentials', 'the username or the password is not right', {
        cause,
        ...explanationOf(user, cause, credentials.username),
      });
    }
    if (suspected) await failures.forget(deps.db, keys);
    if (user.phc !== null && deps.passwords.isOutdated(user.phc)) {
      await users.rehash(deps.db, user.sub, user.phc, await deps.passwords.hash(credentials.password));
    }
    const cookie = knownDevices(deps.secrets, deps.random, credentials.device, user, now);
    const { sub, username, password_changed_at, password_drawn, second_factors, erase_after } = user;
    const shown = { amr: PASSWORD, acr: levelOf(PASSWORD) };
    const password = { password_changed_at, password_drawn };
    return { sub, username, ...shown, ...password, device: cookie, second_factors, erase_after };
  });
}

/**
 * What a guess is counted under: the name as it was typed, from this network; or for a browser that signed in to the account
 * before, that browser alone. Never the account: from a count that its names share, anybody could tell that they are of one
 * person. People type passwords for their names: under a key of ours nobody who reads the counts can try words
 * against them. After a change of SECRET_KEYS each name has its free attempts again.
 */
function lanesOf(
  { secrets }: Needs,
  typed: string,
  device: string | undefined,
  by: Requester,
): readonly [own: Lane, name: Lane] {
  const name = `password:${secrets.mac('typed-name', [foldName(typed)]).toString('base64url')}`;
  const own = device === undefined ? `${name}:${by.network}` : `password:${device}`;
  return [
    { key: own, policy: PASSWORD_POLICY },
    { key: name, policy: device === undefined ? NAME_POLICY : ONLY_COUNTED },
  ];
}

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
  if (cause === 'expired password') {
    return {
      check: 'password',
      expected: 'a password of their own',
      received: 'the drawn one, which has expired',
      sub,
    };
  }
  return { check: 'account', expected: 'an account that is not disabled', received: `${username}, disabled`, sub };
}

/** No hard lock: a delay for this network or device, and a crawl for strangers once a name is under attack. */
function refuseTooMany(
  failed: ReadonlyMap<string, Failures>,
  lanes: readonly [own: Lane, name: Lane],
  sub: string | undefined,
  now: Date,
): void {
  const until = blockedUntil(failed, lanes, now);
  if (until === undefined) return;
  const [own, name] = lanes.map(({ key }) => failed.get(key)?.count ?? 0);
  throw tooManyRequests('too many failed attempts, wait and try again', {
    retry_after: Math.max(1, secondsUntil(until, now)),
    check: 'sign_in_attempts',
    expected: `a pause until ${until.toISOString()}`,
    received: `failed before: ${own} from this network or device, ${name} in all`,
    sub,
  });
}
