import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOn, posternOn, type Postern } from '../../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { SECRET_KEY, stopServers, temporaryDirectory } from '../../support/server.ts';

let database: TestDatabase;
let at: TestApp;
let postern: Postern;
const directory = temporaryDirectory();
beforeAll(async () => {
  database = await createTestDatabase();
  at = await testApp({ database, config: { SECRET_KEYS: [SECRET_KEY] } });
  postern = await commandsOn(database);
});
afterAll(async () => {
  await at.close();
  await database.close();
  await stopServers();
});

const file = (name: string, content: string | Buffer): string => {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
};
const ndjson = (name: string, people: readonly unknown[]): string =>
  file(name, people.map((person) => (typeof person === 'string' ? person : JSON.stringify(person))).join('\n'));
const enter = async (username: string, password: string): Promise<number> =>
  (await at.app.inject({ method: 'POST', url: '/login', payload: { username, password } })).statusCode;
const people = async (): Promise<number> =>
  Number(
    (
      await database.db
        .selectFrom('users')
        .select(({ fn }) => fn.countAll().as('n'))
        .executeTakeFirstOrThrow()
    ).n,
  );

const BCRYPT = '$2y$10$.vGA1O9wmRjrwAVXD98HNOgsNpDczlqm3Jq7KnEd1rVAGv3Fykk1a';

test('people are imported with what is known of them, and sign in with the passwords they have', async () => {
  const path = ndjson('people.ndjson', [
    { sub: 'auth0|1', username: 'rasmus', email: 'rasmus@example.test', email_verified: true, password_hash: BCRYPT },
    { email: 'nameless@example.test', claims: { given_name: 'Nora' }, password_hash: null },
    '',
    { username: 'gone', disabled: true, password_hash: BCRYPT },
  ]);
  const checked = await postern(['users', 'import', path, '--check', '--json']);
  expect(checked.json()).toEqual({ people: 3, created: 0, present: 0, refused: [] });
  const done = await postern(['users', 'import', path, '--json']);
  expect([done.code, done.json()]).toEqual([0, { people: 3, created: 3, present: 0, refused: [] }]);
  expect(await enter('rasmus@example.test', 'rasmuslerdorf')).toBe(200);
  expect(await enter('gone', 'rasmuslerdorf')).toBe(401);
  const rasmus = (await postern(['users', 'get', 'auth0|1', '--json'])).json();
  expect(rasmus).toMatchObject({ username: 'rasmus', email_verified: true });
  const nora = (await postern(['users', 'get', 'nameless@example.test', '--json'])).json();
  expect(nora).toMatchObject({
    username: expect.stringMatching(/^user-[0-9a-f]{16}$/),
    claims: { given_name: 'Nora' },
  });
  const audited = await database.db
    .selectFrom('audit_events')
    .selectAll()
    .where('event', '=', 'user_created')
    .execute();
  expect(audited.map(({ actor }) => actor)).toEqual(Array.from({ length: 3 }, () => expect.stringMatching(/^cli:/)));
});

test('the same file again changes nothing, and one that grew imports who is new', async () => {
  const rasmus = { username: 'rasmus', email: 'RASMUS@example.test', password_hash: BCRYPT };
  const path = ndjson('more.jsonl', [{ ...rasmus, claims: { name: 'Another Name' } }, { username: 'newcomer' }]);
  expect((await postern(['users', 'import', path, '--json'])).json()).toMatchObject({
    created: 1,
    present: 1,
    refused: [],
  });
  expect((await postern(['users', 'import', path, '--json'])).json()).toMatchObject({
    created: 0,
    present: 2,
    refused: [],
  });
  expect((await postern(['users', 'get', 'rasmus', '--json'])).json()).toMatchObject({ claims: {} });
  expect((await database.db.selectFrom('subjects').select('sub').where('kind', '=', 'user').execute()).length).toBe(
    await people(),
  );
});

