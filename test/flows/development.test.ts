/** `npm start` as somebody meets it: the banner, its link and its line, one directory, one owner. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { fetch } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';
import { stopServersAfterwards } from '../support/deployment.ts';
import { until } from '../support/postgres-process.ts';
import { descendants, isRunning } from '../support/processes.ts';
import { freePort, runServer, startServer, temporaryDirectory, type Server } from '../support/server.ts';
import { postTo, Visitor, type Answer } from '../support/visitor.ts';

const ADA = { username: 'ada', password: 'postern-demo' };
const DEMO_WEB = { client_id: 'demo-web', client_secret: 'demo-web-secret' };
/** As `npm start` does it: nothing is configured but what two servers on one machine cannot share. */
const AS_IT_COMES = { ISSUER: undefined, SECRET_KEYS: undefined };

let server: Server;
let port: number;
let env: Record<string, string | undefined>;
stopServersAfterwards();
beforeAll(async () => {
  port = await freePort();
  env = { ...AS_IT_COMES, DATA_DIR: join(temporaryDirectory(), 'data') };
  server = await startServer({ command: 'dev', port, env });
});

/** What it printed and did not log. */
const bannerOf = ({ output }: Server): string[] =>
  output()
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('{'));

/** The code flow of demo-web with its second redirect URI, which nobody has to listen on. */
async function signIn({ issuer }: Server): Promise<Answer> {
  const redirect_uri = 'http://localhost:8080/callback';
  const scope = 'openid offline_access';
  const query = { response_type: 'code', client_id: 'demo-web', redirect_uri, scope, state: 'a state' };
  const url = `${issuer}/authorize?${new URLSearchParams(query).toString()}`;
  const answer = await new Visitor(issuer).authorize(url, ADA);
  const code = answer.searchParams.get('code')!;
  return postTo(`${issuer}/token`, { grant_type: 'authorization_code', code, redirect_uri, ...DEMO_WEB });
}

