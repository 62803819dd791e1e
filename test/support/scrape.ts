/** Reading the text format of Prometheus. */

/** Finds the value of a sample by its name and all of its labels; undefined when there is none. */
export function sample(text: string): (name: string, labels?: Record<string, string>) => number | undefined {
  const values = new Map<string, number>();
  for (const [, name, labels = '', value] of text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)) {
    const pairs = [...labels.matchAll(/(\w+)="((?:\\.|[^"\\])*)"/g)].map(([, key, of]) => [key!, of!] as const);
    values.set(keyOf(name!, Object.fromEntries(pairs)), Number(value));
  }
  return (name, labels = {}) => values.get(keyOf(name, labels));
}

const keyOf = (name: string, labels: Record<string, string>): string =>
  [name, ...Object.entries(labels).map((pair) => pair.join('='))].toSorted((a, b) => a.localeCompare(b)).join(' ');

/** The names of all that can be asked for: series, and the parts of histograms. */
export function namesIn(text: string): Set<string> {
  const names = new Set<string>();
  for (const [, name, type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    for (const part of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) names.add(name! + part);
  }
  return names;
}
