/** The figures of the lists, as tables in Markdown. */

/** One page of one list in one order. */
export interface ListRow {
  list: string;
  query: string;
  page: 'first' | 'later';
  /** What it was read from. */
  indexes: string[];
  /** How many rows Postgres looked at. */
  rows: number;
  wrong: string[];
  /** Milliseconds; undefined where it was only explained. */
  p50?: number;
  p95?: number;
}

/** A run. */
export interface ListReport {
  about: {
    date: string;
    command: string;
    machine: string;
    /** Of the machine, one minute, before and after: above the number of processors it was busy with something else. */
    load: [before: number, after: number];
    node: string;
    postgres: string;
    limit: number;
    requests: number;
    tables: Record<string, number>;
    indexes: Record<string, number>;
  };
  rows: ListRow[];
}

const ms = (value: number | undefined): string => value?.toFixed(1) ?? '–';
const whole = (value: number): string => value.toLocaleString('en');
const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], texts: number, rows: ReadonlyArray<readonly string[]>): string[] => [
  line(head),
  line(head.map((_, index) => (index < texts ? '---' : '---:'))),
  ...rows.map(line),
  '',
];

/** A line for each list, and one for each way to ask for it. */
export function asMarkdown({ about, rows }: ListReport): { summary: string; whole: string } {
  const lists = [...new Set(rows.map(({ list }) => list))].map((list) => rows.filter((row) => row.list === list));
  const slowest = (of: readonly ListRow[]): ListRow => of.reduce((a, b) => ((b.p95 ?? 0) > (a.p95 ?? 0) ? b : a));
  const summaryRows = lists.map((of) => {
    const plain = of.find(({ page }) => page === 'first')!;
    const later = of.filter(({ page }) => page === 'later');
    const worst = slowest(of);
    return [
      `\`${plain.list}\``,
      whole(of.length),
      ms(plain.p50),
      ms(plain.p95),
      later.length === 0 ? '–' : ms(slowest(later).p95),
      ms(worst.p95),
      `\`${worst.query}\``,
      whole(Math.max(...of.map(({ rows: looked }) => looked))),
      whole(of.filter(({ wrong }) => wrong.length > 0).length),
    ];
  });
  const head = [
    'list',
    'pages',
    'p50',
    'p95',
    'p95, later',
    'p95, worst',
    'the worst',
    'rows looked at',
    'not by index',
  ];
  const indexed = Object.entries(about.tables).map(([name, count]) => [
    name,
    whole(count),
    `${about.indexes[name] ?? 0}`,
  ]);
  const summary = [
    ...table(head, 1, summaryRows),
    ...table(['table', 'rows', 'indexes'], 1, indexed),
    `Milliseconds over HTTP, one connection, ${about.requests} requests a page of ${about.limit}.`,
    `${about.machine}, load ${about.load.map((load) => load.toFixed(1)).join(' before and ')} after, Node ${about.node}, PostgreSQL ${about.postgres}, ${about.date}.`,
    `Command: \`${about.command}\``,
    '',
  ];
  const every = rows.map((row) => [
    `\`${row.list}\``,
    `\`${row.query}\``,
    row.page,
    row.indexes.join(', '),
    row.wrong.join(', '),
    whole(row.rows),
    ms(row.p50),
    ms(row.p95),
  ]);
  const columns = ['list', 'query', 'page', 'indexes', 'wrong', 'rows looked at', 'p50', 'p95'];
  return { summary: summary.join('\n'), whole: table(columns, 5, every).join('\n') };
}
