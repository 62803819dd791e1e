/** Completion as a shell does it: the script is sourced, and asked what comes next. */
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { run } from '../../../src/cli/index.ts';
import { nobody } from '../../support/reach.ts';
import { stopServers, temporaryDirectory } from '../../support/server.ts';

let stdout = '';
beforeEach(() => {
  stdout = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((stdout += String(text)), true));
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => stopServers());

const never = (): Promise<never> => Promise.reject(new Error('nothing may be opened'));

async function scriptFor(shell: string): Promise<string> {
  expect(await run(['completion', shell], { start: never, open: never, reach: nobody })).toBe(0);
  const file = join(temporaryDirectory(), `postern.${shell}`);
  writeFileSync(file, stdout);
  return file;
}

/** What bash offers after each line; a line that ends in a space asks for the next word. */
function offered(file: string, lines: readonly string[]): string[][] {
  const ask = lines.map(
    (line) =>
      `COMP_WORDS=(${line}${line.endsWith(' ') ? "''" : ''}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _postern; echo "\${COMPREPLY[*]}"`,
  );
  const script = ['set -eu', `source '${file}'`, 'complete -p postern >/dev/null', ...ask].join('\n');
  return execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.split(' '));
}

test('bash completes commands, their options, choices and files, wherever other options stand', async () => {
  const file = await scriptFor('bash');
  const [top, clients, presets, afterUrl, uri, methods, nothing] = offered(file, [
    'postern ',
    'postern clients ',
    'postern clients create --preset ',
    'postern --url https://id.example.com clients create --pre',
    'postern clients create --redir',
    'postern clients update shop --auth-method client_secret_p',
    'postern clients create --name ',
  ]);
  expect(top).toEqual(
    expect.arrayContaining(['dev', 'clients', 'registration-tokens', 'completion', '--url', '--version']),
  );
  expect(clients).toEqual(expect.arrayContaining(['create', 'list', 'rotate-secret', '--help']));
  expect(clients).not.toContain('--preset');
  expect(presets).toEqual(['web', 'spa', 'native', 'device', 'fapi2', 'm2m', 'admin']);
  expect(afterUrl).toEqual(['--preset']);
  expect(uri).toEqual(['--redirect-uri']);
  expect(methods).toEqual(['client_secret_post']);
  expect(nothing).toEqual(['']);
});

test.each([
  ['zsh', ['-n']],
  ['fish', ['--no-execute']],
])('the script for %s is one that the shell can read', async (shell, options) => {
  const file = await scriptFor(shell);
  expect(stdout).toContain('clients');
  // Where there is none, there is nobody to complete for either.
  if (spawnSync(shell, ['--version']).error) return;
  expect(spawnSync(shell, [...options, file], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
});
