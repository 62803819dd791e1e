/** The instance every door hangs from: request ids, log lines, limits, and whom it believes about addresses. */
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { FastifyInstance } from 'fastify';
import { buildApp } from '../../src/app.ts';
import { configWith, type Config } from '../../src/config.ts';
import { addressPrefix, peerOf } from '../../src/http/network.ts';
import { requestLog } from '../../src/http/request-log.ts';
import { createLog } from '../../src/platform/log.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aUser } from '../support/fixtures.ts';
import { errorOn } from '../support/pages.ts';

let at: TestApp;
let proxied: FastifyInstance;
const TRUSTED = '10.0.0.1';
beforeAll(async () => {
  at = await testApp();
  proxied = await buildWith({ TRUST_PROXY: ['10.0.0.0/8', '::1'] });
});
beforeEach(() => void at.logged.splice(0));
afterAll(async () => {
  await proxied.close();
  await at.close();
});

const buildWith = (changes: Partial<Config>): Promise<FastifyInstance> =>
  buildApp({ ...at.deps, config: configWith(at.deps.config, changes) });
const requestLine = (): Record<string, unknown> => {
  const line = at.logged.findLast((text) => text.includes('"route"'));
  return JSON.parse(line ?? '{}') as Record<string, unknown>;
};

test.each([
  'trace.0_1-ABCDEF',
  '0197f3a2-6c1e-7b5d-9f0a-3f1d2c4b5a69',
  '4bf92f3577b34da6a3ce929d0e0e4736',
  'req-0197f3a2-6c1e-7b5d-9f0a-3f1d2c4b5a69',
  '1-5759e988-bd862e3fe1be46a994272793',
  'Root=1-5759e988-bd862e3fe1be46a994272793',
  'host/abc-000001',
  'gateway-7d9f8b6c5-x2x4z.prod.example/UTDv8CNRVO-000001',
])('ASVS 16.2.1: a caller’s X-Request-Id is logged beside our own, never instead: %s', async (id) => {
  const { headers } = await at.app.inject({ url: '/livez', headers: { 'x-request-id': id } });
  expect(headers['x-request-id']).toMatch(/^[\w-]{16}$/);
  expect(requestLine()).toMatchObject({ request_id: headers['x-request-id'], caller_request_id: id });
});

test.each(['short', 'a'.repeat(65), 'has spaces in it', 'line\tbreak', '"quoted-id"', '<script>alert', 'üüüüüüüü', ''])(
  'ASVS 16.4.1: an X-Request-Id that could forge a log line is not kept: %s',
  async (id) => {
    const { headers } = await at.app.inject({ url: '/livez', headers: { 'x-request-id': id } });
    expect(headers['x-request-id']).toMatch(/^[\w-]{16}$/);
    expect(requestLine()).not.toHaveProperty('caller_request_id');
  },
);

test.each([
  'sk_live_4bf92f3577b34da6a3ce929d0e0e4736',
  'req-4bf92f3577b34da6a3ce929d0e0e4736bd862e3f',
  'Root=Correct-Horse-4711',
  'client_secret=0197f3a2-6c1e-7b5d-9f0a-3f1d2c4b5a69',
  'Self=1-5759e988-bd862e3fe1be46a994272793',
  'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83/EjRWeJA=',
  'host/q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQ-000001',
  'https://app.example/cb-000001',
])('ASVS 16.2.5: an X-Request-Id that could be a secret is not kept: %s', async (id) => {
  await at.app.inject({ url: '/livez', headers: { 'x-request-id': id } });
  expect(requestLine()).toMatchObject({ route: '/livez' });
  expect(at.logged.join('')).not.toContain(id);
});

test('ASVS 14.2.1: one log line a request, with route and status, without query, body, cookie or header', async () => {
  const headers = { cookie: 'a=marker-cookie', authorization: 'Bearer marker-token', 'user-agent': 'marker-agent' };
  await at.app.inject({ url: '/authorize?client_id=marker-id&state=marker-state', headers });
  const lines = at.logged.filter((line) => line.includes('"route"'));
  expect(lines).toHaveLength(1);
  expect(requestLine()).toMatchObject({ method: 'GET', route: '/authorize', status: 400, ip: '127.0.0.1' });
  expect(at.logged.join('')).not.toContain('marker');
});

