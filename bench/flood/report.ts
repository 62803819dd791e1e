/** The figures of a flood, as a table in Markdown. */
import { median } from '../statistics.ts';
import type { Streamed } from './sender-main.ts';

/** The same token traffic for a time, with or without a flood beside it. */
export interface FloodRound {
  flooded: boolean;
  tokens: Streamed;
  logins: Streamed | undefined;
  /** Bytes, of the server at its end. */
  rss: number;
}

/** A run. */
export interface FloodReport {
  about: {
    date: string;
    command: string;
    machine: string;
    /** Of the machine, one minute, before and after. */
    load: [before: number, after: number];
    node: string;
    postgres: string;
    tool: string;
    /** Of a round: those that count, and those before. */
    seconds: number;
    warm_up: number;
    /** A second. */
    logins: number;
    /** Milliseconds: what the 95th percentile of the tokens must stay below. */
    most_p95: number;
    max_rss: number;
  };
  /** Tokens a second when nothing else is asked, over as many connections as it takes. */
  most: number;
  rounds: FloodRound[];
}

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const FIGURES = ['p50', 'p95', 'p99', 'max', 'p95_at_first'] as const;

/** A line for the tokens without and with a flood, and one for the flood. `kept`: none was refused, none came late. */
export function asMarkdown({ about, most, rounds }: FloodReport): { table: string; kept: boolean } {
  const row = (title: string, streams: readonly Streamed[]): string => {
    const answers = new Map<string, number>();
    for (const stream of streams) {
      for (const [status, count] of Object.entries(stream.answers))
        answers.set(status, (answers.get(status) ?? 0) + count);
    }
    return line([
      title,
      median(streams.map(({ rate }) => rate)).toFixed(0),
      ...FIGURES.map((figure) => median(streams.map((stream) => stream[figure])).toFixed(1)),
      [...answers].map(([status, count]) => `${status}: ${count}`).join(', '),
    ]);
  };
  const [calm, flooded] = [false, true].map((which) => rounds.filter((round) => round.flooded === which)) as [
    FloodRound[],
    FloodRound[],
  ];
  const head = ['', 'a second', 'p50 ms', 'p95 ms', 'p99 ms', 'longest ms', 'p95 at first', 'answers'];
  const table = [
    line(head),
    line(head.map((_, index) => (index === 0 || index === head.length - 1 ? '---' : '---:'))),
    row(
      'client_credentials, ES256',
      calm.map(({ tokens }) => tokens),
    ),
    row(
      'the same, flooded',
      flooded.map(({ tokens }) => tokens),
    ),
    row(
      'wrong logins',
      flooded.flatMap(({ logins }) => logins ?? []),
    ),
    '',
    `Of ${most.toFixed(0)} tokens a second that it makes alone (${about.tool}), half. Medians of ${calm.length} rounds of ${about.seconds} s each, in turns, after ${about.warm_up} s that count only as “at first”.`,
    `Most memory in use: ${(about.max_rss / 1_048_576).toFixed(0)} MiB. ${about.machine}, load ${about.load.map((load) => load.toFixed(1)).join(' before and ')} after, Node ${about.node}, PostgreSQL ${about.postgres}, ${about.date}.`,
    `Command: \`${about.command}\``,
    '',
  ].join('\n');
  const p95 = median(flooded.map(({ tokens }) => tokens.p95));
  const refused = rounds.some(({ tokens }) => Object.keys(tokens.answers).some((status) => status !== '200'));
  return { table, kept: !refused && p95 < about.most_p95 };
}
