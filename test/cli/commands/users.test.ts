import { verify } from 'argon2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOn, type Postern } from '../../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { stopServers } from '../../support/server.ts';

let database: TestDatabase;
let postern: Postern;
beforeAll(async () => {
  database = await createTestDatabase();
  postern = await commandsOn(database);
});
afterAll(async () => {
  await database.close();
  await stopServers();
});

const PASSWORD = 'correct horse battery staple';
const passwordOf = async (sub: string): Promise<string | undefined> => {
  const rows = await database.db.selectFrom('password_credentials').selectAll().where('sub', '=', sub).execute();
  return rows[0]?.phc;
};

test('create prints the account with its sub, and takes the password from standard input', async () => {
  const claims = { name: 'Ada Lovelace', groups: ['staff'] };
  const options = ['--username', 'Ada', '--email', 'ada@example.test', '--email-verified', '--password-stdin'];
  const made = await postern(['users', 'create', ...options, '--claims', JSON.stringify(claims), '--json'], {
    stdin: `${PASSWORD}\n`,
  });
  expect(made.code).toBe(0);
  expect(made.json()).toEqual({
    sub: expect.stringMatching(/^[\w-]{22}$/),
    username: 'Ada',
    email: 'ada@example.test',
    email_verified: true,
    claims,
    disabled: false,
    erase_after: null,
    invited_until: null,
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    updated_at: expect.any(String),
  });
  const sub = String(made.json()['sub']);
  expect(await verify((await passwordOf(sub))!, PASSWORD)).toBe(true);

  expect((await postern(['users', 'get', 'ADA@example.test', '--json'])).json()).toEqual(made.json());
  const text = await postern(['users', 'get', 'ada']);
  expect(text.stdout).toMatch(/^username +Ada$/m);
  expect(text.stdout).not.toContain('argon2');
});

test('create works without a password, with a given sub, and never asks where nobody can answer', async () => {
  const made = await postern(['users', 'create', '--username', 'bob', '--sub', 'old-system|7', '-q']);
  expect(made.stdout).toBe('old-system|7\n');
  expect(await passwordOf('old-system|7')).toBeUndefined();
  const again = await postern(['users', 'create', '--username', 'BOB', '--if-not-exists', '--json']);
  expect(again.json()).toMatchObject({ sub: 'old-system|7', username: 'bob' });
  const taken = await postern(['users', 'create', '--username', 'bob', '--json']);
  expect(taken.code).toBe(1);
  expect(JSON.parse(taken.stderr)).toEqual({ error: 'conflict', message: 'the username is taken' });
  const nobody = await postern(['users', 'set-password', 'bob']);
  expect([nobody.code, nobody.problems.length]).toEqual([2, 1]);
});

test.each([
  ['short\n', 'error: the password must have at least 8 characters\n'],
  ['\n', 'error: --password-stdin: there is no password on standard input\n'],
])('create refuses the password %j with exit code 2', async (stdin, stderr) => {
  const refused = await postern(['users', 'create', '--username', 'x', '--password-stdin'], { stdin });
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr });
});

test.each([
  ['--password-stdin', ['users', 'create', '--username', 'x', '--password-stdin']],
  ['the document', ['clients', 'create', '--file', '-']],
  ['a token', ['tokens', 'introspect', '-']],
])('RFC 3629: %s from standard input is UTF-8, or nothing at all', async (_what, args) => {
  const refused = await postern(args, { stdin: Buffer.from('{"a":"pass\xFFword"}\n', 'latin1') });
  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toBe('error: standard input: is not UTF-8\n');
});