test('what Fastify itself says of a request carries its id, at the levels that are logged', () => {
  const lines: string[] = [];
  const log = createLog({ level: 'info', destination: { write: (line) => void lines.push(line) } });
  const own = requestLog(log, { request_id: 'id-of-it' });
  own.warn({ err: new Error('late') }, 'sent already');
  own.debug('nobody wants this');
  own.child({ token: 'marker' }).error('a child');
  expect(own.level).toBe('info');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      level: 40,
      request_id: 'id-of-it',
      msg: 'sent already',
      err: expect.anything() as unknown,
    }),
    expect.objectContaining({ level: 50, request_id: 'id-of-it', msg: 'a child', token: '(hidden)' }),
  ]);
});

test('an interaction’s id is not in the log: the route is', async () => {
  await at.app.inject({ url: `/interaction/g15_${'m'.repeat(43)}/login` });
  expect(requestLine()['route']).toBe('/interaction/:id/login');
  expect(at.logged.join('')).not.toContain('mmmm');
});

test('ASVS 15.3.4: without TRUST_PROXY every X-Forwarded header is ignored', async () => {
  const headers = {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': 'evil.test',
    forwarded: 'for=203.0.113.9;proto=http',
  };
  const { statusCode } = await at.app.inject({ url: '/login', headers: { ...headers, host: 'id.example.test' } });
  expect(statusCode).toBe(200);
  expect(requestLine()['ip']).toBe('127.0.0.1');
});

test('ASVS 4.1.3: with TRUST_PROXY they count from a trusted peer, the last hop that is not trusted first', async () => {
  const ipFor = async (remoteAddress: string, forwarded: string) => {
    await proxied.inject({ url: '/livez', remoteAddress, headers: { 'x-forwarded-for': forwarded } });
    return requestLine()['ip'];
  };
  expect(await ipFor(TRUSTED, '203.0.113.9')).toBe('203.0.113.9');
  expect(await ipFor(TRUSTED, '1.2.3.4, 203.0.113.9')).toBe('203.0.113.9');
  expect(await ipFor(TRUSTED, '1.2.3.4, 203.0.113.9, 10.7.7.7')).toBe('203.0.113.9');
  expect(await ipFor('::1', '2001:db8::7')).toBe('2001:db8::7');
});

test('ASVS 4.1.3: an address counts with a port beside it, of the proxy too; where none can be read it is the proxy’s', async () => {
  const ipFor = async (forwarded: string) => {
    await proxied.inject({ url: '/livez', remoteAddress: TRUSTED, headers: { 'x-forwarded-for': forwarded } });
    return requestLine()['ip'];
  };
  expect(await ipFor('203.0.113.9:4711')).toBe('203.0.113.9');
  expect(await ipFor('[2001:db8::7]:4711')).toBe('2001:db8::7');
  expect(await ipFor('[2001:db8::7]')).toBe('2001:db8::7');
  expect(await ipFor('1.2.3.4:1, 203.0.113.9:2, 10.7.7.7:3')).toBe('203.0.113.9');
  expect(await ipFor('203.0.113.9, unknown, 10.7.7.7:3')).toBe('10.7.7.7');
  expect(await ipFor('unknown')).toBe(TRUSTED);
});

test('peers whose address cannot be read share a lane with nobody that their proxy tells apart, nor by their port', () => {
  const laneOf = (...ips: string[]) => peerOf({ ip: ips.at(-1)!, ips }).network;
  const lanes = [
    laneOf('10.0.0.1', '_alice'),
    laneOf('10.0.0.1', '_bob:1'),
    laneOf('10.0.9.1', '_alice'),
    laneOf('10.0.0.1'),
  ];
  expect(new Set(lanes).size).toBe(4);
  expect(lanes).not.toContain('unknown');
  expect(laneOf('10.0.0.1', '_bob:65535')).toBe(lanes[1]);
  expect(laneOf('10.0.0.1', '203.0.113.9:4711')).toBe('203.0.113.0/24');
});

test('ASVS 4.1.3: from any other peer they are ignored', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'http' };
  for (const remoteAddress of ['198.51.100.7', '11.0.0.1', '::2']) {
    const answer = await proxied.inject({ url: '/login', remoteAddress, headers });
    expect(answer.statusCode).toBe(200);
    expect(answer.body).not.toContain('evil.test');
    expect(requestLine()['ip']).toBe(remoteAddress);
  }
});

