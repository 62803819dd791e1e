/** Commands that speak to a server elsewhere: the same as on its database, by the admin API. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { operations } from '../../src/admin/index.ts';
import { run, type Process } from '../../src/cli/index.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { posternOn } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { nobody } from '../support/reach.ts';
import { startServer, stopServers, temporaryDirectory } from '../support/server.ts';

let at: TestApp;
let issuer: string;
beforeAll(async () => {
  at = await testApp();
  issuer = at.deps.config.ISSUER;
});
afterAll(async () => {
  await at.close();
  await stopServers();
});

let stdout = '';
let stderr = '';
beforeEach(() => {
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((stdout += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((stderr += String(text)), true));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

type Fetch = Process['reach']['fetch'];

/** The network, with nothing but this server in it. */
const network: Fetch = async (address, init) => {
  const url = new URL(address);
  if (url.origin !== issuer) throw new TypeError('fetch failed', { cause: new Error(`no route to ${url.host}`) });
  const answer = await at.app.inject({
    method: (init.method ?? 'GET') as 'GET',
    url: url.pathname + url.search,
    headers: Object.fromEntries(new Headers(new Request(address, init).headers).entries()),
    ...(typeof init.body === 'string' && { payload: init.body }),
    ...(init.body instanceof URLSearchParams && { payload: init.body.toString() }),
  });
  const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Response(answer.statusCode === 204 ? null : answer.body, { status: answer.statusCode, headers });
};

const onDatabase: Process['open'] = (work) =>
  work({ deps: at.deps, migrate: async () => [], place: '', secretFile: '', machineTime: at.clock.now });
const never = (): Promise<never> => Promise.reject(new Error('nothing may be opened'));

interface Printed {
  code: number | undefined;
  out: string;
  err: string;
  // Each answer has a shape of its own.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  json: any;
}

async function command(args: readonly string[], process_: Partial<Process>): Promise<Printed> {
  stdout = stderr = '';
  const reach = { ...nobody, now: at.clock.now, random: at.deps.random };
  const code = await run(args, { start: never, open: never, reach, ...process_ });
  const json: unknown = args.includes('--json') && stdout !== '' ? JSON.parse(stdout) : undefined;
  return { code, out: stdout, err: stderr, json };
}
const here = (...args: string[]): Promise<Printed> => command(args, { open: onDatabase });
const elsewhere = (args: readonly string[], fetch: Fetch = network): Promise<Printed> =>
  command([...args, '--url', issuer], { reach: { ...nobody, now: at.clock.now, random: at.deps.random, fetch } });

/** A client of the admin API with these scopes; its credentials in the environment. */
async function asClient(scope?: string): Promise<void> {
  const made = await here('clients', 'create', '--preset', 'admin', ...(scope ? ['--scope', scope] : []), '--json');
  expect(made.code, made.err).toBe(0);
  vi.stubEnv('POSTERN_CLIENT_ID', made.json.client_id);
  vi.stubEnv('POSTERN_CLIENT_SECRET', made.json.client_secret);
}

