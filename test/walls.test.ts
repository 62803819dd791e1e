/** The walls between rooms: who may import whom, and which room alone may do what. docs/architecture.md says why. */
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { endpoints, pages, WELL_KNOWN } from '../src/protocol/endpoint.ts';

/** The rooms from top to bottom, as docs/architecture.md has them. Those on one line do not know each other, but for BESIDE. */
const LINES = [
  ['main', 'app'],
  ['http', 'workers', 'cli', 'dev'],
  ['authorize', 'grants', 'admin'],
  ['clients', 'users', 'sessions'],
  ['mail'],
  ['tokens', 'keys'],
  ['events'],
  ['store'],
  ['protocol'],
];
const BESIDE = ['main app', 'http views', 'dev views', 'tokens keys'];
/** What commands share stands beside the folder of the commands. */
const BESIDE_ROWS = ['src/cli/failure.ts', 'src/cli/list.ts'];
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
/** The files that loading one loads, itself among them, each with the file that asks for it first. */
function closureOf(file: string): Map<string, string> {
  const reached = new Map([[file, 'itself']]);
  for (const [next] of reached) {
    for (const { from, to, type } of ours) if (from === next && !type && !reached.has(to)) reached.set(to, from);
  }
  return reached;
}
/** What a file calls of the store, each with the file it is of. */
function storeVerbsIn(file: string, code: string): Array<[of: string, verb: string]> {
  const given = /(?:import|const) (?:\* as (\w+)|\{([^}]*)\})(?: from | = await import\()'([^']*\/store\/[\w-]+\.ts)'/g;
  return [...code.matchAll(given)].flatMap(([, name, names, path]): Array<[string, string]> => {
    const of = posix.join(posix.dirname(file), path!);
    const verbs =
      name === undefined
        ? names!.split(',').map((part) => part.trim().split(' ')[0]!)
        : [...code.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, 'g'))].map(([, verb]) => verb!);
    return verbs.map((verb) => [of, verb]);
  });
}

