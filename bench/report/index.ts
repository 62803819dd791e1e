/** The report of a run: a table, the figures behind it, and a plot. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from '../options.ts';
import type { Result } from '../rounds.ts';
import { aboutRun } from './about.ts';
import { asSvg } from './plot.ts';
import { asMarkdown } from './table.ts';

/** A scenario with everybody's results; the first is ours. */
export interface Row {
  name: string;
  title: string;
  results: Result[];
}

/** Everything of a run. */
export interface Report {
  about: {
    date: string;
    command: string;
    machine: string;
    node: string;
    postgres: string;
    tool: string;
    rounds: number;
    seconds: number;
    connections: number;
    rows: number;
    compare_rows: boolean;
    /** Bytes, by server, over the whole run. */
    max_rss: Record<string, number>;
  };
  rows: Row[];
}

/** What a run measured, with where and how. */
export function reportOf(
  options: Options,
  rows: Row[],
  { postgres, tool }: { postgres: string; tool: string },
): Report {
  const { rounds, seconds, connections, compareRows } = options;
  const max_rss: Record<string, number> = {};
  for (const { name, max_rss: bytes } of rows.flatMap(({ results }) => results)) {
    max_rss[name] = Math.max(max_rss[name] ?? 0, bytes);
  }
  return {
    about: {
      ...aboutRun(),
      postgres,
      tool,
      rounds,
      seconds,
      connections,
      rows: options.rows,
      compare_rows: compareRows,
      max_rss,
    },
    rows,
  };
}

/** Writes the three files and returns the table. */
export function write(directory: string, report: Report): string {
  mkdirSync(directory, { recursive: true });
  const table = asMarkdown(report);
  writeFileSync(join(directory, 'results.md'), table);
  writeFileSync(join(directory, 'results.json'), `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(join(directory, 'results.svg'), asSvg(report));
  return table;
}
