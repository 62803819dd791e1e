/** The figures as a table in Markdown. */
import type { Report, Row } from './index.ts';
import type { Result } from '../rounds.ts';

const whole = (value: number): string => Math.round(value).toLocaleString('en');
const ms = (value: number): string => value.toFixed(value < 10 ? 2 : 1);
const share = (value: number): string => value.toFixed(value < 0.1 ? 3 : 2);
const MIB = 1_048_576;

/** Where a cell is empty: not measured. */
const NONE = '–';

function ratioCells({ results: [ours, ...others] }: Row, names: readonly string[]): string[] {
  const ceiling = others.find(({ name }) => name === 'ceiling');
  return names.flatMap((name) => {
    const other = others.find((result) => result.name === name);
    if (other === undefined) return [NONE, NONE];
    if (other === ceiling) return [whole(other.rate), share(ours!.rate / other.rate)];
    return [whole(other.rate), ceiling ? share(other.rate / ceiling.rate) : share(other.p95 / ours!.p95)];
  });
}

/** Every row has the same columns: ours, then those beside us. */
export function asMarkdown({ rows, about }: Report): string {
  const names = [...new Set(rows.flatMap(({ results }) => results.slice(1).map(({ name }) => name)))];
  const titles = names.flatMap((name) => {
    if (name === 'ceiling') return ['ceiling', '**ratio**'];
    return about.compare_rows ? [name, 'its p95 / ours'] : [name, 'its ratio'];
  });
  const first = rows[0]!.results[0]!.name;
  const head = [
    'scenario',
    'tool',
    `${first}, req/s`,
    ...titles,
    'p50 ms',
    'p95 ms',
    'p99 ms',
    'CPU µs',
    'statements',
    'errors',
  ];
  const lines = rows.map((row) => {
    const [ours] = row.results;
    const errors = row.results.map((result: Result) => result.errors);
    return [
      row.title,
      about.tool,
      whole(ours!.rate),
      ...ratioCells(row, names),
      ms(ours!.p50),
      ms(ours!.p95),
      ms(ours!.p99),
      whole(ours!.cpu),
      ours!.statements.toFixed(2),
      errors.some((count) => count > 0) ? errors.join(' / ') : '0',
    ];
  });
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const memory = Object.entries(about.max_rss).map(([name, bytes]) => `${name} ${whole(bytes / MIB)} MiB`);
  return [
    line(head),
    line(head.map((_, index) => (index < 2 ? '---' : '---:'))),
    ...lines.map(line),
    '',
    `${about.rounds} rounds of ${about.seconds} s over ${about.connections} connections, interleaved; medians.`,
    `Most memory in use: ${memory.join(', ')}. ${about.machine}, Node ${about.node}, PostgreSQL ${about.postgres}, ${about.date}.`,
    `Command: \`${about.command}\``,
    '',
  ].join('\n');
}