test('update, set-password, disable, enable and delete', async () => {
  const { sub } = (
    await postern(['users', 'create', '--username', 'eve', '--email', 'eve@example.test', '--json'])
  ).json();
  const changed = await postern([
    'users',
    'update',
    'eve',
    '--username',
    'eva',
    '--no-email',
    '--claims',
    '{}',
    '--json',
  ]);
  expect(changed.json()).toMatchObject({ sub, username: 'eva', email: null, email_verified: false });

  const set = await postern(['users', 'set-password', 'eva', '--password-stdin'], { stdin: PASSWORD });
  expect(set.code).toBe(0);
  expect(set.stdout + set.stderr).not.toContain(PASSWORD);
  expect(await verify((await passwordOf(String(sub)))!, PASSWORD)).toBe(true);

  expect((await postern(['users', 'disable', 'eva', '--json'])).json()).toMatchObject({ sub, disabled: true });
  expect((await postern(['users', 'list'])).stdout).toMatch(/ eva +disabled$/m);
  expect((await postern(['users', 'enable', 'eva', '--json'])).json()).toMatchObject({ disabled: false });
  expect((await postern(['users', 'delete', 'eva', '--json'])).json()).toEqual({ sub, deleted: true });

  const missing = await postern(['users', 'disable', 'eva']);
  expect([missing.code, missing.stderr]).toEqual([3, 'error: there is no account eva\n']);
  const rows = await database.db.selectFrom('audit_events').select('event').where('sub', '=', String(sub)).execute();
  expect(rows.map(({ event }) => event)).toEqual([
    'user_created',
    'user_updated',
    'password_changed',
    'user_disabled',
    'user_enabled',
    'user_deleted',
  ]);
});

test('invite makes an account and a link; send-verification sends one; mail lists, retries and forgets; doctor says what is lost', async () => {
  const invite = ['users', 'invite', '--email', 'ivy@example.test', '--name', 'Ivy'];
  const invited = (await postern([...invite, '--link', '--json'])).json();
  expect(invited).toMatchObject({ username: 'ivy', email: 'ivy@example.test', invited: true });
  expect((await postern([...invite, '--link', '-q'])).stdout).toMatch(
    /^http:\/\/localhost:3000\/invitation\/[\w-]+\n$/,
  );
  expect((await postern(['users', 'invite', '--email', 'ivy'])).code).toBe(2);

  expect((await postern(['users', 'send-verification', 'ivy', '--json'])).code).toBe(0);
  expect((await postern(['users', 'send-verification', 'nobody'])).code).toBe(3);
  const listed = (await postern(['mail', 'list', '--to', 'ivy@example.test', '--json'])).items();
  expect(listed.map(({ template, state }) => `${String(template)} ${String(state)}`)).toEqual([
    'verify-email waiting',
    'invitation waiting',
    'invitation waiting',
  ]);
  expect(JSON.stringify(listed)).not.toContain(String(invited['url']));

  const [latest, ...others] = listed.map(({ mail_id }) => String(mail_id));
  for (const mail_id of others) expect((await postern(['mail', 'delete', mail_id])).code).toBe(0);
  expect((await postern(['mail', 'delete', others[0]!])).code).toBe(3);
  await database.db.updateTable('mails').set({ state: 'dead' }).where('mail_id', '=', latest!).execute();
  const { findings } = (await postern(['doctor', '--json'])).json() as { findings: Array<Record<string, string>> };
  expect(findings.filter(({ check }) => check === 'mail')).toContainEqual(
    expect.objectContaining({ level: 'warning', message: '1 could not be sent' }),
  );
  expect((await postern(['mail', 'retry', '--all', '--json'])).json()).toEqual({ retried: [latest] });
  expect((await postern(['mail', 'retry', '--all', '--json'])).json()).toEqual({ retried: [] });
  expect((await postern(['mail', 'retry'])).code).toBe(2);

  await postern(['users', 'set-password', 'ivy', '--password-stdin'], { stdin: PASSWORD });
  expect(await postern([...invite, '--link'])).toMatchObject({ code: 1, stderr: expect.stringContaining('already') });
});

test('invite makes the account, and again another link of the same one; get says until when', async () => {
  const invite = () => postern(['users', 'invite', '--email', 'new@example.test', '--name', 'New', '--link', '--json']);
  const [first, again] = [(await invite()).json(), (await invite()).json()];
  expect(first).toMatchObject({ username: 'new', created: true, invited: true });
  expect(again).toMatchObject({ sub: first['sub'], created: false, invited: true });
  expect(again['url']).not.toBe(first['url']);
  const shown = (await postern(['users', 'get', 'new', '--json'])).json();
  expect(shown).toMatchObject({ claims: { name: 'New' }, invited_until: again['expires_at'] });
});
