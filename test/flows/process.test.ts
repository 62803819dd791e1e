/** A server as a process: how it refuses to start, what it does with bad connections, and how it stops. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { Agent, fetch, Pool, type Response } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { deploy, stopServersAfterwards, type Deployment } from '../support/deployment.ts';
import { aService, PASSWORD, type AClient } from '../support/fixtures.ts';
import { until } from '../support/postgres-process.ts';
import { freePort, runServer, SECRET_KEY, startServer, temporaryDirectory, type Server } from '../support/server.ts';

let deployment: Deployment;
let service: AClient;
let slow: Socket;
let slowEnded: Promise<number>;
stopServersAfterwards();
beforeAll(async () => {
  deployment = await deploy({ prepare: async (test) => (service = await aService(test)) });
  // It takes its ten seconds while the other tests run.
  slow = await rawConnection();
  slow.write('POST /token HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
  const trickle = setInterval(() => slow.write('a'), 500);
  slow.resume();
  const begun = Date.now();
  slowEnded = new Promise((resolve) =>
    slow.once('close', () => {
      clearInterval(trickle);
      resolve(Date.now() - begun);
    }),
  );
});
afterAll(() => void slow?.destroy());

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

function serviceRequest(): string {
  const { client_id, client_secret } = service;
  return new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }).toString();
}

async function rawConnection(): Promise<Socket> {
  const socket = connect(Number(new URL(deployment.issuer).port), '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** Everything a raw request is answered until the server closes. */
async function raw(text: string): Promise<string> {
  const socket = await rawConnection();
  let answer = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (answer += chunk));
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

describe('starting', () => {
  test('serve lists all that is missing or wrong at once, masks secrets, and exits with 78', async () => {
    const env = {
      ISSUER: 'http://id.example.com/',
      SECRET_KEYS: 'too-short-and-secret',
      DATABASE_URL: 'mysql://x:pw@y/z',
    };
    const wrong = await runServer({ env });
    expect(wrong.code).toBe(78);
    expect(wrong.output).toMatch(/^error: SECRET_KEYS is \(hidden\): /m);
    expect(wrong.output).toMatch(/^error: DATABASE_URL is \(hidden\): /m);
    expect(wrong.output).not.toMatch(/too-short-and-secret|pw@y/);

    const missing = await runServer({ env: { ISSUER: undefined, SECRET_KEYS: undefined } });
    expect(missing.code).toBe(78);
    for (const name of ['ISSUER', 'DATABASE_URL', 'SECRET_KEYS']) expect(missing.output).toMatch(`${name} is not set`);
  });

  test('specification §What 6: serve refuses an http issuer that is not localhost', async () => {
    const { code, output } = await runServer({
      env: { ISSUER: 'http://id.example.com', DATABASE_URL: deployment.env['DATABASE_URL'] },
    });
    expect([code, output]).toEqual([78, expect.stringContaining('must be https')]);
  });

  test('dev refuses NODE_ENV=production and an issuer that is not on localhost', async () => {
    const production = await runServer({ command: 'dev', env: { NODE_ENV: 'production' } });
    expect([production.code, production.output]).toEqual([78, expect.stringContaining('postern serve')]);
    const abroad = await runServer({ command: 'dev', env: { ISSUER: 'https://id.example.com' } });
    expect([abroad.code, abroad.output]).toEqual([78, expect.stringContaining('stays on localhost')]);
  });

  test('serve on a database without its tables says what to run', async () => {
    const database = await createTestDatabase();
    const name = `${new URL(database.url).pathname.slice(1)}_empty`;
    await sql`create database ${sql.id(name)} template template0`.execute(database.db);
    const url = new URL(database.url);
    url.pathname = `/${name}`;
    const { code, output } = await runServer({ env: { DATABASE_URL: url.href } });
    await database.close();
    expect([code, output]).toEqual([78, expect.stringMatching(/lacks \d+ migrations: run `postern migrate` first/)]);
  });

  test('serve without a reachable database, or on a port in use, says so in one line', async () => {
    const nobody = await runServer({ env: { DATABASE_URL: 'postgres://postern@localhost:1/postern' } });
    expect(nobody.code).toBe(1);
    expect(nobody.output).not.toMatch(/^ +at /m);
    expect(nobody.output).toMatch(/^error: .*\n$/);

    const taken = await runServer({ port: Number(new URL(deployment.issuer).port), env: deployment.env });
    expect(taken.code).toBe(1);
    expect(taken.output).not.toMatch(/^ +at /m);
    expect(taken.output).toMatch(/^error: port \d+ is in use/);
  });
});

