/** docs/asvs.md is whole and true: each requirement has one row, and what a row names exists. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** OWASP ASVS 5.0.0: of each section, the levels of its requirements in their order. */
const LEVELS: Readonly<Record<string, string>> = {
  '6.1': '122',
  '6.2': '111111122223',
  '6.3': '11223333',
  '6.4': '112233',
  '6.5': '22222333',
  '6.6': '2223',
  '6.7': '33',
  '6.8': '2222',
  '7.1': '222',
  '7.2': '1111',
  '7.3': '22',
  '7.4': '11222',
  '7.5': '223',
  '7.6': '22',
  '10.1': '22',
  '10.2': '223',
  '10.3': '22223',
  '10.4': '1111122222233333',
  '10.5': '22222',
  '10.6': '22',
  '10.7': '222',
};
const STATES = ['met', 'met by setting', 'met by default', 'met in part', 'not met', 'not applicable'];

const rows = [...read('docs/asvs.md').matchAll(/^\| (\d+\.\d+\.\d+) +\|(.*)\|$/gm)].map(([, number, rest]) => {
  const [level, what, state, how, tests] = rest!.split('|').map((cell) => cell.trim());
  return { number: number!, level, what, state: state!, how: how!, tests: tests! };
});

test('docs/asvs.md has one row for each requirement, with its level', () => {
  const required = Object.entries(LEVELS).flatMap(([section, levels]) =>
    [...levels].map((level, index) => `${section}.${index + 1} (${level})`),
  );
  expect(rows.map(({ number, level }) => `${number} (${level})`)).toEqual(required);
  expect(rows.filter(({ what, how }) => !what || !how)).toEqual([]);
  expect(rows.filter(({ state }) => !STATES.includes(state))).toEqual([]);
});

test('each row of docs/asvs.md names a test that exists, and files that do', () => {
  const lost = rows.flatMap(({ number, how, tests }) => {
    const named = [...tests.matchAll(/\[[^\]]+\]\(\.\.\/([^)]+)\): "((?:[^"]|"(?!<br>|$))+)"/g)];
    const missing = named.filter(([, file, name]) => {
      if (!existsSync(join(ROOT, file!))) return true;
      const source = read(file!);
      return !["'", '"', '`'].some((quote) => source.includes(`${quote}${asWritten(name!)}${quote}`));
    });
    const files = [...how.matchAll(/`(src\/[^`]+)`/g)].map(([, file]) => file!);
    return [
      ...(named.length === 0 ? [`${number}: no test`] : []),
      ...missing.map(([, file, name]) => `${number}: ${file}: ${name}`),
      ...files.filter((file) => !existsSync(join(ROOT, file))).map((file) => `${number}: ${file}`),
    ];
  });
  expect(lost).toEqual([]);
});

/** Prettier escapes what Markdown would read. */
const asWritten = (text: string): string => text.replaceAll(/\\([\\*_<])/g, '$1');
