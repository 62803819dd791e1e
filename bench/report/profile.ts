/** CPU profiles, read: which package, and which function, the time of the main thread went to. */
import { readFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';

/** Where a function lives: a package, a room of ours, a part of Node, or V8 itself. */
function homeOf({ url, functionName }: Profiler.ProfileNode['callFrame']): string {
  const packaged = /node_modules\/((?:@[^/]+\/)?[^/]+)(?!.*node_modules)/.exec(url)?.[1];
  if (packaged !== undefined) return packaged;
  const room = /\/(src\/[^/]+)/.exec(url)?.[1];
  if (room !== undefined) return room;
  if (url.startsWith('node:')) return url.replace(/^node:internal\//, 'node:').split('/')[0]!;
  return functionName.startsWith('(') ? functionName : url === '' ? '(native)' : 'bench';
}

interface Share {
  name: string;
  /** Of the time in which anything ran. */
  share: number;
}

/** Self time by home, and by function, the largest first. */
function sharesIn(file: string): { homes: Share[]; functions: Share[]; idle: number } {
  const { nodes, samples = [], timeDeltas = [] } = JSON.parse(readFileSync(file, 'utf8')) as Profiler.Profile;
  const time = new Map<number, number>();
  for (const [index, id] of samples.entries()) time.set(id, (time.get(id) ?? 0) + (timeDeltas[index] ?? 0));
  const homes = new Map<string, number>();
  const functions = new Map<string, number>();
  let idle = 0;
  let busy = 0;
  const add = (map: Map<string, number>, name: string, value: number): void =>
    void map.set(name, (map.get(name) ?? 0) + value);
  for (const { id, callFrame } of nodes) {
    const self = time.get(id) ?? 0;
    if (callFrame.functionName === '(idle)') idle += self;
    // The profiler itself, as it starts.
    if (callFrame.functionName === '(idle)' || callFrame.url === 'node:inspector') continue;
    busy += self;
    const home = homeOf(callFrame);
    add(homes, home, self);
    const place = callFrame.url === '' ? '' : `:${callFrame.lineNumber + 1}`;
    add(functions, `${home} ${callFrame.functionName || '(anonymous)'}${place}`, self);
  }
  const sorted = (map: Map<string, number>): Share[] =>
    [...map].map(([name, self]) => ({ name, share: self / busy })).toSorted((a, b) => b.share - a.share);
  return { homes: sorted(homes), functions: sorted(functions), idle: idle / (idle + busy) };
}

/** The same for people. */
export function describeProfile(title: string, file: string): string {
  const { homes, functions, idle } = sharesIn(file);
  const list = (shares: Share[], count: number): string[] =>
    shares.slice(0, count).map(({ name, share }) => `  ${(share * 100).toFixed(1).padStart(5)} %  ${name}`);
  const percent = (idle * 100).toFixed(0);
  return [
    `${title}: ${file} (idle ${percent} %)`,
    ...list(homes, 16),
    '  by function',
    ...list(functions, 24),
    '',
  ].join('\n');
}
