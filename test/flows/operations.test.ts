/**
 * docs/operations.md, pasted from top to bottom by somebody who reads it: every block, in its order, into one shell beside
 * a running server. Where a PostgreSQL is installed it runs on that one, since backups need its programs.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fetch } from 'undici';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { PostgresUnavailable } from '../../src/platform/postgres/index.ts';
import { authorizationUrl } from '../support/fixtures.ts';
import { startOwnPostgres, type OwnPostgres } from '../support/own-postgres.ts';
import { until } from '../support/postgres-process.ts';
import { freePort, SECRET_KEY, startServer, stopServers, temporaryDirectory, type Server } from '../support/server.ts';
import { openTerminal, type Terminal } from '../support/terminal.ts';
import { postTo, readAnswer, summary, Visitor, type Answer } from '../support/visitor.ts';

const ROOT = join(import.meta.dirname, '../..');
vi.setConfig({ testTimeout: 120_000 });

/** The blocks that are to be pasted, by the heading they are under. */
const sections = new Map(
  readFileSync(join(ROOT, 'docs/operations.md'), 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((section) => [
      section.slice(0, section.indexOf('\n')),
      [...section.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block!),
    ]),
);

/** What programs of this machine can back up; undefined where there are none. */
function dumpsUpTo(): number | undefined {
  try {
    for (const program of ['psql', 'pg_restore']) execFileSync(program, ['--version']);
    return Number(/ (\d+)/.exec(execFileSync('pg_dump', ['--version'], { encoding: 'utf8' }))![1]);
  } catch {
    return undefined;
  }
}
const dumps = dumpsUpTo();

/** The oldest that can be, where it is installed: else npm's. */
const postgres: OwnPostgres = await startOwnPostgres({ durable: false, binaries: { embedded: null } }).catch(
  (error: unknown) => {
    if (!(error instanceof PostgresUnavailable)) throw error;
    return startOwnPostgres({ durable: false });
  },
);
const canDump = dumps !== undefined && dumps >= Number.parseInt(postgres.version, 10);

let terminal: Terminal;
let server: Server;
let issuer: string;
let env: Record<string, string>;
const app = { client_id: 'my-app', client_secret: '', redirect_uri: 'https://app.example.com/callback' };

beforeAll(async () => {
  const [port, metricsPort] = [await freePort(), await freePort()];
  issuer = `http://localhost:${port}`;
  env = { ISSUER: issuer, DATABASE_URL: postgres.url, SECRET_KEYS: SECRET_KEY, METRICS_PORT: String(metricsPort) };
  server = await startServer({ port, env });
  // npx takes as long to find the command as the command to run.
  const bin = temporaryDirectory();
  const main = join(ROOT, 'src/main.ts');
  writeFileSync(
    join(bin, 'npx'),
    `#!/bin/sh\n[ "$1" = postern ] && shift && exec "${process.execPath}" "${main}" "$@"\n`,
  );
  chmodSync(join(bin, 'npx'), 0o755);
  terminal = openTerminal({
    ...env,
    PATH: [bin, process.env['PATH']].join(delimiter),
    HOME: process.env['HOME'] ?? bin,
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE']!,
  });
});
afterAll(async () => {
  terminal.close();
  await stopServers();
  await postgres.close();
});

/** Pastes the next block of a section, all of which has to succeed; returns what it printed. */
async function next(heading: string): Promise<string> {
  const block = sections.get(heading)?.shift();
  if (block === undefined) throw new Error(`there is no further block under ${heading}`);
  const { stdout, stderr, failed } = await terminal.paste(block);
  expect(failed, stdout + stderr).toEqual([]);
  return stdout;
}

/** A member in what was printed, as JSON or as a record. */
const member = (said: string, name: string): string =>
  new RegExp(`(?:"${name}":"|^${name} +)([^"\\s]+)`, 'm').exec(said)![1]!;

const login = async (username: string, password: string): Promise<Answer> => {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ username, password });
  return readAnswer(await fetch(`${issuer}/login`, { method: 'POST', headers, body }));
};
const knows = async (client_secret: string): Promise<string> =>
  summary(await postTo(`${issuer}/introspect`, { token: 'any', client_id: app.client_id, client_secret }));

