/**
 * The image and the compose file, without a container engine: what they say is read, and the steps of the Dockerfile are
 * taken in an empty directory, where the server then runs as a stranger who may not write.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { VARIABLES } from '../src/config.ts';
import { createTestDatabase, type TestDatabase } from './support/database.ts';
import { freePort } from './support/server.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const run = promisify(execFile);

/** One line of a Dockerfile. */
interface Instruction {
  name: string;
  rest: string;
}

/** The stages of the Dockerfile, the last of which is the image. */
const stages = read('Dockerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line): Instruction => ({ name: line.split(' ')[0]!, rest: line.slice(line.indexOf(' ') + 1) }))
  .reduce<Instruction[][]>(
    (all, line) => (line.name === 'FROM' ? [...all, [line]] : (all.at(-1)!.push(line), all)),
    [],
  );
const image = stages.at(-1)!;
const last = (name: string): string | undefined => image.findLast((line) => line.name === name)?.rest;

describe('docker-compose.yml', () => {
  interface Service {
    image: string;
    command?: string[];
    environment: Record<string, string>;
    depends_on?: Record<string, { condition: string }>;
    healthcheck?: { test: string[] };
    [property: string]: unknown;
  }
  const { services, networks } = parse(read('docker-compose.yml'), { merge: true }) as {
    services: Record<'postgres' | 'migrate' | 'server', Service>;
    networks: Record<string, object>;
  };

  test('migrates once Postgres is there, and serves once that is done', () => {
    expect(services.postgres.healthcheck?.test).toContain('pg_isready');
    expect(services.migrate.command).toEqual(['postern', 'migrate']);
    expect(services.migrate.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    expect(services.server.depends_on).toMatchObject({ migrate: { condition: 'service_completed_successfully' } });
  });

  test('refuses to start without ISSUER, SECRET_KEYS and a password, and has none built in', () => {
    expect(services.server.environment['ISSUER']).toMatch(/^\$\{ISSUER:\?/);
    expect(services.server.environment['SECRET_KEYS']).toMatch(/^\$\{SECRET_KEYS:\?/);
    expect(services.server.environment['DATABASE_URL']).toMatch(/^postgres:\/\/postern_server:\$\{SERVER_PASSWORD:\?/);
    expect(services.postgres.environment['POSTGRES_PASSWORD']).toMatch(/^\$\{POSTGRES_PASSWORD:\?/);
  });

  test('the server is neither superuser nor owner of the tables, and does not know the password of who is', () => {
    const { migrate, server, postgres } = services;
    expect(migrate.environment['MIGRATION_DATABASE_URL']).toBe(
      'postgres://postern:${POSTGRES_PASSWORD}@postgres:5432/postern',
    );
    expect(postgres.environment['POSTGRES_USER']).toBe('postern');
    expect(migrate.environment['DATABASE_URL']).toBe(server.environment['DATABASE_URL']);
    expect(JSON.stringify(server.environment)).not.toMatch(/MIGRATION|POSTGRES_PASSWORD/);
  });

  test.each(['migrate', 'server'] as const)('%s cannot write, and has no privileges to lose', (name) => {
    expect(services[name]).toMatchObject({
      read_only: true,
      tmpfs: ['/tmp'],
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(services[name]['privileged']).toBeUndefined();
  });

  test('sets no variable that does not exist', () => {
    const known = [...VARIABLES, 'NODE_ENV'];
    for (const { environment } of [services.migrate, services.server]) {
      expect(Object.keys(environment).filter((name) => !known.includes(name))).toEqual([]);
    }
  });

  test('keeps the database to itself, and the server to this machine', () => {
    expect(services.postgres['ports']).toBeUndefined();
    expect(services.postgres['networks']).toEqual(['inside']);
    expect(networks['inside']).toEqual({ internal: true });
    expect(services.server['ports']).toEqual(['127.0.0.1:${PORT:-3000}:3000']);
  });

  test('waits for the drain before it kills', () => {
    expect(Number.parseInt(String(services.server['stop_grace_period']), 10)).toBeGreaterThan(10);
  });
});

describe('the image', () => {
  test('is made of Node 24 and of nothing else', () => {
    expect(stages.map(([from]) => from!.rest.split(' ')[0])).toEqual(stages.map(() => 'node:24-slim'));
  });

  test('runs as an unprivileged user, on every address, in production', () => {
    expect(last('USER')).toBe('node');
    expect(image.findIndex(({ name }) => name === 'USER')).toBeGreaterThan(
      image.findLastIndex(({ name }) => name === 'RUN' || name === 'COPY'),
    );
    expect(last('ENV')).toContain('HOST=0.0.0.0');
    expect(last('ENV')).toContain('NODE_ENV=production');
    expect(last('EXPOSE')).toBe('3000');
    expect(JSON.parse(last('CMD')!)).toEqual(['postern', 'serve']);
  });

  test('gets only what it is made of', () => {
    const lines = read('.dockerignore').split('\n');
    expect(lines).toContain('*');
    const sent = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    const copied = stages.flat().filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--from'));
    const wanted = copied.flatMap(({ rest }) => rest.split(' ').slice(0, -1));
    expect([...new Set(wanted)].toSorted()).toEqual(sent.toSorted());
    expect(wanted.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

test('every way to start that can say so has the same options of Node: the image, npm start, npm run postern', () => {
  const optionsIn = (text: string): string[] => text.match(/--[\w-]+=\d+/g) ?? [];
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const options = optionsIn(read('Dockerfile').split('FROM').at(-1)!.split('HEALTHCHECK', 1)[0]!);
  expect(options).toEqual(['--max-semi-space-size=8']);
  for (const name of ['start', 'postern']) expect(optionsIn(scripts[name]!), name).toEqual(options);
});

test('the lockfile has the packages of every platform, each with its checksum', () => {
  type Locked = Record<string, { integrity?: string; optionalDependencies?: Record<string, string> }>;
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Locked };
  const nested = (within: string, name: string): string =>
    [`${within}/node_modules/${name}`, `node_modules/${name}`].find((path) => path in packages) ?? name;
  const names = Object.entries(packages).flatMap(([within, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).map((name) => nested(within, name)),
  );
  for (const libc of ['gnu', 'musl']) expect(names).toContain(`node_modules/@node-rs/argon2-linux-arm64-${libc}`);
  expect(names.filter((name) => packages[name]?.integrity === undefined)).toEqual([]);
});

describe('its steps, taken in an empty directory', () => {
  const stranger = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  let directory: string;
  let database: TestDatabase;
  let env: Record<string, string>;

  beforeAll(async () => {
    database = await createTestDatabase();
    await sql`drop schema public cascade`.execute(database.db);
    await sql`create schema public`.execute(database.db);

    directory = mkdtempSync(join(tmpdir(), 'postern-image-'));
    const inside = (text: string): string =>
      text.replaceAll('/app', join(directory, 'app')).replaceAll('/usr/local/bin', join(directory, 'bin'));
    mkdirSync(join(directory, 'app'));
    mkdirSync(join(directory, 'bin'));
    // The Node of this run, where the stranger can reach it.
    copyFileSync(process.execPath, join(directory, 'bin/node'));
    const path = [join(directory, 'bin'), process.env['PATH']].join(':');
    const cwd = join(directory, 'app');
    const variables: Record<string, string> = {};
    for (const { name, rest } of stages.flat()) {
      if (name === 'ENV')
        Object.assign(variables, Object.fromEntries(rest.split(' ').map((pair) => pair.split(/=(.*)/s))));
      if (name === 'RUN') {
        // What the suite itself was installed from is in the cache.
        const command = inside(rest).replace('npm install', 'npm install --prefer-offline');
        await run('/bin/sh', ['-c', command], { cwd, env: { ...process.env, PATH: path } });
      }
      if (name === 'COPY' && !rest.startsWith('--from')) {
        for (const source of rest.split(' ').slice(0, -1)) {
          cpSync(join(ROOT, source), join(cwd, source), { recursive: true });
        }
      }
    }
    chmodSync(directory, 0o755);
    env = {
      ...variables,
      PATH: `${join(directory, 'bin')}:/usr/bin:/bin`,
      HOST: '127.0.0.1',
      PORT: String(await freePort()),
      METRICS_PORT: String(await freePort()),
      ISSUER: 'https://id.example.com',
      DATABASE_URL: database.url,
      SECRET_KEYS: 'a secret key for the image of forty characters',
    };
  }, 120_000);

  /** What a test that failed did not wait for would hold its ports and its memory. */
  const started: ChildProcess[] = [];
  afterAll(async () => {
    for (const child of started) child.kill('SIGKILL');
    await database.close();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Runs a command line of the image as its user would. There is no home, and the only directory is not theirs. */
  const asStranger = (command: readonly string[], more: Record<string, string> = {}) => {
    const child = spawn(command[0]!, command.slice(1), {
      cwd: join(directory, 'app'),
      env: { ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...stranger,
    });
    started.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)));
    const exited = once(child, 'close').then(([code]) => code as number | null);
    return { child, exited, output: () => output };
  };

  const at = (path: string): Promise<number | undefined> =>
    fetch(`http://127.0.0.1:${env['PORT']}${path}`).then(
      async (answer) => (await answer.text(), answer.status),
      () => undefined,
    );

  test('nothing that only development needs is installed', () => {
    const { devDependencies, optionalDependencies } = JSON.parse(read('package.json')) as Record<string, object>;
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean }>;
    };
    // What production needs too, if only for something else it needs, is there, and so is what it uses where it is.
    const FASTER = ['@node-rs/argon2'];
    const isNeeded = (name: string): boolean => {
      if (FASTER.includes(name)) return true;
      const { dev = false, optional = false, devOptional = false } = packages[`node_modules/${name}`] ?? {};
      return !dev && !optional && !devOptional;
    };
    const names = Object.keys({ ...devDependencies, ...optionalDependencies });
    const left = names.filter((name) => existsSync(join(directory, 'app/node_modules', name)) && !isNeeded(name));
    expect(left).toEqual([]);
    for (const name of FASTER) expect(existsSync(join(directory, 'app/node_modules', name)), name).toBe(true);
    expect(names.filter((name) => !isNeeded(name)).length).toBeGreaterThan(10);
  });

  test('serve refuses a database that was not migrated, and says what to do', async () => {
    const refused = asStranger(['postern', 'serve']);
    expect(await refused.exited).toBe(78);
    expect(refused.output()).toContain('postern migrate');
  });

  test('the migrate step applies the migrations, and a second time does nothing', async () => {
    for (const pattern of [/0001-clients-and-scopes/, /up to date|^\s*$/]) {
      const migrate = asStranger(['postern', 'migrate']);
      expect(await migrate.exited, migrate.output()).toBe(0);
      expect(migrate.output()).toMatch(pattern);
    }
  });

  test('serve becomes ready and healthy, writes nothing, answers, and stops when told to', async () => {
    const { stdout: before } = await run('find', [join(directory, 'app')], { maxBuffer: 1e8 });
    const server = asStranger(JSON.parse(last('CMD')!) as string[]);
    await expect.poll(() => at('/readyz'), { timeout: 20_000, interval: 50 }).toBe(200);
    expect(await at('/.well-known/openid-configuration')).toBe(200);
    expect(await at('/login')).toBe(200);

    const [, command] = /CMD (.+)$/.exec(last('HEALTHCHECK')!)!;
    const healthy = asStranger(JSON.parse(command!) as string[]);
    expect(await healthy.exited, healthy.output()).toBe(0);

    server.child.kill('SIGTERM');
    expect(await server.exited, server.output()).toBe(0);
    // JSON lines, also where somebody looks at them: the readable ones are for development.
    const lines = server.output().trim().split('\n');
    expect(lines.map((line) => typeof JSON.parse(line))).toEqual(lines.map(() => 'object'));
    const { stdout: after } = await run('find', [join(directory, 'app')], { maxBuffer: 1e8 });
    expect(after).toBe(before);

    const unhealthy = asStranger(JSON.parse(command!) as string[]);
    expect(await unhealthy.exited).toBe(1);
  });

  test('an operator makes a client and an account inside, and the account signs in', async () => {
    const redirect = ['--redirect-uri', 'https://app.example.com/callback'];
    const client = asStranger([
      'postern',
      'clients',
      'create',
      '--preset',
      'web',
      '--name',
      'My App',
      ...redirect,
      '--json',
    ]);
    expect(await client.exited, client.output()).toBe(0);
    expect(client.output()).toContain('client_secret');

    const create = 'echo "a password of some length" | postern users create --username ada --password-stdin';
    const account = asStranger(['/bin/sh', '-c', create]);
    expect(await account.exited, account.output()).toBe(0);
    const signIn = { username: 'ada', password: 'a password of some length' };
    const server = asStranger(['postern', 'serve']);
    await expect.poll(() => at('/readyz'), { timeout: 20_000, interval: 50 }).toBe(200);
    const answer = await fetch(`http://127.0.0.1:${env['PORT']}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(signIn),
    });
    expect(await answer.json()).toMatchObject({ token_type: 'Bearer' });
    server.child.kill('SIGTERM');
    expect(await server.exited, server.output()).toBe(0);
  });
});
