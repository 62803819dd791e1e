import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandsOn, posternOn, type Postern } from '../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { SECRET_KEY, stopServers, temporaryDirectory } from '../support/server.ts';

let database: TestDatabase;
let postern: Postern;
/** The same in this process, for what is not about a process. */
let command: Postern;
const alone = posternOn(undefined);
beforeAll(async () => {
  database = await createTestDatabase();
  postern = posternOn(database);
  command = await commandsOn(database);
  // As before the first server: nothing signs yet.
  await database.db.deleteFrom('signing_keys').execute();
});
afterAll(async () => {
  await database.close();
  await stopServers();
});

/** The variables that the problems are about. */
const namesIn = (problems: readonly string[]): Set<string | undefined> =>
  new Set(problems.map((problem) => problem.split(' ')[1]));

describe('the command line itself', () => {
  test('has a version, and exit codes', async () => {
    expect((await alone(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const refused = await alone(['nonsense']);
    expect([refused.code, refused.stderr]).toEqual([2, "error: unknown command 'nonsense'\n"]);
  });

  test('says in one line that the database is away, or not what it should be', async () => {
    const away = await postern(['clients', 'list'], { env: { DATABASE_URL: 'postgres://x:secret@127.0.0.1:1/x' } });
    expect([away.code, away.stdout]).toEqual([1, '']);
    expect(away.stderr).toBe('error: the database is not available: connect ECONNREFUSED 127.0.0.1:1\n');
    const wrong = await postern(['clients', 'list'], { env: { DATABASE_URL: 'mysql://x', PORT: '99999' } });
    expect(wrong.code).toBe(78);
    expect(namesIn(wrong.problems)).toEqual(new Set(['DATABASE_URL', 'PORT']));
  });
});

describe('config', () => {
  const good = {
    ISSUER: 'https://id.example.test',
    DATABASE_URL: 'postgres://x:secret@db/x',
    SECRET_KEYS: SECRET_KEY,
  };

  test('check tells every problem with exit code 78, or that there is none', async () => {
    expect((await alone(['config', 'check'])).stdout).toContain('postern dev');
    expect((await alone(['config', 'check', '--json'], { env: good })).json()).toEqual({ ok: true, mode: 'serve' });
    const bad = await alone(['config', 'check'], { env: { ISSUER: 'http://id.example.test', LOG_LEVEL: 'loud' } });
    expect([bad.code, bad.stdout]).toEqual([78, '']);
    expect(namesIn(bad.problems)).toEqual(new Set(['DATABASE_URL', 'ISSUER', 'LOG_LEVEL', 'SECRET_KEYS']));
    const json = JSON.parse((await alone(['config', 'check', '--mode', 'serve', '--json'])).stderr);
    expect([json.error, json.problems.length]).toEqual(['configuration', 3]);
  });

  test('print shows what is in force, without secrets', async () => {
    const shown = await alone(['config', 'print', '--json'], { env: good });
    expect(shown.json()).toMatchObject({
      ISSUER: good.ISSUER,
      PORT: 3000,
      DATABASE_URL: '(hidden)',
      TLS_KEY_FILE: null,
    });
    const text = await alone(['config', 'print'], { env: good });
    expect(text.stdout).toMatch(/^ISSUER +https:\/\/id\.example\.test$/m);
    for (const { stdout } of [shown, text]) expect(stdout).not.toMatch(/secret@|a secret key/);
  });
});

describe('migrate', () => {
  test('applies what is missing and prints its name; until then other commands say so', async () => {
    const bare = await createTestDatabase();
    await sql`drop schema public cascade`.execute(bare.db);
    await sql`create schema public`.execute(bare.db);
    const there = posternOn(bare);
    const early = await there(['clients', 'list']);
    expect([early.code, early.stderr]).toEqual([78, expect.stringContaining('run `postern migrate` first')]);
    const before = (await there(['migrate', 'status', '--json'])).items();
    expect(before.every(({ applied }) => !applied)).toBe(true);
    expect((await there(['migrate'])).lines).toEqual(before.map(({ name }) => name));
    expect((await there(['migrate', '--json'])).json()).toEqual({ applied: [] });
    await bare.close();
  });
});

describe('keys', () => {
  test('rotate publishes a key that signs later; retire replaces the one that signs', async () => {
    // Where nothing signs yet there is nobody to wait for.
    const first = await postern(['keys', 'rotate', '-q']);
    const made = await command(['keys', 'rotate', '--json']);
    expect(made.json()).toEqual({ kid: expect.any(String), alg: 'RS256', activates_at: expect.stringMatching(/Z$/) });
    const now = await command(['keys', 'rotate', '--alg', 'ES256', '--immediately', '-q']);
    const kid = now.stdout.trim();
    expect((await command(['keys', 'list'])).stdout).toMatch(new RegExp(`^${kid} +sig +ES256 +active +yes +\\d`, 'm'));

    const retired = await command(['keys', 'retire', kid, '--json']);
    expect(retired.json()).toEqual({ kid, alg: 'ES256', replacement: expect.any(String) });
    const states = (await command(['keys', 'list', '--json'])).items();
    expect(Object.fromEntries(states.map(({ kid, state }) => [kid, state]))).toEqual({
      [first.stdout.trim()]: 'active',
      [String(made.json()['kid'])]: 'next',
      [kid]: 'retired',
      [String(retired.json()['replacement'])]: 'active',
    });
    expect((await command(['keys', 'retire', kid])).code).toBe(1);
    expect((await command(['keys', 'retire', 'nobody'])).code).toBe(3);
    const events = await database.db
      .selectFrom('audit_events')
      .select(['event', 'actor'])
      .orderBy('event_id')
      .execute();
    expect(events.map(({ event }) => event)).toEqual([
      'key_rotated',
      'key_rotated',
      'key_rotated',
      'key_retired',
      'key_rotated',
    ]);
    for (const { actor } of events) expect(actor).toMatch(/^cli:/);

    const without = await postern(['keys', 'rotate'], { env: { SECRET_KEYS: '' } });
    expect([without.code, without.problems.length]).toEqual([78, 1]);
  });
});

describe('doctor', () => {
  const production = { ISSUER: 'https://id.example.test', WORKERS: '4', DATABASE_POOL_SIZE: '500' };

  test('finds what is wrong, and says what to do', async () => {
    const DATA_DIR = temporaryDirectory();
    await writeFile(join(DATA_DIR, 'secret-keys'), SECRET_KEY);
    await chmod(join(DATA_DIR, 'secret-keys'), 0o644);
    await command(['clients', 'create', '--client-id', 'demo-web', '--redirect-uri', 'http://localhost:8080/']);
    await command(['clients', 'update', 'demo-web', '--auth-method', 'none', '--skip-consent', '--scope', 'not:there']);
    const SECRET_KEYS = 'another secret key of more than thirty-two';
    const found = await postern(['doctor', '--json'], { env: { ...production, DATA_DIR, SECRET_KEYS } });
    expect(found.code).toBe(1);
    expect(found.json()['ok']).toBe(false);
    const findings = found.json()['findings'] as Array<Record<string, string>>;
    const said = findings.map(({ check, level, message }) => `${level} ${check}: ${message}`);
    for (const expected of [
      /^ok configuration: /,
      /^ok database: PostgreSQL \d+/,
      /^ok migrations: /,
      /^warning connections: one server may want 510, and Postgres has \d+ in all$/,
      /^(?:ok|warning|error) durability: /,
      /^(?:ok|warning) role: /,
      /^ok pooler: there is none$/,
      /^ok clock: /,
      /^error keys: \S+ cannot be opened with SECRET_KEYS$/,
      /^error files: \S+secret-keys: /,
      /^error clients: demo-web: is of development mode$/,
      /^warning clients: demo-web: sends codes to the person's own machine/,
      /^warning clients: demo-web: gets tokens without consent/,
      /^warning clients: demo-web: the scope not:there does not exist$/,
    ]) {
      expect(said).toContainEqual(expect.stringMatching(expected));
    }
    for (const { level, fix } of findings) expect(fix === undefined).toBe(level === 'ok');
  });

  test('names what an older server took of a client and this one would refuse, each once and without a password', async () => {
    await command(['clients', 'create', '--client-id', 'of-old', '--redirect-uri', 'https://app.example.test/cb']);
    await command(['clients', 'create', '--client-id', 'of-today', '--redirect-uri', 'https://app.example.test/cb']);
    await database.db
      .updateTable('clients')
      .set({
        client_uri: 'https://who:hidden-word@app.example.test/',
        redirect_uris: ['https://app.example.test/cb', 'https://app.example.test/zurück'],
      })
      .where('client_id', '=', 'of-old')
      .execute();
    const warnings = async (): Promise<Array<Record<string, string>>> => {
      const found = await postern(['doctor', '--json'], { env: production });
      expect(found.stdout).not.toContain('hidden-word');
      const findings = found.json()['findings'] as Array<Record<string, string>>;
      return findings.filter(({ message }) => message!.startsWith('of-'));
    };
    const [uri, ...more] = await warnings();
    expect([uri!['level'], uri!['message'], more]).toEqual([
      'warning',
      'of-old: would be refused today: client_uri: must not hold user information',
      [],
    ]);
    expect(uri!['fix']).toContain('postern clients update of-old');
    const mended = { client_uri: null, scope: ['users:read'] };
    await database.db.updateTable('clients').set(mended).where('client_id', '=', 'of-old').execute();
    expect((await warnings()).map(({ message }) => message)).toEqual([
      'of-old: names scopes of the admin API, and is given none: users:read',
      'of-old: would be refused today: redirect_uris: "https://app.example.test/zurück" must be printable ASCII of at most 2000 characters',
    ]);
  });

  test('tells a configuration that is no good and a database that is away as findings', async () => {
    const env = { ...production, DATABASE_URL: 'postgres://127.0.0.1:1/x', SECRET_KEYS: '' };
    const found = await postern(['doctor'], { env });
    expect([found.code, found.stderr]).toEqual([1, '']);
    expect(found.stdout).toMatch(/^error +configuration +SECRET_KEYS is not set/m);
    expect(found.stdout).toMatch(/^error +database +the database is not available: .*\n +fix: /m);
  });
});
