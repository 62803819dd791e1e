/** The walls of the house: who may import whom, and which room alone may do what. */
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, test } from 'vitest';

/** The rooms from top to bottom. Those on one line do not know each other, but for BESIDE. */
const LINES = [
  ['main', 'app'],
  ['http', 'workers', 'cli', 'dev'],
  ['authorize', 'grants', 'admin'],
  ['clients', 'users', 'sessions'],
  ['tokens', 'keys'],
  ['events'],
  ['store'],
  ['protocol'],
];
const BESIDE = ['main app', 'http views', 'dev views', 'tokens keys'];
/** What even rooms below may know of these is a type. */
const TYPES_FOR_ALL = ['src/deps.ts', 'src/config.ts'];

interface Import {
  from: string;
  to: string;
  type: boolean;
}

const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join(folder, file))
    .filter((file) => file.endsWith('.ts'));
const sources = [...filesUnder('src'), ...filesUnder('migrations')].map((file) => {
  const text = readFileSync(file, 'utf8');
  return { file, text, code: text.replaceAll(/^\s*(?:\/\*|\*|\/\/).*$/gm, '') };
});

const STATEMENT = /^(?:import|export) (type )?(?:[^;'"]*? from )?'([^']+)'|\bimport\('([^']+)'\)/gm;
const imports: Import[] = sources.flatMap(({ file, code }) =>
  [...code.matchAll(STATEMENT)].map(([, type, named, dynamic]) => {
    const to = named ?? dynamic!;
    return { from: file, to: to.startsWith('.') ? posix.join(posix.dirname(file), to) : to, type: type !== undefined };
  }),
);
const ours = imports.filter(({ to }) => to.startsWith('src/'));

const roomOf = (file: string): string => file.split('/')[1]!.replace(/\.ts$/, '');
const lineOf = (room: string): number => LINES.findIndex((line) => line.includes(room));
const say = (found: Import[]): string[] => found.map(({ from, to }) => `${from} imports ${to}`);
const filesWhere = (pattern: RegExp): string[] =>
  sources.filter(({ code }) => pattern.test(code)).map(({ file }) => file);
const outside = (files: string[], ...allowed: string[]): string[] =>
  files.filter((file) => !allowed.some((place) => file.startsWith(place)));

test('every file stands in a room of the plan', () => {
  const rooms = [...LINES.flat(), 'views', 'platform', 'config', 'deps'];
  expect(sources.filter(({ file }) => file.startsWith('src/') && !rooms.includes(roomOf(file)))).toEqual([]);
  expect(ours.length).toBeGreaterThan(100);
});

test('imports lead only downward, and rooms on one line do not know each other', () => {
  const wrong = ours.filter(({ from, to, type }) => {
    const [a, b] = [roomOf(from), roomOf(to)];
    if (from.startsWith('migrations/')) return true;
    if (a === b || BESIDE.includes(`${a} ${b}`) || (type && TYPES_FOR_ALL.includes(to))) return false;
    if (a === 'deps') return !type;
    // The environment's limits and words are the protocol's.
    if (a === 'config') return b !== 'protocol';
    // Settings are the configuration, shown to operators.
    if (from === 'src/admin/settings.ts' && b === 'config') return false;
    if (b === 'config') return a !== 'main' && lineOf(a) !== 1;
    if (b === 'platform' || b === 'dev') return lineOf(a) !== 0;
    return lineOf(a) < 0 || lineOf(b) <= lineOf(a);
  });
  expect(say(wrong)).toEqual([]);
});

test('protocol imports zod, jose and node:crypto alone, views nothing of ours', () => {
  const allowed = ['zod', 'jose', 'node:crypto'];
  const wrong = imports.filter(({ from, to }) => {
    if (from.startsWith('src/protocol/')) return !to.startsWith('src/protocol/') && !allowed.includes(to);
    return from.startsWith('src/views/') && !to.startsWith('src/views/');
  });
  expect(say(wrong)).toEqual([]);
});

test('each of these belongs to one place', () => {
  expect(outside(filesWhere(/from 'fastify'/), 'src/http/', 'src/app.ts')).toEqual([]);
  expect(outside(filesWhere(/from 'kysely/), 'src/store/', 'migrations/')).toEqual([]);
  expect(outside(filesWhere(/from 'pg'/), 'src/store/', 'src/platform/postgres/')).toEqual([]);
  expect(outside(filesWhere(/\bprocess\.env\b/), 'src/config.ts')).toEqual([]);
  expect(outside(filesWhere(/\bDate\.now\b|\bnew Date\(\)|\brandomBytes\b/), 'src/platform/')).toEqual([]);
});

test('no file is a drawer for the rest, and none is longer than 400 lines', () => {
  const drawers = sources.filter(({ file }) => /(?:^|\/)(?:utils?|helpers?|common|managers?)\b|-service\b/.test(file));
  expect(drawers.map(({ file }) => file)).toEqual([]);
  const long = sources.filter(({ text }) => text.split('\n').length > 400);
  expect(long.map(({ file }) => file)).toEqual([]);
});

test('every function and interface that these rooms export says in a sentence what it is', () => {
  const exported =
    /(\*\/\n)?^export (?:async function|function|interface|const \w+(?:: \w+)? = (?:async )?\() ?(\w*).*/gm;
  const silent = sources
    .filter(({ file }) => ['store', 'protocol', 'clients'].includes(file.startsWith('src/') ? roomOf(file) : ''))
    .flatMap(({ file, text }) =>
      [...text.matchAll(exported)].filter(([, said]) => said === undefined).map(([line]) => `${file}: ${line}`),
    );
  expect(silent).toEqual([]);
});