const WRITES =
  /\btrx\b|\.transaction\(|\bwrite\(|\.(?:insertInto|updateTable|deleteFrom)\(|\b(?:insert into|update [\w"$.{}]+ (?:\w+ )?set|delete from|truncate|alter table|create table|drop table)\b/i;

/** The functions and statements of a file of the store that change rows, or take or open a transaction. */
function writers(file: string): ReadonlySet<string> {
  const { code } = sources.find((source) => source.file === file)!;
  const parts = code.split(/^(?=(?:export )?(?:async )?(?:function\*?|const|class) \w+)/m).map((body) => ({
    body,
    name: /^(?:export )?(?:async )?(?:function\*?|const|class) (\w+)/.exec(body)?.[1] ?? '',
  }));
  const found = new Set<string>();
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const { name, body } of parts) {
      const calls = [...found].some((writer) => new RegExp(`\\b${writer}\\b`).test(body));
      if (name !== '' && (calls || WRITES.test(body))) found.add(name);
    }
  }
  return found;
}
const filesWhere = (pattern: RegExp): string[] =>
  sources.filter(({ code }) => pattern.test(code)).map(({ file }) => file);
const outside = (files: string[], ...allowed: string[]): string[] =>
  files.filter((file) => !allowed.some((place) => file.startsWith(place)));

test('every file stands in a room of docs/architecture.md', () => {
  const rooms = [...LINES.flat(), 'views', 'languages', 'platform', 'config', 'deps'];
  expect(sources.filter(({ file }) => file.startsWith('src/') && !rooms.includes(roomOf(file)))).toEqual([]);
  expect(ours.length).toBeGreaterThan(100);
  const page = readFileSync('docs/architecture.md', 'utf8');
  expect(rooms.filter((room) => !page.includes(`\`src/${room}\``) && !page.includes(`src/${room}.ts`))).toEqual([]);
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
    // What languages there are is asked by whoever speaks to people; it knows nobody.
    if (b === 'languages') return false;
    if (b === 'platform' || b === 'dev') return lineOf(a) !== 0;
    return lineOf(a) < 0 || lineOf(b) <= lineOf(a);
  });
  expect(say(wrong)).toEqual([]);
});

test('tokens look no person up: who somebody is comes with what is issued, or with the grant', () => {
  const wrong = ours.filter(({ from, to, type }) => roomOf(from) === 'tokens' && to === 'src/store/users.ts' && !type);
  expect(say(wrong)).toEqual([]);
});

test('no door knows another: what http/oauth, http/browser and http/admin share stands in http itself', () => {
  const doorOf = (file: string): string | undefined => /^src\/http\/(\w+)\//.exec(file)?.[1];
  const wrong = ours.filter(({ from, to }) => {
    const door = doorOf(to);
    return roomOf(from) === 'http' && door !== undefined && door !== doorOf(from);
  });
  expect(say(wrong)).toEqual([]);
});

test('doors write nothing: what changes a row or opens a transaction is called by flows and parties', () => {
  const doors = sources.filter(({ file }) => ['http', 'cli', 'dev'].includes(file.split('/')[1] ?? ''));
  const wrong = doors.flatMap(({ file, code }) =>
    storeVerbsIn(file, code)
      .filter(([of, verb]) => writers(of).has(verb))
      .map(([of, verb]) => `${file}: ${verb} of ${of}`),
  );
  expect(wrong).toEqual([]);
  // The walls of a house without writers would never fall.
  expect([...writers('src/store/interactions.ts')].toSorted()).toEqual(['answer', 'bind', 'insert', 'record']);
  expect(writers('src/store/postgres/db.ts')).toContain('transact');
});

test('the token endpoint is read with the files it needs: nothing of operators, pages or commands is behind it', () => {
  const reached = closureOf('src/http/oauth/token.ts');
  const foreign = ['src/admin/', 'src/http/admin/', 'src/http/browser/', 'src/views/', 'src/cli/', 'src/authorize/'];
  const paths = [...reached].filter(([file]) => foreign.some((place) => file.startsWith(place)));
  expect(paths.map(([file, from]) => `${file}, by ${from}`)).toEqual([]);
  expect(reached.size).toBeLessThanOrEqual(90);
});

test('protocol imports zod, jose and node:crypto alone, views nothing of ours but languages, and languages nothing', () => {
  const allowed = ['zod', 'jose', 'node:crypto'];
  const wrong = imports.filter(({ from, to }) => {
    if (from.startsWith('src/protocol/')) return !to.startsWith('src/protocol/') && !allowed.includes(to);
    if (from.startsWith('src/languages/')) return !to.startsWith('src/languages/');
    return from.startsWith('src/views/') && !/^src\/(?:views|languages)\//.test(to);
  });
  expect(say(wrong)).toEqual([]);
});

test('each of these belongs to one place', () => {
  expect(outside(filesWhere(/from 'fastify'/), 'src/http/', 'src/app.ts')).toEqual([]);
  expect(outside(filesWhere(/from 'kysely/), 'src/store/', 'migrations/')).toEqual([]);
  expect(outside(filesWhere(/from 'pg'/), 'src/store/', 'src/platform/postgres/')).toEqual([]);
  expect(outside(filesWhere(/\^bearer/i), 'src/http/bearer.ts')).toEqual([]);
  // Who is let in by a token holds what it is bound to: doors and parties ask for `verifyPresented`.
  expect(outside(filesWhere(/\bverifyAccessToken\b/), 'src/tokens/')).toEqual([]);
  expect(outside(filesWhere(/\bprocess\.env\b/), 'src/config.ts')).toEqual([]);
  expect(outside(filesWhere(/\bDate\.now\b|\bnew Date\(\)|\brandomBytes\b/), 'src/platform/')).toEqual([]);
});

test('the path of an endpoint stands once; views are given addresses, and a step of an interaction has its own', () => {
  const paths = [...Object.values(endpoints), ...Object.values(pages), ...WELL_KNOWN].join('|').replaceAll('.', '\\.');
  const typed = filesWhere(new RegExp(`['"\`}](?:${paths})(?![\\w-])`));
  expect(outside(typed, 'src/protocol/endpoint.ts', 'src/views/', 'src/authorize/next-step.ts')).toEqual([]);
});

test('an engine knows none of its rows, but their types', () => {
  const engines = ['src/store/postgres/', 'src/admin/api/', 'src/cli/doctor/'];
  const wrong = ours.filter(({ from, to, type }) => {
    const engine = engines.find((folder) => from.startsWith(folder));
    if (engine === undefined || type) return false;
    const room = posix.dirname(engine);
    return posix.dirname(to) === room && !BESIDE_ROWS.includes(to);
  });
  expect(say(wrong)).toEqual([]);
});

test('no file is a drawer for the rest, and none is longer than 350 lines', () => {
  const drawers = sources.filter(({ file }) => /(?:^|\/)(?:utils?|helpers?|common|managers?)\b|-service\b/.test(file));
  expect(drawers.map(({ file }) => file)).toEqual([]);
  const long = sources.filter(({ text }) => text.trimEnd().split('\n').length > 350);
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

test('a transaction is passed on as what it is: nothing takes one out of what it does not know to be one', () => {
  expect(filesWhere(/\bas Trx\b/)).toEqual([]);
});