interface Access {
  access_token: string;
  refresh_token: string;
}
/** Grace signs in to the application and allows it all. */
async function signInToApp(): Promise<Access> {
  const person = { username: 'grace', password: await terminal.value('PASSWORD') };
  const url = authorizationUrl(issuer, app, { scope: 'openid profile email offline_access', prompt: 'consent' });
  const code = (await new Visitor(issuer).authorize(url, person)).searchParams.get('code') ?? '';
  const { json } = await postTo(`${issuer}/token`, { grant_type: 'authorization_code', code, ...app });
  return json as unknown as Access;
}
const refresh = ({ refresh_token }: Access): Promise<Answer> =>
  postTo(`${issuer}/token`, { grant_type: 'refresh_token', refresh_token, ...app, redirect_uri: undefined });
const userinfo = async (access_token: unknown): Promise<number> =>
  (await fetch(`${issuer}/userinfo`, { headers: { authorization: `Bearer ${String(access_token)}` } })).status;

test('an admin client is made, and its token opens the API', async () => {
  expect(await next('Before you begin')).toMatch(/^ok +keys/m);
  expect(await next('The first admin client')).toBe('ops\n');
  await next('The first admin client');
  const { items } = JSON.parse(await next('The first admin client')) as { items: Array<Record<string, unknown>> };
  expect(items).toMatchObject([{ client_id: 'ops', client_name: 'Operations' }]);
});

test('clients and people are made, and can sign in', async () => {
  app.client_secret = member(await next('A client'), 'client_secret');
  expect(await knows(app.client_secret)).toBe('200');
  expect(member(await next('A client'), 'client_id')).toBe('my-other-app');

  expect((await next('A user')).trim()).toBe(await terminal.value('GRACE'));
  expect(summary(await login('grace', await terminal.value('PASSWORD')))).toBe('200');
  const password = member(await next('A user'), 'password');
  // A drawn password is good for choosing another one, and gives a script no token.
  expect(summary(await login('alan', password))).toBe('401 invalid_credentials');
});

test('a secret is rotated with overlap: all of them work, and each old one has an end', async () => {
  const second = member(await next('Rotate a secret'), 'client_secret');
  const said = await next('Rotate a secret');
  const third = member(said, 'client_secret');
  const secrets = [app.client_secret, second, third];
  expect(new Set(secrets).size).toBe(3);
  expect(await Promise.all(secrets.map(knows))).toEqual(['200', '200', '200']);
  const { items } = JSON.parse(said.trim().split('\n').at(-1)!) as { items: Array<{ expires_at: string | null }> };
  const hours = ({ expires_at }: { expires_at: string | null }): number =>
    expires_at === null ? Infinity : Math.round((Date.parse(expires_at) - Date.now()) / 3_600_000);
  expect(items.map(hours).toSorted((a, b) => a - b)).toEqual([168, 168, Infinity]);
  app.client_secret = third;
});

test('keys are rotated: the new ones are there, and sign later', async () => {
  expect(await next('Rotate a key')).toMatch(/ RS256 +next /);
  const { items } = JSON.parse((await next('Rotate a key')).trim().split('\n').at(-1)!) as { items: unknown[] };
  expect(items).toMatchObject([{ alg: 'RS256' }, { alg: 'ES256' }]);
});

test('why a login failed is found by the request id and the account', async () => {
  const request_id = (await next('Why did a login fail?')).trim();
  expect(request_id).toMatch(/^\S+$/);
  const kept = postgres.db.selectFrom('refusals').select('check').where('request_id', '=', request_id);
  await until('it is written down', async () => (await kept.execute()).length > 0);
  expect(await next('Why did a login fail?')).toMatch(/^check +password$/m);
  expect(await next('Why did a login fail?')).toContain(request_id);
});