describe('the banner', () => {
  test('at most 20 lines, with issuer, demo user, password and where the data is', () => {
    const banner = bannerOf(server);
    expect(banner.length).toBeLessThanOrEqual(20);
    const text = banner.join('\n');
    expect(text).toContain(`issuer    http://localhost:${port}`);
    expect(text).toContain(`mail      http://localhost:${port}/dev/mail`);
    expect(text).toContain('ada');
    expect(text).toContain('postern-demo');
    expect(text).toContain(env['DATA_DIR']);
  });

  test('its curl line gives a token when it is pasted into a shell', ({ skip }) => {
    const line = bannerOf(server).find((each) => each.startsWith('curl'))!;
    if (!existsSync('/usr/bin/curl')) skip('this machine has no curl');
    const answer = JSON.parse(execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' })) as object;
    expect(answer).toMatchObject({ token_type: 'Bearer', expires_in: 600, scope: 'notes:read notes:write' });
    expect(answer).not.toHaveProperty('refresh_token');
  });

  test('its link leads through sign-in and consent to a page with the tokens, and can be used again', async () => {
    const link = bannerOf(server).find((line) => line.includes('/authorize?'))!;
    const visitor = new Visitor(server.issuer);
    for (const person of [ADA, undefined]) {
      const callback = await visitor.authorize(link, person);
      expect(callback.href).toMatch(`${server.issuer}/demo/callback?`);
      const page = await visitor.get(callback.href);
      expect(page.status).toBe(200);
      expect(await page.text()).toMatch(/Signed in as .*Ada Lovelace.*at_hash.*ada@example\.test/s);
    }
  });
});

describe('the addresses', () => {
  test('it listens on 127.0.0.1', async () => {
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
  });

  test('it listens on ::1', async ({ skip }) => {
    const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    if (!addresses.some(({ address }) => address === '::1')) skip('this machine has no IPv6');
    expect((await fetch(`http://[::1]:${port}/livez`)).status).toBe(200);
  });

  test('it listens on no address that others could reach', async () => {
    const others = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4');
    for (const { address } of others) {
      await expect(fetch(`http://${address}:${port}/livez`)).rejects.toThrow('fetch failed');
    }
  });
});

describe('the data', () => {
  test('SECRET_KEYS are in DATA_DIR, for its owner only', () => {
    const file = join(env['DATA_DIR']!, 'secret-keys');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8').trim().length).toBeGreaterThanOrEqual(32);
    expect(server.output()).not.toContain(readFileSync(file, 'utf8').trim());
  });

  test('a second server on the same DATA_DIR is refused, in one clear line', async () => {
    const { code, output } = await runServer({ command: 'dev', env });
    expect(code).toBe(1);
    expect(output).toContain(`already belongs to a running server (process ${server.pid})`);
    expect(output.trim().split('\n')).toHaveLength(1);
  });

  test('a server whose own Postgres is killed starts it again and goes on, with everything that was there', async () => {
    const { json } = await signIn(server);
    const postmaster = Number(readFileSync(join(env['DATA_DIR']!, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
    process.kill(postmaster, 'SIGKILL');
    await until('it was started again', () => server.output().includes('postgres was started again'));
    const refresh = { grant_type: 'refresh_token', refresh_token: String(json['refresh_token']), ...DEMO_WEB };
    let refreshed: Answer | undefined;
    await until('it answers', async () => (refreshed = await postTo(`${server.issuer}/token`, refresh)).status !== 503);
    expect(refreshed!.status).toBe(200);
    await until('it is ready', async () => (await fetch(`${server.issuer}/readyz`)).status === 200);
  });

  test('one that cannot start it again stops, says so in one line, and its exit code tells', async () => {
    const data = join(temporaryDirectory(), 'data');
    const other = await startServer({ command: 'dev', env: { ...AS_IT_COMES, DATA_DIR: data } });
    const cluster = join(data, 'postgres');
    const postmaster = Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
    renameSync(join(cluster, 'PG_VERSION'), join(cluster, 'PG_VERSION.away'));
    process.kill(postmaster, 'SIGKILL');
    expect((await other.exited).code).toBe(1);
    const fatal = other
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":60'));
    expect(fatal).toHaveLength(1);
    expect(fatal[0]).toContain('the server stops, since its Postgres could not be started again: The data of Postgres');
    expect(fatal[0]).not.toContain('stack');
  });

  test.each([
    ['is stopped', (running: Server) => running.stop()],
    ['is killed', (running: Server) => running.kill()],
  ])(
    'a server that %s and started again keeps everything: a refresh token of before still works',
    async (_how, end) => {
      const { json } = await signIn(server);
      await end(server);
      server = await startServer({ command: 'dev', port, env });

      const token = String(json['access_token']);
      const introspected = await postTo(`${server.issuer}/introspect`, { token, ...DEMO_WEB });
      expect(introspected.json).toMatchObject({ active: true, client_id: 'demo-web' });
      const refresh = { grant_type: 'refresh_token', refresh_token: String(json['refresh_token']), ...DEMO_WEB };
      const refreshed = await postTo(`${server.issuer}/token`, refresh);
      expect(refreshed.status).toBe(200);
      expect(refreshed.json['refresh_token']).not.toBe(json['refresh_token']);
    },
  );
});

describe('an issuer with a path, and several processes', () => {
  let running: Server;

  test('every endpoint lives under it, and discovery is at all three places (RFC 8414 §3.1)', async () => {
    const other = await freePort();
    const ISSUER = `http://localhost:${other}/id/demo`;
    const DATA_DIR = join(temporaryDirectory(), 'data');
    const several = { ...AS_IT_COMES, DATA_DIR, ISSUER, WORKERS: '2' };
    running = await startServer({ command: 'dev', port: other, env: several });
    for (const path of [
      '/id/demo/.well-known/openid-configuration',
      '/.well-known/openid-configuration/id/demo',
      '/.well-known/oauth-authorization-server/id/demo',
    ]) {
      const answer = await fetch(running.origin + path);
      expect(await answer.json(), path).toMatchObject({ issuer: ISSUER, token_endpoint: `${ISSUER}/token` });
    }
    expect((await signIn(running)).json).toMatchObject({ token_type: 'Bearer', scope: 'openid offline_access' });
    for (const path of ['/livez', '/id/demo/livez', '/readyz', '/id/demo/readyz']) {
      expect((await fetch(running.origin + path)).status, path).toBe(200);
    }
    expect((await fetch(`${running.origin}/token`, { method: 'POST' })).status).toBe(404);
  });

  test('the primary owns Postgres; killed with SIGKILL it leaves neither that nor any process', async () => {
    await until('the banner', () => bannerOf(running).length > 1);
    const all = descendants(running.pid);
    // Two that answer, the watchdog, and those of Postgres.
    expect(all.length).toBeGreaterThan(5);
    process.kill(running.pid, 'SIGKILL');
    await until('all are gone', () => !all.some(isRunning));
  });
});
