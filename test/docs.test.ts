/** What is written is true: every variable is documented with its default, every cited test exists, every link leads somewhere. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { loadConfig, VARIABLES } from '../src/config.ts';
import { createMetrics } from '../src/platform/prometheus.ts';
import { namesIn } from './support/scrape.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const pagesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
const documents = [
  'README.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  ...pagesIn('docs'),
  ...pagesIn('docs/decisions'),
];

describe('configuration', () => {
  const example = parseEnv(read('.env.example').replaceAll(/^#(?=[A-Z_]+=)/gm, ''));

  test('.env.example lists every variable once, and none that does not exist', () => {
    const listed = [...read('.env.example').matchAll(/^#([A-Z_]+)=/gm)].map(([, name]) => name!);
    expect(listed.toSorted()).toEqual([...VARIABLES].toSorted());
  });

  test('.env.example has the defaults', () => {
    expect(loadConfig('command', example)).toEqual(loadConfig('command', {}));
  });

  test.each(VARIABLES)('docs/configuration.md documents %s with its default', (name) => {
    const row = new RegExp(`^\\| \`${name}\` +\\| (.*?) +\\|`, 'm').exec(read('docs/configuration.md'));
    const value = example[name] ?? '';
    const shown = name === 'ISSUER' ? 'http://localhost:PORT' : value;
    expect(row?.[1]).toContain(value === '' ? 'none' : `\`${shown}\``);
  });
});

describe('metrics', async () => {
  const { body } = await createMetrics({ process: true }).text();

  test('docs/production.md lists every metric of ours, and none that does not exist', () => {
    const ours = [...body.matchAll(/^# TYPE (postern_\w+) /gm)].map(([, name]) => name);
    const listed = [...read('docs/production.md').matchAll(/^\| `(postern_\w+)` /gm)].map(([, name]) => name);
    expect(ours.length).toBeGreaterThan(10);
    expect(new Set(listed)).toEqual(new Set(ours));
  });

  test('docs/grafana-dashboard.json asks for metrics that exist, shows every one of ours, and can be imported', () => {
    const dashboard = JSON.parse(read('docs/grafana-dashboard.json')) as Dashboard;
    const charts = dashboard.panels.filter(({ type }) => type !== 'row');
    const asked = [...charts.flatMap(({ targets = [] }) => targets), ...dashboard.templating.list].flatMap(
      ({ expr, definition }) => (expr ?? definition ?? '').match(/\b(?:postern|process|nodejs)_\w+/g) ?? [],
    );
    const names = namesIn(body);
    expect(asked.filter((name) => !names.has(name))).toEqual([]);
    const family = (name: string): string => name.replace(/_(?:bucket|sum|count)$/, '');
    const shown = new Set(asked.map(family));
    const ours = new Set([...names].filter((name) => name.startsWith('postern_')).map(family));
    expect([...ours].filter((name) => !shown.has(name))).toEqual([]);

    expect([dashboard.id, dashboard.uid, dashboard.title]).toEqual([null, 'postern', 'Postern']);
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(charts.filter(({ targets, gridPos }) => !targets?.length || gridPos.x + gridPos.w > 24)).toEqual([]);
    expect(charts.filter(({ datasource }) => datasource?.uid !== '${datasource}')).toEqual([]);
  });
});

interface Dashboard {
  id: null;
  uid: string;
  title: string;
  panels: Array<{
    id: number;
    type: string;
    gridPos: { x: number; w: number };
    datasource?: { uid: string };
    targets?: Array<{ expr: string; definition?: undefined }>;
  }>;
  templating: { list: Array<{ definition?: string; expr?: undefined }> };
}

describe('links', () => {
  const headings = (file: string): string[] =>
    [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );

  test.each(documents)('every link in %s leads somewhere', (file) => {
    const links = [...read(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
    const lost = links.filter((link) => {
      if (/^https?:/.test(link)) return false;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? file : join(dirname(file), path);
      return !existsSync(join(ROOT, target)) || (anchor !== undefined && !headings(target).includes(anchor));
    });
    expect(lost).toEqual([]);
  });

  test('every source file that docs/specification.md names exists', () => {
    const named = [...read('docs/specification.md').matchAll(/`((?:src|migrations)\/[^`]+)`/g)].map(
      ([, path]) => path!,
    );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  // `<name>` stands for a name that is to be chosen: what is above it exists.
  const PATH = /(?<=^|[\s`(])((?:src|test|migrations|bench|docs)\/[\w.<>/-]*[\w>/]|[\w.-]+\.(?:json|yml|md)(?=`))/gm;
  test.each(['CONTRIBUTING.md', 'docs/architecture.md', ...pagesIn('docs/decisions')])(
    'every file and folder that %s names exists',
    (file) => {
      const named = [...read(file).matchAll(PATH)].map(([, path]) => path!.replace(/[^/]*<.*$/, ''));
      expect(named).not.toEqual([]);
      expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    },
  );

  test('docs/decisions/README.md lists every record', () => {
    const listed = [...read('docs/decisions/README.md').matchAll(/\]\((\d{4}-[^)]+)\)/g)].map(([, name]) => name);
    const records = readdirSync(join(ROOT, 'docs/decisions')).filter((name) => /^\d{4}-/.test(name));
    expect(listed).toEqual(records.toSorted());
  });
});

/** Tests whose names begin with a place in the specification: `specification §Endpoints 1: what it says`. */
function specificationTests(): Array<{ place: string; sentence: string; file: string }> {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).toSorted();
  return files
    .filter((file) => file.endsWith('.test.ts') && file !== 'docs.test.ts')
    .flatMap((file) =>
      [...read(`test/${file}`).matchAll(/(['"`])specification §([^:]+?): ((?:\\.|(?!\1).)+)\1/g)].map(
        ([, , place, sentence]) => ({ place: place!, sentence: sentence!.replaceAll(/\\(.)/g, '$1'), file }),
      ),
    );
}

/** As Prettier would write it. */
const asMarkdown = (text: string): string => text.replaceAll(/[\\*<]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&');

test('docs/specification.md lists every test of the specification, and no other', async () => {
  const shown = read('docs/specification.md');
  const markers = [...shown.matchAll(/<!-- tests: (.+) -->/g)].flatMap(([, places]) => places!.split(', '));
  const tests = specificationTests().map((entry) => {
    const fitting = markers.filter((marker) => entry.place.startsWith(marker));
    return { ...entry, marker: fitting.toSorted((a, b) => b.length - a.length)[0] };
  });
  expect(tests.filter(({ marker }) => marker === undefined)).toEqual([]);
  const listOf = (places: string): string => {
    const lines = tests
      .filter(({ marker }) => places.split(', ').includes(marker!))
      .toSorted((a, b) => a.place.localeCompare(b.place, 'en', { numeric: true }))
      .map(({ place, sentence, file }) => `- §${place}: ${asMarkdown(sentence)} ([${file}](../test/${file}))`);
    return lines.length === 0 ? '' : `\nShown by:\n\n${[...new Set(lines)].join('\n')}\n\n`;
  };
  const current = shown.replaceAll(
    /(<!-- tests: (.+) -->\n)[^]*?(<!-- end -->)/g,
    (_all, begin: string, places: string, end: string) => begin + listOf(places) + end,
  );
  await expect(current).toMatchFileSnapshot('../docs/specification.md');
});
