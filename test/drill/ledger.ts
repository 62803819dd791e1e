/** The ledger: what clients were granted, what they were answered later, and every contradiction between the two. */
import type { Answer } from '../support/visitor.ts';

/** How one request ended for the client that sent it. */
export type Outcome =
  | { kind: 'answered'; answer: Answer }
  /** 503 with Retry-After: nothing is known to have happened, and the client comes again. */
  | { kind: 'away'; retryAfterMs: number }
  /** No answer, or half of one. */
  | { kind: 'unknown' };

/** What a drill has found. */
export interface Findings {
  /** Each a contradiction, or an honest client that lost its authorization. Empty when all is well. */
  wrong: string[];
  answered: number;
  away: number;
  unknown: number;
  /** Codes whose redemption had no known outcome and which then were refused: the application asks /authorize again. */
  askedAgain: number;
  /** Milliseconds of the slowest answer, and the longest time in which nobody was answered with 200. */
  slowest: number;
  longestGap: number;
}

/** Answers that come later than this are wrong, too. Milliseconds: 3 s, and a little for a client that is busy itself. */
const LATEST_MS = 4000;

export class Ledger {
  readonly #now = (): number => performance.now();
  readonly #latest: number;
  readonly #wrong = new Set<string>();
  #answered = 0;
  #away = 0;
  #unknown = 0;
  #slowest = 0;
  #lastGood = this.#now();
  #longestGap = 0;
  askedAgain = 0;

  constructor(latest = LATEST_MS) {
    this.#latest = latest;
  }

  /** Writes down how a request that began at `began` ended. */
  note(path: string, began: number, outcome: Outcome): Outcome {
    const took = this.#now() - began;
    if (outcome.kind === 'unknown') this.#unknown += 1;
    else {
      this.#slowest = Math.max(this.#slowest, took);
      if (took > this.#latest) this.contradict(`${path} was answered after ${Math.round(took / 1000)} s`);
    }
    if (outcome.kind === 'away') this.#away += 1;
    if (outcome.kind !== 'answered') return outcome;
    this.#answered += 1;
    const { status, json } = outcome.answer;
    if (status >= 500) this.contradict(`${path} answered ${status} ${String(json['error'])}`);
    if (status === 200) {
      this.#longestGap = Math.max(this.#longestGap, this.#now() - this.#lastGood);
      this.#lastGood = this.#now();
    }
    return outcome;
  }

  contradict(sentence: string): void {
    this.#wrong.add(sentence);
  }

  findings(): Findings {
    return {
      wrong: [...this.#wrong],
      answered: this.#answered,
      away: this.#away,
      unknown: this.#unknown,
      askedAgain: this.askedAgain,
      slowest: Math.round(this.#slowest),
      longestGap: Math.round(this.#longestGap),
    };
  }
}
