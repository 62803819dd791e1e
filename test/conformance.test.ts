/**
 * docs/conformance.md: every row that is not "Not offered" has a test that cites it, every such test is listed, and every
 * module of the certification plans has its test.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { expect, test } from 'vitest';
import { PLANS, type Plan } from './support/certification-plans.ts';
import { asList, asPlan, citedTests } from './support/cited-tests.ts';

const FILE = join(import.meta.dirname, '../docs/conformance.md');
const text = readFileSync(FILE, 'utf8');

/** From one document's marker to the next. */
const parts = text.split(/(?=<!-- document: )/).slice(1);
const documents = parts.map((part) => /<!-- document: (.+) -->/.exec(part)![1]!);
const cited = citedTests(documents);
const testsOf = (document: string) => cited.filter((entry) => entry.document === document);

/** `§3.2, 3.3` is two sections. */
const sectionsIn = (cell: string): string[] => cell.split(',').map((section) => section.replace('§', '').trim());
const within = (section: string, row: string): boolean => section === row || section.startsWith(`${row}.`);

interface Row {
  document: string;
  sections: string[];
  offered: boolean;
}
const rows: Row[] = parts.flatMap((part, i) =>
  [...part.matchAll(/^\| (§[^|]+) \|[^|]+\|([^|]+)\|$/gm)].map(([, cell, here]) => ({
    document: documents[i]!,
    sections: sectionsIn(cell!),
    offered: !here!.trim().startsWith('Not offered'),
  })),
);

test('each row of docs/conformance.md that is offered has a test that cites it', () => {
  const unproven = rows.filter(
    ({ document, sections, offered }) =>
      offered && !sections.every((row) => testsOf(document).some(({ section }) => within(section, row))),
  );
  expect(unproven.map(({ document, sections }) => `${document} §${sections.join(', ')}`)).toEqual([]);
});

test('each test that cites a section of a document stands at a row of it', () => {
  const lost = cited.filter(
    ({ document, section }) =>
      section !== '' &&
      !rows.some((row) => row.document === document && row.sections.some((place) => within(section, place))),
  );
  expect(lost.map(({ document, section, sentence }) => `${document} §${section}: ${sentence}`)).toEqual([]);
});

test('each module of the certification plans has a test, and each test that names a module names one of theirs', () => {
  const named = new Set(cited.flatMap(({ modules }) => modules));
  expect([...named].toSorted()).toEqual([...new Set<string>(Object.values(PLANS).flat())].toSorted());
});

test('docs/conformance.md lists every test that cites one of its documents, and every module', async () => {
  const profiles = text
    .slice(0, text.indexOf(parts[0]!))
    .replaceAll(/(<!-- profile: (.+) -->\n)[^]*?(<!-- end -->)/g, (_all, begin: string, plan: Plan, end: string) => {
      return begin + asPlan(PLANS[plan], cited) + end;
    });
  const listed = parts.map((part, i) =>
    part.replace(/(<!-- tests -->\n)[^]*?(<!-- end -->)/, (_all, begin: string, end: string) => {
      return begin + asList(testsOf(documents[i]!)) + end;
    }),
  );
  const current = profiles + listed.join('');
  await expect(await format(current, { parser: 'markdown', printWidth: 120, singleQuote: true })).toMatchFileSnapshot(
    FILE,
  );
});
