/** Tests by the clauses their names cite: `RFC 6749 §4.1.2: what it says`, or several, `RFC 6749 §4.1, RFC 9207 §2: …`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TEST = join(import.meta.dirname, '..');

/** A test that cites a clause. */
export interface CitedTest {
  /** The document, such as `RFC 6749`. */
  document: string;
  /** The section without its sign, such as `4.1.2`; empty when the whole document is meant. */
  section: string;
  sentence: string;
  /** The modules of the certification suite that it stands for, at the end of its name: `… (oidcc-server)`. */
  modules: string[];
  /** Below `test/`. */
  file: string;
}

/** Every test of the suite that cites one of `documents`, once for each clause it cites. */
export function citedTests(documents: readonly string[]): CitedTest[] {
  const files = readdirSync(TEST, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'));
  return files.toSorted().flatMap((file) => {
    const names = readFileSync(join(TEST, file), 'utf8').matchAll(
      /(['"`])((?:\\.|(?!\1)[^\n])+?): ((?:\\.|(?!\1).)+)\1/g,
    );
    return [...names].flatMap(([, , cited, sentence]) =>
      clausesOf(cited!, documents).map((clause) => ({ ...clause, ...modulesOf(sentence!), file })),
    );
  });
}

function modulesOf(name: string): Pick<CitedTest, 'sentence' | 'modules'> {
  const [, sentence, modules] = /^(.*?)(?: \((oidcc-[^)]*)\))?$/.exec(name.replaceAll(/\\(.)/g, '$1'))!;
  return { sentence: sentence!, modules: modules?.split(', ') ?? [] };
}

/** `RFC 7636 §4.2, §4.3` is two clauses of one document. */
function clausesOf(cited: string, documents: readonly string[]): Array<Pick<CitedTest, 'document' | 'section'>> {
  let document: string | undefined;
  return cited.split(', ').flatMap((part) => {
    const [, named = '', section = ''] = /^(.*?)(?: ?(?:§|Appendix )(.+))?$/.exec(part)!;
    // A table of tests may put its own word in front: `%s: RFC 9126 §2`.
    document = named === '' ? document : documents.find((known) => known === named);
    return document === undefined ? [] : [{ document, section }];
  });
}

/** One line for each test, in the order of the sections, as Prettier would write it. */
export const asList = (tests: ReadonlyArray<Omit<CitedTest, 'document' | 'modules'>>): string => {
  const lines = tests
    .toSorted((a, b) => a.section.localeCompare(b.section, 'en', { numeric: true }))
    .map(({ section, sentence, file }) => {
      const place = section === '' ? '' : `§${section}: `;
      return `- ${place}${asMarkdown(sentence)} (${linkTo(file)})`;
    });
  return lines.length === 0 ? '' : `\nShown by:\n\n${[...new Set(lines)].join('\n')}\n\n`;
};

/** One row for each module of a certification plan. */
export const asPlan = (modules: readonly string[], tests: readonly CitedTest[]): string => {
  const rows = modules.map((module) => {
    const shown = tests.filter((test) => test.modules.includes(module));
    const cells = shown.map(
      ({ sentence, file }) => `${asMarkdown(sentence.replaceAll(/%[a-z]/g, '…'))} (${linkTo(file)})`,
    );
    return `| \`${module}\` | ${[...new Set(cells)].join('<br>')} |`;
  });
  return `\n| module | what is seen |\n| --- | --- |\n${rows.join('\n')}\n\n`;
};

const linkTo = (file: string): string => `[${file}](../test/${file})`;

const asMarkdown = (text: string): string => text.replaceAll(/[\\*<]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&');
