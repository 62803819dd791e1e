/** What is decided before anything is opened, without the price of a process. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { run } from '../../src/cli/index.ts';
import { nobody } from '../support/reach.ts';

let stdout = '';
let stderr = '';
beforeEach(() => {
  stdout = stderr = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((stdout += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((stderr += String(text)), true));
});
afterEach(() => vi.restoreAllMocks());

const never = (): Promise<never> => Promise.reject(new Error('nothing may be opened'));
const postern = (args: readonly string[]): Promise<number | undefined> =>
  run(args, { start: never, open: never, reach: nobody });

const COMMANDS = [
  'dev',
  'serve',
  'migrate',
  'config',
  'clients',
  'users',
  'groups',
  'roles',
  'sessions',
  'grants',
  'tokens',
  'scopes',
  'resources',
  'authorization-types',
  'upstreams',
  'keys',
  'registration-tokens',
  'logout-notices',
  'mail',
  'audit',
  'settings',
  'explain',
  'doctor',
  'completion',
];

/** The commands that the help of one names; `help`, which is the library's, comes last. */
async function namedBy(...command: string[]): Promise<string[]> {
  stdout = '';
  expect(await postern([...command, '--help'])).toBe(0);
  const [, listed = ''] = stdout.split('\nCommands:\n');
  return [...listed.split('\n\n')[0]!.matchAll(/^ {2}([a-z-]+) .*\w/gm)].map(([, name]) => name!);
}

test.each(COMMANDS)('%s and its commands have help, with examples and --json', async (name) => {
  const subs = (await namedBy(name)).filter((sub) => sub !== 'help');
  const own = subs.length === 0 ? [[name]] : subs.map((sub) => [name, sub]);
  for (const command of own) {
    stdout = '';
    expect(await postern([...command, '--help'])).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Usage: postern ${command.join(' ')} `));
    expect(stdout).toContain('--json');
    expect(stdout).toMatch(new RegExp(`Examples:\\n {2}postern ${command.join(' ')}`));
  }
});

test('the help names every command there is, and none that there is not', async () => {
  expect(await namedBy()).toEqual([...COMMANDS, 'help']);
  expect(await postern(['help', 'clients'])).toBe(0);
});

test.each([
  [['nonsense'], /^error: unknown command 'nonsense'\n$/],
  [['audits', 'list'], /^error: unknown command 'audits'/],
  [['sessions', 'list', '--state', 'dead'], /^error: .*Allowed choices are live, ended\.\n$/],
  [['clients', 'nonsense'], /^error: unknown command 'nonsense'\n$/],
  [['migrate', 'nonsense'], /^error: .*nonsense|too many arguments/],
  [
    ['keys', 'retire', '-RcCfAJgw6eC'],
    /^error: unknown option '-RcCfAJgw6eC'; -- stands before an argument that begins with -\n$/,
  ],
  [['clients', 'create', '--nme', 'x'], /^error: unknown option '--nme' \(Did you mean --name\?\)\n$/],
  [
    ['clients', 'create', '--preset', 'kiosk'],
    /^error: .*Allowed choices are web, spa, native, device, fapi2, m2m, admin\.\n$/,
  ],
  [['clients', 'create', '--grant-type', 'implicit'], /^error: .*Allowed choices are authorization_code, /],
  [['clients', 'create', '--access-token-ttl', '7x'], /^error: .*7d\.\n$/],
  [['clients', 'create', '--if-not-exists'], /^error: --if-not-exists needs --client-id\n$/],
  [
    ['clients', 'create', '--preset', 'spa', '--client-secret', 'x'],
    /^error: client_secret: a public client has none\n$/,
  ],
  [['clients', 'get'], /^error: missing required argument 'client_id'\n$/],
  [['clients', 'get', 'a', 'b'], /^error: too many arguments/],
  [['clients', 'update', 'a'], /^error: there is nothing to change/],
  [['clients', 'list', '--limit', '0'], /^error: .*Use a number from 1\.\n$/],
  [['users', 'create'], /^error: --username is missing\n$/],
  [['users', 'create', '--username', 'x', '--claims', 'nonsense'], /^error: claims: is not JSON .*\n$/],
  [['users', 'create', '--username', 'x', '--claims', '[]'], /^error: claims: must be a JSON object\n$/],
  [
    ['users', 'create', '--username', 'x', '--claims', '{"shoe":4}'],
    /^error: claims\.shoe: there is no such member\n$/,
  ],
  [['users', 'create', '--username', 'x', '--claims', '{"name":1}'], /^error: claims\.name: .*\n$/],
  [['users', 'update', 'x'], /^error: there is nothing to change/],
  [['clients'], /^Usage: postern clients /],
  [[], /^Usage: postern /],
  [['keys', 'rotate', '--json', '--alg', 'HS256'], /^\{"error":"usage","message":"[^\n]*"\}\n$/],
])('answers %j with exit code 2', async (args, expected) => {
  expect([await postern(args), stdout]).toEqual([2, '']);
  expect(stderr).toMatch(expected);
});

test('what nobody foresaw is one line too, and no stack trace', async () => {
  expect(await postern(['clients', 'list'])).toBe(1);
  expect(stderr).toBe('error: nothing may be opened\n');
});
