/** Reads a file of people line by line: NDJSON, or CSV with a heading. What a line says is judged by users/import. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Failure, usage } from './failure.ts';

export type ImportFormat = 'ndjson' | 'csv';

/** A line: what it says, or what is wrong with it; and how far into the file it is, 0 to 1. */
export type ImportLine = { line: number; at: number } & ({ given: unknown } | { problem: string });

const MAX_LINE = 65_536;
const FLAGS = ['email_verified', 'disabled'] as const;
const MEMBERS = ['sub', 'username', 'email', 'password_hash', ...FLAGS];

/** @throws Failure when nothing is said and the name tells nothing */
export function formatOf(file: string, said: ImportFormat | undefined): ImportFormat {
  if (said) return said;
  if (/\.(ndjson|jsonl)$/i.test(file)) return 'ndjson';
  if (/\.csv$/i.test(file)) return 'csv';
  throw usage(`${file}: say what it is with --format ndjson or --format csv`);
}

/** @throws Failure when the file cannot be read, or is no CSV */
export async function* linesOf(file: string, format: ImportFormat): AsyncGenerator<ImportLine> {
  const { size } = await stat(file).catch((error: Error) => {
    throw new Failure('failed', `${file} cannot be read: ${error.message}`);
  });
  const stream = createReadStream(file, { highWaterMark: 1 << 18 });
  const at = (): number => (size === 0 ? 1 : Math.min(1, stream.bytesRead / size));
  yield* format === 'ndjson' ? ndjson(stream, at) : csv(file, stream, at);
}

async function* ndjson(stream: NodeJS.ReadableStream, at: () => number): AsyncGenerator<ImportLine> {
  let line = 0;
  for await (const text of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1;
    if (text.trim() === '') continue;
    yield { line, at: at(), ...parsed(line === 1 ? text.replace(/^\u{FEFF}/u, '') : text) };
  }
}

function parsed(text: string): { given: unknown } | { problem: string } {
  if (text.length > MAX_LINE) return { problem: `the line is longer than ${MAX_LINE} characters` };
  // What is not UTF-8 was read as this; it would be another name.
  if (text.includes('\u{FFFD}')) return { problem: 'the line is not UTF-8' };
  try {
    const given: unknown = JSON.parse(text);
    return typeof given === 'object' && given !== null ? { given } : { problem: 'the line is no JSON object' };
  } catch {
    return { problem: 'the line is not JSON' };
  }
}

async function* csv(file: string, stream: NodeJS.ReadableStream, at: () => number): AsyncGenerator<ImportLine> {
  const { parse } = await import('csv-parse');
  const parser = stream.pipe(
    parse({ bom: true, columns: headings, info: true, skip_empty_lines: true, max_record_size: MAX_LINE }),
  );
  stream.on('error', (error) => parser.destroy(error));
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: Row; info: { lines: number } }>) {
      yield { line: info.lines, at: at(), ...fromRow(record) };
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw usage(`${file}: is no CSV that can be read: ${(error as Error).message}`);
  }
}

type Row = Record<string, string>;

/** Every column means something: one that is misspelt would be lost in silence. @throws Failure */
function headings(names: string[]): string[] {
  const trimmed = names.map((name) => name.trim());
  const unknown = trimmed.filter((name) => !MEMBERS.includes(name) && !name.startsWith('claims.'));
  if (unknown.length === 0) return trimmed;
  throw usage(
    `the first line names columns that are not known: ${unknown.join(', ')}. There are ${MEMBERS.join(', ')}, claims.…`,
  );
}

/** An empty field says nothing. A hash in parts is an object of JSON. */
function fromRow(row: Row): { given: unknown } | { problem: string } {
  const given: Record<string, unknown> = {};
  const claims: Record<string, string> = {};
  for (const [name, value] of Object.entries(row)) {
    if (value.includes('\u{FFFD}')) return { problem: 'the line is not UTF-8' };
    if (value === '') continue;
    if (name.startsWith('claims.')) claims[name.slice('claims.'.length)] = value;
    else given[name] = value;
  }
  for (const name of FLAGS) {
    const value = given[name];
    if (value === undefined) continue;
    if (value !== 'true' && value !== 'false') return { problem: `${name}: must be true or false` };
    given[name] = value === 'true';
  }
  if (typeof given['password_hash'] === 'string' && given['password_hash'].startsWith('{')) {
    const hash = parsed(given['password_hash']);
    if ('problem' in hash) return { problem: 'password_hash: begins as JSON and is none' };
    given['password_hash'] = hash.given;
  }
  return { given: Object.keys(claims).length > 0 ? { ...given, claims } : given };
}
