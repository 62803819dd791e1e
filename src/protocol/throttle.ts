/** How long to wait after failed guesses. A delay that grows, never a lock that a stranger can close for good. */

/** How failures slow their maker down. */
export interface ThrottlePolicy {
  /** Failures that cost nothing. */
  free: number;
  /** Longest delay, in seconds. */
  longest: number;
}

/** Guesses of a password, per account and network or known device. */
export const PASSWORD_POLICY: ThrottlePolicy = { free: 5, longest: 900 };
/** Guesses of a client secret, per client and network: libraries probe with a first failure, and deployments restart. */
export const CLIENT_SECRET_POLICY: ThrottlePolicy = { free: 20, longest: 60 };
/** Guesses of a user code (RFC 8628 §5.1), per browser, and per network for those that throw their cookies away. */
export const USER_CODE_POLICY: ThrottlePolicy = { free: 5, longest: 900 };
export const USER_CODE_NETWORK_POLICY: ThrottlePolicy = { free: 30, longest: 300 };
/** NIST 800-63B-4 §3.2.2: consecutive failures of one account, from anywhere, before strangers are slowed to a crawl. */
export const ACCOUNT_LIMIT = 100;
/** Seconds between attempts on such an account from browsers that never signed in to it. */
export const ACCOUNT_PAUSE = 3600;
/** Seconds without failure after which a count has faded. */
export const FADES_AFTER = 86_400;

/** Seconds from the last failure until the next guess is heard: nothing, then 1, 2, 4, … up to the longest. */
export const delayAfter = (count: number, { free, longest }: ThrottlePolicy): number =>
  count < free ? 0 : Math.min(longest, 2 ** Math.min(count - free, 20));
