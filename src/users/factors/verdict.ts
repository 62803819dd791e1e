/** May a password be set? One answer for every place where one is chosen: command line, admin API, and pages. */
import type { Deps } from '../../deps.ts';
import { foldName } from '../../protocol/names.ts';
import { SUGGESTIONS, WARNINGS, type Strength, type Suggestion, type Warning } from './strength.ts';

/** Most bytes a password may have: stated and refused, never cut. */
export const PASSWORD_MAX_BYTES = 1024;

/** Whose password it is to be: what is known of somebody is tried first. */
export interface PasswordContext {
  username?: string | undefined;
  email?: string | null | undefined;
  claims?: Readonly<Record<string, unknown>> | undefined;
}

/** Why a password cannot be set. */
type Refusal = 'short' | 'long' | 'name' | 'common' | 'guessable' | 'drawn';

export interface Verdict {
  /** Undefined: it may be set. */
  refusal: Refusal | undefined;
  /** 0 to 4, for a meter. */
  score: Strength['score'];
  warning: Warning | null;
  suggestions: readonly Suggestion[];
  /** The fewest characters, and the most bytes, that a password may have. */
  min_length: number;
  max_bytes: number;
}

type Needs = {
  passwords: Pick<Deps['passwords'], 'strength'>;
  config: Pick<Deps['config'], 'PASSWORD_MIN_LENGTH' | 'PASSWORD_MIN_SCORE' | 'ISSUER'>;
};

/**
 * Length, the list of usual passwords, and how many guesses it takes somebody who knows the person and this server. No
 * composition rules (NIST 800-63B-4 §3.1.1.2, ASVS 5.0 V6.2.5). @throws OAuthError temporarily_unavailable
 */
export async function verdictOn(
  { passwords, config }: Needs,
  password: string,
  context: PasswordContext = {},
): Promise<Verdict> {
  // What is hashed is what is judged: full-width letters are no other password.
  const text = prepared(password);
  const bounds = { min_length: config.PASSWORD_MIN_LENGTH, max_bytes: PASSWORD_MAX_BYTES };
  const refuse = (refusal: Refusal): Verdict => ({ refusal, score: 0, warning: null, suggestions: [], ...bounds });
  if ([...text].length < bounds.min_length) return refuse('short');
  if (Buffer.byteLength(text) > bounds.max_bytes) return refuse('long');
  const folded = foldName(text);
  if ([context.username, context.email].some((name) => name && foldName(name) === folded)) return refuse('name');
  const { common, ...strength } = await passwords.strength(text, wordsOf(context, config.ISSUER));
  const refusal = common ? 'common' : strength.score < config.PASSWORD_MIN_SCORE ? 'guessable' : undefined;
  return { refusal, ...strength, ...bounds };
}

/** NIST 800-63B-4 §3.1.1.2: the same text typed on another keyboard is the same password. */
export const prepared = (password: string): string => password.normalize('NFKC');

const PRODUCT = 'postern';
/** What people make passwords of, of what is known about them. */
const TELLING = ['name', 'given_name', 'family_name', 'middle_name', 'nickname', 'birthdate', 'phone_number'] as const;
// Whatever somebody wrote into a profile, the time that a judgement takes has a bound.
const [MAX_WORDS, MAX_LETTERS] = [60, 64];

/** The words that somebody who knows the person and this server tries first: each whole, and each part of it. */
function wordsOf({ username, email, claims = {} }: PasswordContext, issuer: string): string[] {
  const { hostname } = new URL(issuer);
  const told = TELLING.map((claim) => claims[claim]).filter((value) => typeof value === 'string');
  const wholes = [PRODUCT, hostname, username, email, ...told].map((whole) =>
    (whole ?? '').slice(0, 320).toLowerCase(),
  );
  const parts = wholes.flatMap((whole) => [whole, ...whole.split(/[^\p{L}\p{N}]+/u)]);
  return [...new Set(parts)].filter((part) => part.length > 2 && part.length <= MAX_LETTERS).slice(0, MAX_WORDS);
}

/** The verdict as what follows “the password”, for operators; undefined when it may be set. */
export function problemOf({ refusal, warning, suggestions, ...bounds }: Verdict): string | undefined {
  if (refusal === undefined) return undefined;
  const sentences = {
    short: `must have at least ${bounds.min_length} characters`,
    long: `must have at most ${bounds.max_bytes} bytes`,
    name: 'must not be the name of the account',
    common: 'is one of the most common ones, and among the first to be tried',
    guessable: 'is easy to guess',
    drawn: 'must not be the one that was drawn',
  };
  const advice = [warning && WARNINGS[warning], suggestions[0] && SUGGESTIONS[suggestions[0]]].filter(Boolean);
  const more = refusal === 'guessable' && advice.length > 0 ? `. ${advice.join(' ').replace(/\.$/, '')}` : '';
  return sentences[refusal] + more;
}
