/** How long to wait after failed guesses. A delay that grows, never a lock that a stranger can close for good. */
import { DAY, secondsAfter } from './numeric-date.ts';

/** How failures slow their maker down. */
export interface ThrottlePolicy {
  /** Failures that cost nothing. */
  free: number;
  /** The delay after the first that does, in seconds. Each further failure doubles it. */
  first: number;
  /** Longest delay, in seconds. */
  longest: number;
}

/** What is counted under one key, and what that costs. */
export interface Lane {
  key: string;
  policy: ThrottlePolicy;
}

/** How often something failed in a row, and when last. */
export interface Failures {
  count: number;
  last_at: Date;
}

/** Guesses of a password, per name and network or known device. */
export const PASSWORD_POLICY: ThrottlePolicy = { free: 5, first: 1, longest: 900 };
/**
 * NIST 800-63B-4 §3.2.2: at most 100 consecutive failures of one account, from anywhere, before strangers are slowed to a crawl.
 * They are counted per name, and an account has two: were they one count, it would tell whose address a name goes with.
 */
export const NAME_POLICY: ThrottlePolicy = { free: 50, first: 3600, longest: 3600 };
/** Counted, and never waited for. */
export const ONLY_COUNTED: ThrottlePolicy = { free: 0x7fff_ffff, first: 0, longest: 0 };
/** Guesses of a client secret, per client and network: libraries probe with a first failure, and deployments restart. */
export const CLIENT_SECRET_POLICY: ThrottlePolicy = { free: 20, first: 1, longest: 60 };
/** Guesses of a user code (RFC 8628 §5.1), per browser, and per network for those that throw their cookies away. */
export const USER_CODE_POLICY: ThrottlePolicy = { free: 5, first: 1, longest: 900 };
export const USER_CODE_NETWORK_POLICY: ThrottlePolicy = { free: 30, first: 1, longest: 300 };
/** Passkeys that could not be verified, per network: nothing of them can be guessed, but each costs a signature. */
export const PASSKEY_NETWORK_POLICY: ThrottlePolicy = { free: 30, first: 1, longest: 300 };
/**
 * Codes of mails that were typed wrong, for one address, over all its mails: twenty, then one an hour. A million codes are tried at less
 * than fifty a day then, however many mails somebody asks for; a link has nothing to be guessed, and goes on.
 */
export const MAIL_CODE_POLICY: ThrottlePolicy = { free: 20, first: 3600, longest: 3600 };
/** The same from one network, for whatever addresses: many people may share it, and each mistypes a code now and then. */
export const MAIL_CODE_NETWORK_POLICY: ThrottlePolicy = { free: 200, first: 1, longest: 60 };
/** Mails that a name is asked for: somebody who waits for one asks again, and nobody fills another's mailbox. */
export const MAIL_POLICY: ThrottlePolicy = { free: 5, first: 60, longest: 3600 };
/** The same from one network, for whatever names. */
export const MAIL_NETWORK_POLICY: ThrottlePolicy = { free: 50, first: 10, longest: 600 };
/** Seconds without failure after which a count has faded. */
export const FADES_AFTER = DAY;

/** Doublings until the longest of all delays is long past. */
export const MOST_DOUBLINGS = 20;

/** Seconds from the last failure until the next guess is accepted: nothing, then 1, 2, 4, … up to the longest. */
export const delayAfter = (count: number, { free, first, longest }: ThrottlePolicy): number =>
  count < free ? 0 : Math.min(longest, first * 2 ** Math.min(count - free, MOST_DOUBLINGS));

/** Was the last failure the one that used up what a lane has free, or as much once more? */
export const usedUp = (failed: ReadonlyMap<string, Failures>, lanes: readonly Lane[]): boolean =>
  lanes.some(({ key, policy: { free } }) => {
    const { count } = failed.get(key) ?? { count: 0 };
    return count > 0 && count % free === 0;
  });

/** When a guess in these lanes is accepted again, after what failed in them; undefined when it is at once. */
export function blockedUntil(
  failed: ReadonlyMap<string, Failures>,
  lanes: readonly Lane[],
  now: Date,
): Date | undefined {
  let until: Date | undefined;
  for (const { key, policy } of lanes) {
    const lane = failed.get(key);
    const delay = lane ? delayAfter(lane.count, policy) : 0;
    if (!lane || delay === 0) continue;
    const free = secondsAfter(lane.last_at, delay);
    if (free > now && (until === undefined || free > until)) until = free;
  }
  return until;
}