test('specification §Authentication 1: with TLS_CERT_FILE and TLS_KEY_FILE it serves https itself', async ({
  skip,
}) => {
  const directory = temporaryDirectory();
  const [TLS_KEY_FILE, TLS_CERT_FILE] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  try {
    execFileSync('openssl', [...request, ...subject, '-keyout', TLS_KEY_FILE, '-out', TLS_CERT_FILE], {
      stdio: 'ignore',
    });
  } catch {
    skip('no openssl to make a certificate with');
  }
  const port = await freePort();
  const ISSUER = `https://localhost:${port}`;
  const env = { DATABASE_URL: deployment.env['DATABASE_URL'], ISSUER, TLS_CERT_FILE, TLS_KEY_FILE };
  const dispatcher = new Agent({ connect: { ca: readFileSync(TLS_CERT_FILE) } });
  const server = await startServer({ port, env, dispatcher });
  const discovery = await fetch(`${ISSUER}/.well-known/openid-configuration`, { dispatcher });
  expect(await discovery.json()).toMatchObject({ issuer: ISSUER, token_endpoint: `${ISSUER}/token` });
  expect(discovery.headers.get('strict-transport-security')).toMatch(/max-age=31536000/);
  const login = await fetch(`${ISSUER}/login`, { dispatcher });
  // docs/specification.md, Authentication 8: session cookies carry HttpOnly, Secure and SameSite.
  expect(login.headers.getSetCookie()[0]).toMatch(
    /^__Host-postern_browser=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  await dispatcher.close();
  await server.stop();
});

describe('connections', () => {
  test('headers above 16 KiB are answered 431', async () => {
    const answer = await raw(`GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Large: ${'a'.repeat(20_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect((await fetch(`${deployment.issuer}/livez`, { headers: { 'x-large': 'a'.repeat(12_000) } })).status).toBe(
      200,
    );
  });

  test('what is not HTTP, or two lengths in one request, is answered 400 and closed', async () => {
    expect(await raw('GET\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
    const smuggled = 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    expect(await raw(`POST /token HTTP/1.1\r\nHost: localhost\r\n${smuggled}`)).toMatch(/^HTTP\/1\.1 400 /);
  });
});

test('SIGHUP to a single process is no end: it says why nothing happens, and goes on', async () => {
  const [server] = deployment.servers;
  process.kill(server!.pid, 'SIGHUP');
  await until('it says so', () => server!.output().includes('SIGHUP restarts processes one by one'));
  expect((await fetch(`${server!.issuer}/readyz`)).status).toBe(200);
});

describe('stopping', () => {
  test('SIGTERM under a keep-alive load: every request is answered, none with 5xx, and clients are told to leave', async () => {
    const server = await startServer({ env: deployment.env });
    const pool = new Pool(server.origin, { connections: 16 });
    const statuses: number[] = [];
    const failures: string[] = [];
    const enough = new AbortController();
    const worker = async (): Promise<void> => {
      while (!enough.signal.aborted) {
        const request = pool.request({ method: 'POST', path: '/token', headers: FORM, body: serviceRequest() });
        await request.then(
          async (answer) => {
            statuses.push(answer.statusCode);
            await answer.body.dump();
          },
          (error: unknown) => void failures.push(String(error)),
        );
      }
    };
    const workers = Array.from({ length: 16 }, worker);
    await until('the load runs', () => statuses.length > 200);
    const stopped = server.stop();
    // The same connections go on: the server has to see to it that nothing is lost on them.
    const before = statuses.length;
    await until('a little longer', () => statuses.length > before + 50, 500).catch(() => undefined);
    enough.abort();
    await Promise.all(workers);
    expect(failures).toEqual([]);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await stopped).toEqual({ code: 0, signal: null });
    await pool.destroy();
  });

  test('a request under way at SIGTERM is finished, and a client that keeps its connection delays little', async () => {
    const server = await startServer({ env: deployment.env });
    const port = Number(new URL(server.origin).port);
    const pool = new Pool(server.origin, { connections: 1, keepAliveTimeout: 60_000 });
    await (await pool.request({ method: 'GET', path: '/livez' })).body.dump();

    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    const body = serviceRequest();
    let answer = '';
    socket.on('data', (chunk: string) => (answer += chunk));
    const headers = `Content-Type: ${FORM['content-type']}\r\nContent-Length: ${body.length}\r\nExpect: 100-continue`;
    socket.write(`POST /token HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n`);
    await until('the server has begun with it', () => answer.includes('100 Continue'));
    const begun = Date.now();
    const stopped = server.stop();
    await until('new connections are refused', () =>
      fetch(`${server.origin}/livez`).then(
        () => false,
        () => true,
      ),
    );
    socket.write(body);
    await once(socket, 'close');
    expect(answer).toMatch(/HTTP\/1\.1 200 OK\r\n.*connection: close\r\n.*"token_type":"Bearer"/is);
    expect(await stopped).toEqual({ code: 0, signal: null });
    expect(Date.now() - begun).toBeLessThan(4000);
    await pool.destroy();
  });

  test(
    'two processes restarted one after the other answer every request that is tried on both',
    { timeout: 90_000 },
    async () => {
      const two = await Promise.all([startServer({ env: deployment.env }), startServer({ env: deployment.env })]);
      const statuses = new Set<number>();
      const enough = new AbortController();
      const ask = (server: Server): Promise<Response> =>
        fetch(`${server.origin}/token`, { method: 'POST', headers: FORM, body: serviceRequest() });
      const load = (async () => {
        for (let turn = 0; !enough.signal.aborted; turn += 1) {
          // As a load balancer: the other one when a connection is refused.
          const answer = await ask(two[turn % 2]!).catch(() => ask(two[(turn + 1) % 2]!));
          statuses.add(answer.status);
          await answer.body?.cancel();
        }
      })();
      for (const index of [0, 1]) {
        const { origin } = two[index]!;
        await two[index]!.stop();
        two[index] = await startServer({ port: Number(new URL(origin).port), env: deployment.env });
      }
      enough.abort();
      await load;
      expect(statuses).toEqual(new Set([200]));
    },
  );
});

test('a client that sends its headers byte by byte is cut off after 10 s', async () => {
  const after = await slowEnded;
  expect(after).toBeGreaterThan(9000);
  // Node looks every two seconds.
  expect(after).toBeLessThan(14_000);
});

test('the log of all this names no secret', () => {
  const { servers } = deployment;
  const said = servers.map((server) => server.output()).join('');
  expect(said).not.toContain(service.client_secret);
  expect(said).not.toContain(PASSWORD);
  expect(said).not.toContain(SECRET_KEY);
});