test('specification §Authentication 1: all traffic uses HTTPS: what a trusted proxy marks as http is refused, what it marks as https is taken', async () => {
  const send = (proto: string, accept = 'text/html') =>
    proxied.inject({ url: '/login', remoteAddress: TRUSTED, headers: { 'x-forwarded-proto': proto, accept } });
  const refused = await send('http');
  expect([refused.statusCode, refused.headers['set-cookie']]).toEqual([400, undefined]);
  expect((await send('https, http')).statusCode).toBe(400);
  expect((await send('https')).statusCode).toBe(200);
  const token = await proxied.inject({
    method: 'POST',
    url: '/token',
    remoteAddress: TRUSTED,
    headers: { 'x-forwarded-proto': 'http', 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'grant_type=client_credentials',
  });
  expect([token.statusCode, token.json()]).toMatchObject([400, { error: 'invalid_request' }]);
});

test('ASVS 15.3.4: the throttle counts the address a trusted proxy names, and nobody can choose it', async () => {
  const user = await aUser(at);
  const attempt = async (remoteAddress: string, forwarded: string) => {
    const payload = { username: user.username, password: 'wrong' };
    const headers = { 'x-forwarded-for': forwarded };
    return (await proxied.inject({ method: 'POST', url: '/login', remoteAddress, headers, payload })).statusCode;
  };
  // A guesser behind the proxy makes up what stands before its own address.
  for (let n = 0; n < 5; n += 1) expect(await attempt(TRUSTED, `198.18.${n}.1, 203.0.113.50`)).toBe(401);
  expect(await attempt(TRUSTED, '198.18.99.1, 203.0.113.50')).toBe(429);
  expect(await attempt(TRUSTED, '203.0.112.50')).toBe(401);
  // A guesser who is no proxy makes all of it up.
  for (let n = 0; n < 5; n += 1) expect(await attempt('198.51.100.9', `198.19.${n}.1`)).toBe(401);
  expect(await attempt('198.51.100.9', '198.19.99.1')).toBe(429);
});

test.each([
  ['192.0.2.77', '192.0.2.0/24'],
  ['::ffff:192.0.2.77', '192.0.2.0/24'],
  ['2001:db8:1:2ff::1', '2001:db8:1:200::/56'],
  ['::1', '::/56'],
  ['not an address', 'unknown'],
  ['', 'unknown'],
])('throttles count %s as %s', (address, prefix) => {
  expect(addressPrefix(address)).toBe(prefix);
});

test('what is nowhere is 404: a page for people, JSON for scripts, with the same headers', async () => {
  const page = await at.app.inject({ url: '/nowhere', headers: { accept: 'text/html' } });
  expect([page.statusCode, errorOn(page)]).toEqual([404, 'not_found']);
  const json = await at.app.inject({ url: '/nowhere' });
  expect([json.statusCode, json.json()]).toMatchObject([404, { error: 'not_found' }]);
  for (const path of ['/authorize/', '/Authorize', '//authorize', '/.env', '/metrics', '/authorize;x']) {
    expect((await at.app.inject({ url: path })).statusCode, path).toBe(404);
  }
});

/** Sends bytes to a listening server and returns what comes back. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.setTimeout(5000, () => socket.destroy(new Error(`no answer: ${answer}`)));
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

test('over the wire: too much header, smuggled lengths and forged lines are refused and closed', async () => {
  const app = await buildWith({});
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  const end = 'Host: id.example.test\r\nConnection: close\r\n\r\n';
  try {
    expect(await raw(port, `GET /livez HTTP/1.1\r\n${end}`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await raw(port, `GET /livez HTTP/1.1\r\nX: ${'a'.repeat(17_000)}\r\n${end}`)).toMatch(/^HTTP\/1\.1 431 /);
    expect(await raw(port, `GET /authorize?state=${'a'.repeat(17_000)} HTTP/1.1\r\n${end}`)).toMatch(
      /^HTTP\/1\.1 431 /,
    );
    const both = `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n${end}0\r\n\r\n`;
    expect(await raw(port, `POST /authorize HTTP/1.1\r\n${both}`)).toMatch(/^HTTP\/1\.1 400 /);
    const twice = `Content-Length: 4\r\nContent-Length: 5\r\n${end}abcde`;
    expect(await raw(port, `POST /authorize HTTP/1.1\r\n${twice}`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await raw(port, `GET /livez HTTP/1.1\r\nA b: c\r\n${end}`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await raw(port, `GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await raw(port, `TRACE /authorize HTTP/1.1\r\nCookie: a=b\r\n${end}`)).not.toContain('a=b');
  } finally {
    await app.close();
  }
});

test('there are limits against slow requests and too many connections', () => {
  const { headersTimeout, requestTimeout, maxConnections } = at.app.server;
  expect(headersTimeout).toBeLessThanOrEqual(10_000);
  expect(requestTimeout).toBeLessThanOrEqual(30_000);
  expect(maxConnections).toBeGreaterThan(0);
});