test('nobody is imported while a line is refused, and each is named with its reason', async () => {
  const before = await people();
  const lines = [
    { username: 'fine' },
    '{"username":',
    '["a list"]',
    { username: 'two words' },
    {},
    { username: 'weak', password_hash: 'sunshine' },
    { username: 'slow', password_hash: `$2b$31$${'a'.repeat(53)}` },
    { username: 'FINE' },
    { username: 'typo', emial: 'x@example.test' },
    { username: 'claimed', claims: { shoe: 4 } },
    { sub: 'with space', username: 'spaced' },
  ];
  const path = ndjson('wrong.ndjson', lines);
  const refused = await postern(['users', 'import', path]);
  expect([refused.code, refused.problems]).toEqual([
    2,
    [
      'error: line 2: the line is not JSON',
      'error: line 3: the line: Invalid input: expected object, received array',
      'error: line 4: username must be 1 to 128 visible characters without spaces or @',
      'error: line 5: a username or an email is needed: by one of them people sign in',
      expect.stringMatching(/^error: line 6: password_hash: is of none of these: Argon2, bcrypt/),
      'error: line 7: password_hash: its cost is above 14: each sign-in would take seconds',
      'error: line 8: username: line 1 has the same',
      expect.stringContaining('error: line 9: the line: Unrecognized key'),
      expect.stringContaining('error: line 10: claims: Unrecognized key'),
      'error: line 11: sub: must be 1 to 255 visible ASCII characters',
      'error: nobody was imported: mend these lines, or give --skip-refused',
    ],
  ]);
  expect(await people()).toBe(before);
  const report = join(directory, 'refused.ndjson');
  const skipped = await postern(['users', 'import', path, '--skip-refused', '--report', report, '--json']);
  expect([skipped.code, skipped.json()]).toEqual([1, expect.objectContaining({ people: 11, created: 1 })]);
  const reported = readFileSync(report, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { line: number });
  expect(reported.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(await people()).toBe(before + 1);
});

test('whoever has another’s name is refused, and neither account is changed', async () => {
  const path = ndjson('taken.ndjson', [
    { username: 'rasmus', email: 'somebody-else@example.test' },
    { username: 'somebody', email: 'rasmus@example.test' },
    { sub: 'auth0|1', username: 'thief' },
    { username: 'honest' },
  ]);
  const done = await postern(['users', 'import', path, '--json']);
  expect(done.json()).toEqual({
    people: 4,
    created: 1,
    present: 0,
    refused: [
      { line: 1, detail: 'username: another account has it' },
      { line: 2, detail: 'email: another account has it' },
      { line: 3, detail: 'sub: another account has it' },
    ],
  });
  await postern(['users', 'delete', 'honest']);
});

test('CSV has a heading, and columns for claims', async () => {
  const path = file(
    'people.csv',
    `\u{FEFF}username,email,email_verified,claims.name,password_hash\r\n` +
      `csv-ada,ada@csv.test,true,"Ada, Countess",${BCRYPT}\r\n` +
      `csv-bob,,,"Bob\nNoyce",\r\n` +
      `csv-eve,eve@csv.test,yes,,\r\n`,
  );
  const refused = await postern(['users', 'import', path]);
  expect(refused.problems[0]).toBe('error: line 5: email_verified: must be true or false');
  expect((await postern(['users', 'import', path, '--skip-refused', '--json'])).json()).toMatchObject({ created: 2 });
  expect((await postern(['users', 'get', 'csv-ada', '--json'])).json()).toMatchObject({
    claims: { name: 'Ada, Countess' },
  });
  expect(await enter('csv-ada', 'rasmuslerdorf')).toBe(200);
});

test.each([
  ['a column that is misspelt', 'a.csv', 'username,e-mail\nx,y\n', /columns that are not known: e-mail/],
  ['a row that is too short', 'b.csv', 'username,email\nx\n', /no CSV that can be read/],
  ['a name that tells nothing', 'c.txt', '{}', /--format/],
  ['bytes that are no UTF-8', 'd.ndjson', Buffer.from([0x7b, 0xff, 0x7d]), /line 1: the line is not UTF-8/],
])('%s is named before anybody is imported', async (_what, name, content, said) => {
  const refused = await postern(['users', 'import', file(name, content)]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(said)]);
});

test('a file that is not there is said so', async () => {
  expect((await postern(['users', 'import', join(directory, 'nowhere.csv')])).stderr).toMatch(/cannot be read/);
});

test('an import whose process is killed in the middle goes on where it was', async () => {
  const half = Array.from({ length: 1000 }, (_, n) => n);
  const path = ndjson('killed.ndjson', [
    ...half.map((n) => ({ username: `first${n}` })),
    ...half.map((n) => ({ username: `second${n}`, password_hash: BCRYPT })),
  ]);
  const before = await people();
  const power = new AbortController();
  // The second part has passwords, and waits for whoever holds their table: the first is written by then.
  const holder = await database.db.startTransaction().execute();
  await sql`lock table password_credentials in access exclusive mode`.execute(holder);
  const killed = posternOn(database)(['users', 'import', path], { signal: power.signal });
  await expect
    .poll(
      async () =>
        (
          await sql`select from pg_locks where not granted and relation = 'password_credentials'::regclass
            and database = (select oid from pg_database where datname = current_database())`.execute(database.db)
        ).rows.length,
      { interval: 10, timeout: 20_000 },
    )
    .toBe(1);
  power.abort();
  expect((await killed).code).toBeNull();
  await holder.rollback().execute();
  expect(await people()).toBe(before + 1000);
  const again = await postern(['users', 'import', path, '--json']);
  expect(again.json()).toEqual({ people: 2000, created: 1000, present: 1000, refused: [] });
});

test('two imports of one file at once make each person once', async () => {
  const path = ndjson(
    'twice.ndjson',
    Array.from({ length: 1500 }, (_, n) => ({ username: `twin${n}`, email: `twin${n}@x.test` })),
  );
  const done = await Promise.all([0, 1].map(() => postern(['users', 'import', path, '--json'])));
  expect(done.map(({ code }) => code)).toEqual([0, 0]);
  const counts = done.map((one) => one.json() as { created: number; present: number });
  expect(counts.reduce((sum, { created }) => sum + created, 0)).toBe(1500);
  expect(counts.reduce((sum, { present }) => sum + present, 0)).toBe(1500);
});

test('what docs/importing.md shows of each system is imported, and the person signs in', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/importing.md'), 'utf8');
  const examples = [...page.matchAll(/```(ndjson|csv)\n([^`]+)```/g)].map(([, format, content]) => ({
    format,
    content,
  }));
  expect(examples).toHaveLength(5);
  for (const [index, { format, content }] of examples.entries()) {
    const done = await postern(['users', 'import', file(`example${index}.${format}`, content!), '--json']);
    expect(done.json()).toEqual({ people: 1, created: 1, present: 0, refused: [] });
  }
  const passwords = ['lètmein', 'user1password', 'lètmein', 'my password', 'rasmuslerdorf'];
  for (const [index, system] of ['kc', 'fb', 'dj', 'asp', 'a0'].entries()) {
    expect(await enter(`${system}-ada@example.com`, passwords[index]!), system).toBe(200);
  }
});
