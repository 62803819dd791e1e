/** The proof of a second factor, behind its throttle. Only who showed the first comes here. */
import type { Deps } from '../deps.ts';
import type { Requester } from '../events/index.ts';
import { OAuthError, tooManyRequests } from '../protocol/error.ts';
import { secondsAfter, secondsUntil } from '../protocol/numeric-date.ts';
import { textOf, type Parameters } from '../protocol/parameters.ts';
import { blockedUntil, FADES_AFTER, NAME_POLICY, PASSWORD_POLICY, type Lane } from '../protocol/throttle.ts';
import * as failures from '../store/failures.ts';
import type { Trx } from '../store/postgres/db.ts';
import { LostKey, type Attempt, type ProofNeeds, type Proven } from './factors/factor.ts';
import { factorOf, secondFactors, type FactorName } from './factors/index.ts';
import { noteGuess } from './suspicion.ts';

type Needs = ProofNeeds & Pick<Deps, 'clock' | 'log'>;

/** A second factor that was shown. It counts once `claim` says so, in the transaction of what it opens. */
export interface SecondProof {
  factor: FactorName;
  /** RFC 8176. */
  amr: readonly string[];
  /** Uses it up, while the account's row is held. False when it was used before. */
  claim: (trx: Trx, now: Date) => Promise<boolean>;
  /** What to do when it counted: the guesses before it are forgotten. */
  settle: () => Promise<void>;
}

/** A proof of a factor, as it was sent. */
export interface Given {
  factor: FactorName;
  given: string;
}

/** Which of the factors a form brings a proof of, and the proof; undefined for none. */
export function proofIn(fields: Parameters): Given | undefined {
  for (const [factor, { field }] of secondFactors) {
    const given = field === undefined ? undefined : textOf(fields, field)?.trim();
    if (given !== undefined && given !== '') return { factor, given };
  }
  return undefined;
}

/**
 * Judges a second factor. Each guess is counted before it is judged, so that of many at once no more are heard than are free: by
 * account and network, and by account.
 * @throws OAuthError invalid_credentials, too_many_requests
 */
export async function proveSecondFactor(
  deps: Needs,
  sub: string,
  { factor, given }: Given,
  by: Requester,
  bound_to?: readonly string[],
): Promise<SecondProof> {
  const now = deps.clock();
  const lanes = lanesOf(sub, by);
  const keys = lanes.map(({ key }) => key);
  const { granted, failed } = await failures.reserve(deps.db, lanes, now, secondsAfter(now, -FADES_AFTER));
  if (!granted) {
    const until = blockedUntil(failed, lanes, now) ?? secondsAfter(now, 1);
    throw tooManyRequests('too many failed attempts, wait and try again', {
      retry_after: Math.max(1, secondsUntil(until, now)),
      check: 'second_factor_attempts',
      expected: `a pause until ${until.toISOString()}`,
      received: `failed before: ${keys.map((key) => failed.get(key)?.count ?? 0).join(' from this network, ')} in all`,
      sub,
    });
  }
  const proven = await proofOf(deps, keys, { sub, given, bound_to, by }, factor, now);
  if (!proven) {
    await noteGuess(deps, { of: 'second_factor', sub }, { failed, lanes }, by, now);
    throw wrongProof(sub, factor);
  }
  return {
    factor,
    amr: proven.amr,
    claim: (trx, time) => proven.claim(trx, by, time),
    settle: () => failures.forget(deps.db, keys),
  };
}

const LOST = 'this second factor cannot be checked any more: use a recovery code, or ask those who run this service';

async function proofOf(
  deps: Needs,
  keys: readonly string[],
  attempt: Attempt,
  factor: FactorName,
  now: Date,
): Promise<Proven | undefined> {
  const { sub } = attempt;
  try {
    return await factorOf(factor).prove?.(deps, attempt, now);
  } catch (error) {
    if (!(error instanceof LostKey)) throw error;
    // No guess, and nobody's fault who is asked: the operator hears of it (postern doctor), the person what they can do.
    await failures.release(deps.db, keys);
    deps.log.error({ event: 'lost_key', sub, factor }, error.message);
    throw new OAuthError('invalid_credentials', LOST, {
      check: 'second_factor_key',
      cause: error,
      expected: 'a secret that SECRET_KEYS opens',
      received: error.message,
      sub,
    });
  }
}

/** A proof that is wrong, or was used before. */
export const wrongProof = (sub: string, factor: FactorName): OAuthError =>
  new OAuthError('invalid_credentials', 'the code is not right, or was used before', {
    check: 'second_factor',
    expected: `a proof of ${factor} that was not used before`,
    received: 'another',
    sub,
  });

/**
 * What a guess is counted under. Whoever guesses knows the password: a stranger slows nobody down. The account is a lane of its own,
 * so that no number of networks tries out a million codes.
 */
const lanesOf = (sub: string, { network }: Requester): readonly Lane[] => [
  { key: `second-factor:${sub}:${network}`, policy: PASSWORD_POLICY },
  { key: `second-factor:${sub}`, policy: NAME_POLICY },
];
