/** How answers look to people: aligned tables and records. Colours only on a terminal, and not with NO_COLOR. */
import { styleText } from 'node:util';

const GAP = '  ';
const dim = (text: string): string => styleText('dim', text);
/** What matters most in an answer. */
export const strong = (text: string): string => styleText('bold', text);

/** Rows under their headings; the last column may be of any width. `none` is said when there are no rows. */
export function table(headings: readonly string[], rows: ReadonlyArray<readonly unknown[]>, none: string): string {
  if (rows.length === 0) return none;
  const cells = rows.map((row) => row.map(show));
  const widths = headings.map((heading, i) => Math.max(heading.length, ...cells.map((row) => row[i]!.length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i]!)))
      .join(GAP)
      .trimEnd();
  return [dim(line(headings)), ...cells.map(line)].join('\n');
}

/** One thing, a member a line; what is not set is left out. */
export function record(members: Readonly<Record<string, unknown>>, highlight: readonly string[] = []): string {
  const shown = Object.entries(members)
    .map(([name, value]) => [name, show(value)] as const)
    .filter(([, value]) => value !== '');
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown
    .map(([name, value]) => dim(name.padEnd(width)) + GAP + (highlight.includes(name) ? strong(value) : value))
    .join('\n');
}

function show(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(show).join(' ');
  if (typeof value === 'object') return Object.keys(value).length === 0 ? '' : printable(JSON.stringify(value));
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Names come from outside: nothing in them may steer the terminal. */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, '\u{FFFD}');