test('a command names only operations that the API has', () => {
  const folder = join(import.meta.dirname, '../../src/cli');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const text = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  const named = text.join('').matchAll(/\.call\(\s*'([A-Z]+ \/[^']*)'|\((?:to|api), '([A-Z]+ \/[^']*)'/g);
  const used = new Set([...named].map(([, one, other]) => one ?? other!));
  const known = new Set(operations.map(({ method, path }) => `${method} ${path}`));
  expect(used.size).toBeGreaterThan(40);
  expect([...used].filter((operation) => !known.has(operation))).toEqual([]);
  const subjects = new Set(operations.map(({ path }) => path.split('/')[1]));
  const spoken = new Set([...used].map((operation) => operation.split('/')[1]));
  expect([...subjects].filter((subject) => !spoken.has(subject))).toEqual([]);
});

test('--preset admin makes a client with every scope of the API, and says how it gets a token', async () => {
  const made = await here('clients', 'create', '--preset', 'admin', '--name', 'Ops');
  expect(made.out).toMatch(
    /^scope +clients:read clients:write users:read .*settings:write upstreams:read upstreams:write .*authorization_types:write$/m,
  );
  expect(made.err).not.toContain('does not exist yet');
  expect(made.err).toMatch(
    /curl -u \S+:\$CLIENT_SECRET \S+\/token -d grant_type=client_credentials -d resource=\S+\/admin\/v1$/m,
  );
});

describe('with every scope', () => {
  beforeEach(() => asClient());

  test('clients are made, shown as on the database, changed, given secrets, disabled and deleted', async () => {
    const callback = ['--redirect-uri', 'https://far.example.test/cb', '--scope', 'openid not:there'];
    const made = await elsewhere(['clients', 'create', '--client-id', 'far', ...callback, '--json']);
    expect(made).toMatchObject({ code: 0, json: { client_id: 'far', client_secret: expect.any(String) } });
    const again = await elsewhere(['clients', 'create', '--client-id', 'far', ...callback, '--if-not-exists']);
    expect(again.err).toBe('The scope not:there does not exist yet: postern scopes put not:there\n');
    expect((await elsewhere(['clients', 'create', '--client-id', 'far', ...callback])).code).toBe(1);
    const shown = await elsewhere(['clients', 'get', 'far', '--json']);
    expect(shown.json).toEqual((await here('clients', 'get', 'far', '--json')).json);
    expect((await elsewhere(['clients', 'list', '--json'])).json).toEqual(
      (await here('clients', 'list', '--json')).json,
    );
    expect((await elsewhere(['clients', 'update', 'far', '--name', 'Far', '--json'])).json['client_name']).toBe('Far');
    const secret = await elsewhere(['clients', 'rotate-secret', 'far', '--overlap', '1h', '--json']);
    const secrets = (await elsewhere(['clients', 'secrets', 'far', '--json'])).json;
    expect(secrets.map((row: { secret_id: string }) => row.secret_id)).toContain(secret.json.secret_id);
    const dropped = ['clients', 'delete-secret', 'far', '--secret-id', secret.json.secret_id];
    expect([(await elsewhere(dropped)).code, (await elsewhere(dropped)).code]).toEqual([0, 3]);
    expect((await elsewhere(['clients', 'disable', 'far', '--json'])).json).toEqual({
      client_id: 'far',
      disabled: true,
    });
    expect((await elsewhere(['clients', 'delete', 'far'])).code).toBe(0);
    expect((await elsewhere(['clients', 'delete', 'far'])).err).toBe('error: there is no client far\n');
  });

  test('people, groups, roles and what they have', async () => {
    const made = await elsewhere([
      'users',
      'create',
      '--username',
      'ada',
      '--email',
      'ada@example.test',
      '--no-password',
      '--json',
    ]);
    const { sub } = made.json;
    expect((await elsewhere(['users', 'get', 'ADA@example.test', '--json'])).json).toEqual(made.json);
    const drawn = await elsewhere(['users', 'set-password', 'ada', '--random', '--json']);
    expect(drawn.json).toEqual({
      sub,
      password: expect.stringMatching(/^\S{16,}$/),
      expires_at: expect.any(String),
    });
    expect((await elsewhere(['users', 'update', 'ada', '--no-email', '--json'])).json.email).toBeNull();
    expect((await elsewhere(['users', 'disable', 'ada', '--json'])).json.disabled).toBe(true);
    expect((await elsewhere(['users', 'enable', sub, '--json'])).json.disabled).toBe(false);
    await elsewhere(['groups', 'create', '--name', 'staff']);
    expect((await elsewhere(['groups', 'add', 'staff', '--user', 'ada', '--json'])).json.added).toEqual([sub]);
    expect((await elsewhere(['groups', 'get', 'staff', '--json'])).json.members).toEqual([sub]);
    const { role_id } = (await elsewhere(['roles', 'create', '--name', 'editor', '--json'])).json;
    await elsewhere(['roles', 'give', role_id, '--user', 'ada', '--group', 'staff']);
    expect((await elsewhere(['roles', 'get', role_id, '--json'])).json).toEqual(
      (await here('roles', 'get', role_id, '--json')).json,
    );
    expect((await elsewhere(['users', 'revoke-everything', 'ada', '--json'])).json).toMatchObject({
      sub,
      sessions_ended: 0,
    });
    for (const empty of [
      ['sessions', 'list', '--user', 'ada'],
      ['grants', 'list'],
      ['users', 'consents', 'ada'],
    ]) {
      expect(await elsewhere([...empty, '--json'])).toMatchObject({ code: 0, json: [] });
    }
    expect((await elsewhere(['users', 'delete', 'ada', '--json'])).json).toEqual({ sub, deleted: true });
  });

  test('scopes, resources, keys, tokens, settings and what happened', async () => {
    expect((await elsewhere(['scopes', 'put', 'far:read', '--description', 'Read afar'])).code).toBe(0);
    expect((await elsewhere(['scopes', 'put', 'far:read', '--no-people', '--json'])).json).toMatchObject({
      description: 'Read afar',
      for_people: false,
    });
    expect((await elsewhere(['scopes', 'delete', 'openid'])).code).toBe(4);
    const resource = 'https://far.example.test/api?v=1';
    await elsewhere(['resources', 'put', resource, '--scope', 'far:read']);
    expect((await elsewhere(['resources', 'list', '--json'])).json).toEqual(
      (await here('resources', 'list', '--json')).json,
    );
    expect((await elsewhere(['resources', 'delete', resource, '-q'])).out).toBe(`${resource}\n`);
    const { kid } = (await elsewhere(['keys', 'rotate', '--alg', 'ES256', '--json'])).json;
    expect((await elsewhere(['keys', 'retire', kid, '--json'])).json.kid).toBe(kid);
    expect((await elsewhere(['tokens', 'introspect', 'nonsense', '--json'])).json).toMatchObject({ active: false });
    expect((await elsewhere(['tokens', 'revoke', 'nonsense'])).code).toBe(3);
    expect((await elsewhere(['registration-tokens', 'create', '--json'])).json.initial_access_token).toMatch(/\S/);
    expect((await elsewhere(['logout-notices', 'list'])).out).toBe('Every client could be told so far.\n');
    expect((await elsewhere(['logout-notices', 'retry', '1'])).code).toBe(3);
    expect((await elsewhere(['settings', '--json'])).json.configuration.ISSUER).toBe(issuer);
    const events = (await elsewhere(['audit', 'list', '--event', 'key_retired', '--json'])).json;
    expect(events).toMatchObject([{ actor: process.env['POSTERN_CLIENT_ID'] }]);
  });

  test('lists longer than a page are followed to their end', async () => {
    const row = { event: 'test', detail: '{}', sub: null, actor: null, ip: null, request_id: null, at: at.clock.now() };
    const many = Array.from({ length: 203 }, (_, i) => ({ ...row, client_id: `client-${i}` }));
    await at.database.db.insertInto('audit_events').values(many).execute();
    const lines = (await elsewhere(['audit', 'export', '--event', 'test'])).out.trimEnd().split('\n');
    expect(new Set(lines).size).toBe(203);
    expect(
      (await elsewhere(['audit', 'list', '--event', 'test', '--limit', '201', '-q'])).out.split('\n'),
    ).toHaveLength(202);
  });

  test('an answer that is lost on the way is asked for again, and what it answers to is done once', async () => {
    let asked = 0;
    const keys = new Set<string | null>();
    const losing: Fetch = async (url, init) => {
      const answer = await network(url, init);
      if (init.method !== 'POST' || !url.endsWith('/clients')) return answer;
      keys.add(new Headers(init.headers).get('idempotency-key'));
      if (++asked === 1) throw new TypeError('fetch failed');
      return answer;
    };
    const made = await elsewhere(['clients', 'create', '--preset', 'm2m', '--client-id', 'twice'], losing);
    expect([made.code, asked, keys.size]).toEqual([0, 2, 1]);
    expect(made.err).toContain('The first answer was lost on the way');
    expect(made.out).not.toContain('client_secret ');
    const rows = await at.database.db
      .selectFrom('client_secrets')
      .select('secret_id')
      .where('client_id', '=', 'twice')
      .execute();
    expect(rows).toHaveLength(1);

    let tries = 0;
    const busy: Fetch = (url, init) => {
      if (!url.includes('/admin/v1/')) return network(url, init);
      return ++tries < 3
        ? Promise.resolve(new Response('', { status: 503, headers: { 'retry-after': '1' } }))
        : network(url, init);
    };
    expect((await elsewhere(['clients', 'delete', 'twice'], busy)).code).toBe(0);
    expect(tries).toBe(3);
  });

  test.each(['..', '.', ''])('the id %j leads nowhere else', async (id) => {
    const paths: string[] = [];
    const watched: Fetch = (url, init) => (paths.push(new URL(url).pathname), network(url, init));
    expect((await elsewhere(['clients', 'delete', id], watched)).code).toBe(3);
    expect(paths.filter((path) => path.startsWith('/admin'))).toEqual([]);
  });

  test('doctor looks at a server elsewhere as far as it can be seen', async () => {
    const found = await elsewhere(['doctor', '--json']);
    const checks = found.json.findings.map(({ level, check }: Record<string, string>) => `${level} ${check}`);
    expect(checks).toEqual(['ok issuer', 'ok migrations', 'ok keys']);
  });
});

describe('what does not work', () => {
  test('refusals have the exit codes of the command line, one line, and the request id', async () => {
    await asClient('clients:read');
    const forbidden = await elsewhere(['clients', 'delete', 'x', '--json']);
    expect([forbidden.code, forbidden.out]).toEqual([4, '']);
    expect(JSON.parse(forbidden.err)).toEqual({
      error: 'not_allowed',
      message: expect.stringMatching(/^the access token lacks clients:write \(request \S+\)$/),
    });
    vi.stubEnv('POSTERN_CLIENT_SECRET', 'another');
    const stranger = await elsewhere(['clients', 'list']);
    expect([stranger.code, stranger.out]).toEqual([4, '']);
    expect(stranger.err).toMatch(/^error: \S+ gets no token at https:\/\/id\.example\.test: .*\(request \S+\)\n$/);
  });

  test('a body that is not valid is told member by member, with exit code 2', async () => {
    await asClient();
    const wrong = ['--redirect-uri', 'nonsense', '--redirect-uri', 'http://shop.example.test/cb'];
    const refused = await elsewhere(['clients', 'create', ...wrong]);
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(
      /^error: redirect_uris: "nonsense" .*\nerror: redirect_uris: "http.*" must use https \(request \S+\)\n$/,
    );
  });

  test('a token that is given is the one that is used; it is in no answer', async () => {
    const file = join(temporaryDirectory(), 'token');
    writeFileSync(file, 'a.forged.token\n');
    const sent = new Set<string | null>();
    const watched: Fetch = (url, init) => (
      sent.add(new Headers(init.headers).get('authorization')),
      network(url, init)
    );
    const refused = await elsewhere(['clients', 'list', '--token-file', file], watched);
    expect([refused.code, [...sent]]).toEqual([4, ['Bearer a.forged.token']]);
    expect(refused.err).toMatch(/^error: the access token is not valid \(request \S+\)\n$/);
    vi.stubEnv('POSTERN_TOKEN', 'two words');
    const odd = await elsewhere(['clients', 'list']);
    expect(odd).toMatchObject({ code: 2, err: 'error: the access token is not one: it has to be one word\n' });
  });

  test.each([
    ['http://id.example.test', 2, /must be https/],
    ['nonsense', 2, /must be the issuer/],
    ['https://me:pw@id.example.test', 2, /the issuer and nothing more/],
    ['https://nobody.example.test', 1, /cannot be reached: no route to nobody\.example\.test/],
  ])('--url %s', async (url, code, said) => {
    vi.stubEnv('POSTERN_TOKEN', 'a-token');
    vi.stubEnv('POSTERN_URL', issuer);
    const answer = await command(['clients', 'list', '--url', url], { reach: { ...nobody, fetch: network } });
    expect([answer.code, answer.out]).toEqual([code, '']);
    expect(answer.err).toMatch(said);
    expect(answer.err).not.toContain('a-token');
  });

  test('a server that is no Postern, or without a token, is told as such', async () => {
    expect((await elsewhere(['clients', 'list'])).err).toMatch(/^error: give an access token \(--token-file, /);
    vi.stubEnv('POSTERN_TOKEN', 'a-token');
    const page: Fetch = async () => new Response('<html>', { status: 404, headers: { 'content-type': 'text/html' } });
    const other = await elsewhere(['clients', 'get', 'x'], page);
    expect(other).toMatchObject({ code: 1, err: `error: ${issuer} has no admin API: it answered 404\n` });
    const alone = await command(['clients', 'list', '--token-file', 'x'], { open: onDatabase });
    expect([alone.code, alone.err]).toEqual([2, expect.stringContaining('--token-file goes with --url')]);
  });

  test.each([
    [['dev']],
    [['serve']],
    [['migrate']],
    [['migrate', 'status']],
    [['config', 'print']],
    [['explain', 'x']],
    [['completion', 'bash']],
    [['users', 'set-password', 'ada', '--password-stdin']],
  ])('%j is of the database, and refuses --url before anything is opened', async (args) => {
    expect(await elsewhere(args)).toMatchObject({ code: 2, out: '' });
    expect(stderr).toMatch(/--url/);
  });

  test('POSTERN_URL stands for --url, so that nothing is done to a database by mistake', async () => {
    vi.stubEnv('POSTERN_URL', issuer);
    const refused = await command(['explain', 'x'], { open: onDatabase });
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('POSTERN_URL')]);
    expect((await command(['config', 'print'], {})).code).toBe(0);
  });
});

