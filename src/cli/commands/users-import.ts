/** People of another system: the whole file is judged before anything is written. */
import { writeFile } from 'node:fs/promises';
import { Option } from 'commander';
import type { Deps } from '../../deps.ts';
import type { ImportedPerson } from '../../users/import/person.ts';
import { BY } from '../actor.ts';
import type { Answer, Leaf } from '../command.ts';
import { Failure } from '../failure.ts';
import { importElsewhere, type Elsewhere } from '../import-elsewhere.ts';
import { formatOf, linesOf, type ImportFormat } from '../import-file.ts';
import { record, table } from '../output.ts';
import { startProgress } from '../progress.ts';

interface Options {
  format?: ImportFormat;
  check?: boolean;
  skipRefused?: boolean;
  report?: string;
}

/** A line that is not imported, and why. */
type Refusal = { line: number; detail: string };

interface Counts {
  people: number;
  created: number;
  present: number;
  refused: Refusal[];
}

/** More than these are in --report and --json. */
const SHOWN = 20;

export const importUsers: Leaf<Options> = {
  summary: 'import people of another system, with the hashes of their passwords',
  argument: '<file>',
  options: () => [
    new Option('--format <format>', 'what the file is, if its name does not say').choices(['ndjson', 'csv']),
    new Option('--check', 'judge the file, and write nothing'),
    new Option('--skip-refused', 'import the others, even if some lines are refused'),
    new Option('--report <file>', 'write the refused lines to a file, one JSON object a line'),
  ],
  explanation:
    'The whole file is judged first: if a line is refused, nobody is imported, unless --skip-refused is given. Who is there already stays as ' +
    'they are, so an import that was stopped goes on when the command is given again. What a line may say: docs/importing.md.',
  examples: ['users import people.ndjson --check', 'users import people.csv --skip-refused --report refused.ndjson'],
  async run(means, { argument: file, options }) {
    const format = formatOf(file, options.format);
    return means.api(async (to, deps) => {
      const judged = await judge(file, format);
      await report(options.report, judged.refused);
      if (judged.refused.length > 0 && !options.skipRefused && !options.check) {
        throw new Failure(
          'usage',
          ...said(judged.refused),
          'nobody was imported: mend these lines, or give --skip-refused',
        );
      }
      if (options.check) return answerOf(judged);
      const refused = new Set(judged.refused.map(({ line }) => line));
      const counts = deps
        ? await write(deps, file, format, refused)
        : await writeElsewhere(importElsewhere(to, means.reach.wait), file, format, refused);
      const all = { ...counts, people: judged.people, refused: [...judged.refused, ...counts.refused] };
      await report(options.report, all.refused);
      return answerOf(all);
    });
  },
};

/** Reads the whole file, and writes nothing. */
async function judge(file: string, format: ImportFormat): Promise<Counts> {
  const [{ readPerson, ImportProblem }, { createDuplicates }] = await Promise.all([
    import('../../users/import/person.ts'),
    import('../../users/import/duplicates.ts'),
  ]);
  const counts: Counts = { people: 0, created: 0, present: 0, refused: [] };
  const duplicate = createDuplicates();
  const progress = startProgress('Checking ', 'people');
  try {
    for await (const read of linesOf(file, format)) {
      const { line, at } = read;
      counts.people += 1;
      progress.show(at, counts.people);
      try {
        if ('problem' in read) throw new ImportProblem(read.problem);
        const problem = duplicate(readPerson(read.given), line);
        if (problem !== undefined) throw new ImportProblem(problem);
      } catch (error) {
        if (!(error instanceof ImportProblem)) throw error;
        counts.refused.push({ line, detail: error.message });
      }
    }
  } finally {
    progress.end();
  }
  return counts;
}

/** Reads it again, and writes what was not refused, part by part. */
async function write(deps: Deps, file: string, format: ImportFormat, refused: Set<number>): Promise<Counts> {
  const [{ readPerson }, { importPeople, IMPORT_PART }] = await Promise.all([
    import('../../users/import/person.ts'),
    import('../../users/import/people.ts'),
  ]);
  const counts: Counts = { people: 0, created: 0, present: 0, refused: [] };
  const progress = startProgress('Importing', 'people');
  let part: Array<{ line: number; person: ImportedPerson }> = [];
  const flush = async (): Promise<void> => {
    const outcomes = await importPeople(
      deps,
      part.map(({ person }) => person),
      BY,
      deps.clock(),
    );
    for (const [index, outcome] of outcomes.entries()) {
      if (typeof outcome === 'string') counts[outcome] += 1;
      else counts.refused.push({ line: part[index]!.line, detail: outcome.refused });
    }
    part = [];
  };
  try {
    for await (const read of linesOf(file, format)) {
      if (!('given' in read) || refused.has(read.line)) continue;
      part.push({ line: read.line, person: readPerson(read.given) });
      if (part.length === IMPORT_PART) await flush();
      progress.show(read.at, counts.created + counts.present);
    }
    if (part.length > 0) await flush();
  } finally {
    progress.end();
  }
  return counts;
}

/** The same at a server elsewhere. */
async function writeElsewhere(
  to: Elsewhere,
  file: string,
  format: ImportFormat,
  refused: Set<number>,
): Promise<Pick<Counts, 'created' | 'present' | 'refused'>> {
  const progress = startProgress('Sending  ', 'people');
  let sent = 0;
  try {
    for await (const read of linesOf(file, format)) {
      if (!('given' in read) || refused.has(read.line)) continue;
      await to.add(read.line, read.given);
      progress.show(read.at, (sent += 1));
    }
  } finally {
    progress.end();
  }
  const carried = startProgress('Importing', 'people');
  try {
    return await to.end(carried.show);
  } finally {
    carried.end();
  }
}

async function report(file: string | undefined, refused: readonly Refusal[]): Promise<void> {
  if (file === undefined) return;
  await writeFile(file, refused.map((refusal) => `${JSON.stringify(refusal)}\n`).join('')).catch((error: Error) => {
    throw new Failure('failed', `${file} cannot be written: ${error.message}`);
  });
}

function said(refused: readonly Refusal[]): string[] {
  const more = refused.length - SHOWN;
  const first = refused.slice(0, SHOWN).map(({ line, detail }) => `line ${line}: ${detail}`);
  return more > 0 ? [...first, `and ${more} more: --report writes them to a file`] : first;
}

function answerOf({ people, created, present, refused }: Counts): Answer {
  const { length } = refused;
  const counted = record({ people, created, present, refused: length });
  const rows = refused.slice(0, SHOWN).map(({ line, detail }) => [line, detail]);
  return {
    json: { people, created, present, refused },
    ids: [],
    text: length === 0 ? counted : `${counted}\n\n${table(['LINE', 'REFUSED SINCE'], rows, '')}`,
    ...(length > SHOWN && { notes: [`There are ${length - SHOWN} more: --report writes them to a file.`] }),
    exit_code: length > 0 ? 1 : 0,
  };
}
