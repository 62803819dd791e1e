/**
 * How hard a password is to guess, by zxcvbn with its dictionaries. They take up to 100 MB and half a second to load, and a judgement up
 * to a tenth of a second of a processor: so this is a thread of its own, which begins with the first question and ends when nobody
 * has asked for a while. A server that sets no password has neither.
 */
import { Worker } from 'node:worker_threads';
import type * as core from '@zxcvbn-ts/core';
import type * as common from '@zxcvbn-ts/language-common';
import type * as english from '@zxcvbn-ts/language-en';
import { createIdleThread, type Reply } from './idle-thread.ts';

/** What makes a password easy to guess, in the words of zxcvbn: each has a sentence. */
export const WARNINGS = {
  straightRow: 'Rows of keys on a keyboard are easy to guess.',
  keyPattern: 'Short patterns on a keyboard are easy to guess.',
  simpleRepeat: 'Repeated characters such as “aaa” are easy to guess.',
  extendedRepeat: 'Repeated groups such as “abcabc” are easy to guess.',
  sequences: 'Sequences such as “abc” are easy to guess.',
  recentYears: 'Recent years are easy to guess.',
  dates: 'Dates are easy to guess.',
  topTen: 'It is one of the most used passwords.',
  topHundred: 'It is one of the most used passwords.',
  common: 'It is a much used password.',
  similarToCommon: 'It is close to a much used password.',
  wordByItself: 'A single word is easy to guess.',
  namesByThemselves: 'A single name is easy to guess.',
  commonNames: 'Common names are easy to guess.',
  userInputs: 'It is close to your name, your address or the name of this service.',
} as const;
export type Warning = keyof typeof WARNINGS;

/** What makes it harder to guess. */
export const SUGGESTIONS = {
  l33t: 'Letters replaced by look-alikes, such as “@” for “a”, help little.',
  reverseWords: 'Words written backwards help little.',
  allUppercase: 'Capitals throughout help little.',
  capitalization: 'A capital at the beginning helps little.',
  dates: 'Leave out dates and years that have to do with you.',
  recentYears: 'Leave out recent years.',
  associatedYears: 'Leave out years that have to do with you.',
  sequences: 'Leave out common sequences.',
  repeated: 'Leave out repeated words and characters.',
  longerKeyboardPattern: 'Leave out rows of keys.',
  anotherWord: 'Add a few words that are less common.',
  useWords: 'Use several words that do not belong together.',
  noNeed: 'It needs no symbols, digits or capitals to be good.',
} as const;
export type Suggestion = keyof typeof SUGGESTIONS;

export interface Strength {
  /** Is it on the list of breached and usual passwords (NIST 800-63B-4 §3.1.1.2)? */
  common: boolean;
  /** 0: fewer than 1,000 guesses; 1: a million; 2: 100 millions; 3: ten thousand millions; 4: more. */
  score: 0 | 1 | 2 | 3 | 4;
  warning: Warning | null;
  suggestions: Suggestion[];
}

/** @param words what an attacker who knows the person tries first */
export type JudgeStrength = (password: string, words: readonly string[]) => Promise<Strength>;

interface Question {
  password: string;
  words: readonly string[];
}

/** Of more characters only these are judged: what they are worth is enough, and the time grows with their number. */
const JUDGED = 64;
/** Each takes a tenth of a second at most. */
const MAX_WAITING = 50;
const LIMITS = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32 };

/** What runs in the thread. It is given to it as text, as that of argon2-threads.ts and for the same reason. */
function work(from: string, judged: number): void {
  const { createRequire } = process.getBuiltinModule('node:module');
  const { getPriority, setPriority } = process.getBuiltinModule('node:os');
  const { parentPort } = process.getBuiltinModule('node:worker_threads');
  if (process.platform === 'linux') setPriority(0, Math.min(19, getPriority(0) + 10));
  const load = createRequire(from);
  const { ZxcvbnFactory } = load('@zxcvbn-ts/core') as typeof core;
  const { dictionary, adjacencyGraphs } = load('@zxcvbn-ts/language-common') as typeof common;
  const { dictionary: words_of_english } = load('@zxcvbn-ts/language-en') as typeof english;
  const zxcvbn = new ZxcvbnFactory({
    dictionary: { ...dictionary, ...words_of_english },
    graphs: adjacencyGraphs,
    maxLength: judged,
    // With 100, which is the default, 32 characters take half a second. Whoever tries passwords does not try that many either.
    l33tMaxSubstitutions: 4,
  });
  const usual = new Set(dictionary['passwords-common'] as readonly string[]);
  const answer = ({ password, words }: Question): Reply<Strength> => {
    try {
      const { score, feedback } = zxcvbn.check(password, [...words]);
      return { value: { common: usual.has(password.toLowerCase()), score, ...feedback } as Strength };
    } catch (error) {
      return { problem: String(error) };
    }
  };
  parentPort!.on('message', (question: Question) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has that, a port does not
    parentPort!.postMessage(answer(question));
  });
}

const WORK = `(${work.toString()})(${JSON.stringify(import.meta.url)}, ${JUDGED})`;

/** Judges in a thread that is there while somebody asks. @throws OAuthError temporarily_unavailable when too many wait */
export function createStrength(): JudgeStrength {
  const ask = createIdleThread<Strength>(
    () => new Worker(WORK, { eval: true, resourceLimits: LIMITS }),
    MAX_WAITING,
    'choosing a password',
  );
  return (password, words) => ask({ password, words } satisfies Question);
}