test("a person's access ends everywhere, from the command line and by the API, and a disabled account stays out", async () => {
  const password = await terminal.value('PASSWORD');
  for (const printed of [/^grants_revoked +1$/m, /"grants_revoked":1\b/]) {
    const [direct, viaApp] = [(await login('grace', password)).json, await signInToApp()];
    expect(await Promise.all([userinfo(direct['access_token']), userinfo(viaApp.access_token)])).toEqual([200, 200]);
    expect(await next('Revoke a person’s access')).toMatch(printed);
    expect(await Promise.all([userinfo(direct['access_token']), userinfo(viaApp.access_token)])).toEqual([401, 401]);
    expect(summary(await refresh(viaApp))).toBe('400 invalid_grant');
  }
  await next('Revoke a person’s access');
  expect(summary(await login('grace', password))).toMatch(/^401 /);
  await next('Revoke a person’s access');
  expect(summary(await login('grace', password))).toBe('200');
});

test('a client is disabled, enabled and deleted', async () => {
  const disabled = postgres.db.selectFrom('clients').select('disabled_at').where('client_id', '=', 'my-other-app');
  await next('Disable a client');
  expect(await disabled.execute()).toEqual([{ disabled_at: expect.any(Date) }]);
  expect(await next('Disable a client')).toContain('"disabled_at":null');
  expect(await disabled.execute()).toEqual([]);
});

test('the audit log and the metrics are read, and all is well', async () => {
  expect(await next('The audit log')).toMatch(/ password_changed [^]* user_created /);
  expect(JSON.parse((await next('The audit log')).trim())).toMatchObject({
    items: Array.from({ length: 5 }, () => ({ client_id: 'my-app' })),
  });
  const exported = (await terminal.paste('cat audit.ndjson')).stdout.trim().split('\n');
  expect(exported.map((line) => (JSON.parse(line) as { event: string }).event)).toContain('key_rotated');
  expect(await next('Is all well?')).toMatch(/^postern_database_up 1$/m);
  const published = async (): Promise<number> =>
    ((await readAnswer(await fetch(`${issuer}/jwks`))).json['keys'] as unknown[]).length;
  // One of each kind from the start, and two that were made here.
  await until('the keys that were rotated are published', async () => (await published()) === 6);
});

test('a backup is restored; what was used or revoked since lives again until the page ends it', async ({ skip }) => {
  skip(!canDump, `needs pg_dump of PostgreSQL ${postgres.version} or newer; here is ${dumps ?? 'none'}`);
  const [used, unused] = [await signInToApp(), await signInToApp()];
  expect(await next('Back up')).toContain('grants');
  const { json: successor } = await refresh(used);
  expect(summary(await refresh(successor as unknown as Access))).toBe('200');

  await server.stop();
  await next('Restore');
  const restored = { ...env, DATABASE_URL: await terminal.value('DATABASE_URL') };
  expect(restored.DATABASE_URL).not.toBe(env['DATABASE_URL']);
  const port = Number(new URL(issuer).port);
  server = await startServer({ port, env: restored });
  expect(
    await Promise.all([used, successor as unknown as Access].map(async (one) => summary(await refresh(one)))),
  ).toEqual(['200', '400 invalid_grant']);
  await next('Restore');
  expect(summary(await refresh(unused))).toBe('400 invalid_grant');
  expect(await next('Restore')).toMatch(/^ok +keys/m);
  expect((await signInToApp()).refresh_token).toEqual(expect.any(String));

  await server.stop();
  const SECRET_KEYS = 'another secret key of more than thirty-two';
  await terminal.paste(`SECRET_KEYS='${SECRET_KEYS}'`);
  await next('If SECRET_KEYS are lost');
  await startServer({ port, env: { ...restored, SECRET_KEYS } });
  expect((await signInToApp()).access_token).toEqual(expect.any(String));
});

test('nothing on the page was left out', () => {
  const left = [...sections].filter(([, blocks]) => blocks.length > 0).map(([heading]) => heading);
  expect(left).toEqual(canDump ? [] : ['Back up', 'Restore', 'If SECRET_KEYS are lost']);
});