test('a process speaks to a server, with a secret from a file, and imports people there', async () => {
  const database = await createTestDatabase();
  const [server, made] = await Promise.all([
    startServer({ env: { DATABASE_URL: database.url } }),
    posternOn(database)(['clients', 'create', '--preset', 'admin', '--json']),
  ]);
  const { client_id, client_secret } = made.json();
  const file = join(temporaryDirectory(), 'secret');
  writeFileSync(file, `${String(client_secret)}\n`, { mode: 0o600 });
  const env = { POSTERN_URL: server.issuer, POSTERN_CLIENT_ID: String(client_id), POSTERN_CLIENT_SECRET_FILE: file };
  const listed = await posternOn(undefined)(['clients', 'list', '-q'], { env });
  expect([listed.code, listed.stdout, listed.stderr]).toEqual([0, `${String(client_id)}\n`, '']);
  // The server's worker carries an import out; its report names the lines of the file.
  const people = Array.from({ length: 1500 }, (_, n) => ({ username: `far${n}` }));
  const path = join(temporaryDirectory(), 'people.ndjson');
  writeFileSync(path, ['{"username":"two words"}', ...people.map((one) => JSON.stringify(one))].join('\n'));
  const args = ['users', 'import', path, '--skip-refused', '--json'];
  const detail = 'username must be 1 to 128 visible characters without spaces or @';
  const report = { people: 1501, refused: [{ line: 1, detail }] };
  expect((await posternOn(undefined)(args, { env })).json()).toEqual({ ...report, created: 1500, present: 0 });
  await server.stop();
  await database.close();
});
