/** Load by wrk. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Load, Shot } from '../scenario.ts';
import type { Fired, Fire } from './index.ts';

export function hasWrk(): boolean {
  try {
    execFileSync('wrk', ['--version'], { stdio: ['ignore', 'ignore', 'ignore'] });
    return true;
  } catch (error) {
    // It answers --version with status 1.
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/** As a Lua expression. Texts are ASCII, whose JSON escapes Lua shares. */
function lua(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(lua).join(',')}}`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `[${JSON.stringify(name)}]=${lua(member)}`).join(',')}}`;
}

const shotOf = ({ method, path, headers, body }: Shot): Shot => ({
  method,
  path,
  headers,
  ...(body !== undefined && { body }),
});

const tableOf = ({ shot, follow }: Load): string =>
  `return ${lua({
    shot: shotOf(shot),
    follow: follow?.map((step) => ({
      source: step.in,
      after: step.after,
      before: step.until,
      shot: shotOf(step.next),
    })),
  })}\n`;

export const fireWrk: Fire = async (origin, load, { connections, seconds }) => {
  const directory = mkdtempSync(join(tmpdir(), 'postern-bench-'));
  try {
    const table = join(directory, 'load.lua');
    writeFileSync(table, tableOf(load));
    const values = join(directory, 'values');
    if (load.values) writeFileSync(values, load.values.map((value) => `${value}\n`).join(''));
    const script = join(import.meta.dirname, 'wrk.lua');
    const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, origin, '--', table];
    const { stdout, stderr } = await promisify(execFile)('wrk', load.values ? [...args, values] : args);
    const result = /^RESULT (.*)$/m.exec(stdout)?.[1];
    if (result === undefined) throw new Error(`wrk said nothing we understand: ${stdout}${stderr}`);
    const { status, socket, timeout, lost, dry, ...rest } = JSON.parse(result) as Omit<Fired, 'errors'> &
      Record<string, number>;
    const errors = { status: status!, socket: socket!, timeout: timeout!, lost: lost!, dry: dry! };
    return { ...(rest as Omit<Fired, 'errors'>), errors };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};
